"""The performance gate compares in the right direction, and its table is well formed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "bench" / "gate" / "run.py"

# Several benches have a run.py: this one under a name of its own.
specification = importlib.util.spec_from_file_location("bench_gate", PROGRAM)
gate = importlib.util.module_from_spec(specification)
sys.modules["bench_gate"] = gate
specification.loader.exec_module(gate)


def figure(kind: str, value: float, tolerance: float = 0.03) -> gate.Figure:
    """One of a table."""
    return gate.Figure(f"something: {kind}", kind, value, tolerance)


@pytest.mark.parametrize("kind", ["instructions", "cost", "bytes"])
def test_more_than_the_tolerance_above_the_table_is_missed(kind: str) -> None:
    assert figure(kind, 1000).passes(1030)
    assert not figure(kind, 1000).passes(1031)
    assert figure(kind, 1000).passes(10)


def test_a_ratio_may_not_fall_below_the_table() -> None:
    assert figure("ratio", 1.5, 0).passes(1.5)
    assert figure("ratio", 1.5, 0).passes(4)
    assert not figure("ratio", 1.5, 0).passes(1.49)


def test_each_figure_above_its_limit_and_each_unknown_one_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    table = {"a: bytes": figure("bytes", 100), "b: bytes": figure("bytes", 100)}
    assert gate.compare(table, {"a: bytes": 100, "b: bytes": 104, "c: bytes": 1}) == ["b: bytes", "c: bytes"]
    assert "MISSED: the limit is 103" in capsys.readouterr().out


def test_an_update_keeps_unchanged_figures_and_records_why_others_changed() -> None:
    table = {"a: bytes": figure("bytes", 100), "b: bytes": figure("bytes", 100), "d: times": figure("times", 2, 0)}
    after = gate.updated(
        table, {"a: bytes": 100.5, "b: bytes": 90, "c: ratio": 3, "d: times": 2.5, "e: times": 1.2}, "fewer headers"
    )
    assert after["a: bytes"] == table["a: bytes"]
    assert (after["b: bytes"].value, after["b: bytes"].why) == (90, "fewer headers")
    assert after["c: ratio"].value == 1.5
    assert after["d: times"] == table["d: times"]
    assert after["e: times"].value == gate.MOST_TIMES


def test_times_above_their_goal_are_missed() -> None:
    assert figure("times", gate.MOST_TIMES, 0).passes(2.0)
    assert not figure("times", gate.MOST_TIMES, 0).passes(2.01)


def test_the_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    table = {"x: cost": gate.Figure("x: cost", "cost", 12.5, 0.005, "first measured")}
    gate.write_table(table, path)
    assert gate.read_table(path) == table


def test_every_line_of_the_committed_table_has_a_kind_a_limit_and_a_reason() -> None:
    table = gate.read_table()
    assert len(table) >= 20
    for name, each in table.items():
        assert name.endswith(f": {each.kind}")
        assert each.kind in gate.TOLERANCE
        assert each.value > 0
        assert each.why


def test_an_update_without_a_reason_is_refused() -> None:
    command = [sys.executable, ROOT / "bench/gate/run.py", "--build", ".", "--update"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "--why REASON" in result.stderr


def test_an_unknown_group_is_refused_with_the_known_ones() -> None:
    command = [sys.executable, ROOT / "bench/gate/run.py", "--build", ".", "--only", "barrier"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "--only barrier: expected the beginning of one of: place grid" in result.stderr
