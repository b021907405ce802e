"""`ranktree map --objective` and `place(objective=...)`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MACHINE = "node:2 core:2"
NAMES = ("bytes", "messages", "time")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Rank 0 sends to rank 2: in the current order, from one node to the other."""
    path = tmp_path / "pairs.csv"
    path.write_text("# ranks=4\nsrc,dst,messages,bytes\n0,2,1,125000000\n", encoding="ascii")
    return path


def test_the_limit_of_each_placement_is_in_the_json(ranktree: Callable, pairs: Path) -> None:
    """One second over a link of 1 Gbit/s before; within a node after."""
    options = ("--machine", MACHINE, "--objective", "time", "--parameters", "ethernet-1g", "--json")
    result = ranktree("map", pairs, *options)
    assert result.returncode == 0, result.stderr
    limits = {each["placement"]: each for each in json.loads(result.stdout)["limits"]}
    assert limits["identity"]["resource"] == "node n0 up"
    assert limits["identity"]["link_seconds"] == pytest.approx(1)
    assert limits["plan"]["seconds"] < 0.1


def test_an_objective_replaces_the_metric(ranktree: Callable, pairs: Path) -> None:
    """Both at once, or parameters alone, are usage errors."""
    both = ranktree("map", pairs, "--machine", MACHINE, "--objective", "time", "--metric", "msg")
    assert both.returncode != 0
    assert "--metric" in both.stderr
    alone = ranktree("map", pairs, "--machine", MACHINE, "--parameters", "ethernet-1g")
    assert alone.returncode != 0
    assert "--objective" in alone.stderr


def test_times_that_are_alike_keep_the_plan_for_bytes(tmp_path: Path) -> None:
    """Of a recorded pattern the plan for messages is 0.02 % better by the formula, with equal hop-bytes; measured, it
    is 22 % slower (docs/explanation/objectives.md, "sparse").
    """
    from ranktree import _core  # noqa: PLC0415  the package of the build tree

    hosts = [{"names": f"n{node}", "shape": f"of{slots}"} for node, slots in enumerate((5, 3, 4, 4))]
    costs = {
        "Cluster": {"latency_s": 4e-4, "bandwidth_bytes_per_s": 1.17625e7},
        "Node": {"latency_s": 1e-5, "bandwidth_bytes_per_s": 1e9},
    }
    document = {"format": "ranktree-machine", "version": 1, "network": {"hosts": hosts}, "costs": costs}
    document["shapes"] = {f"of{slots}": f"core:{slots}" for slots in (3, 4, 5)}
    document = {"format": "ranktree-machine", "version": 1, "network": {"hosts": hosts}, "costs": costs}
    document["shapes"] = {f"of{slots}": f"core:{slots}" for slots in (3, 4, 5)}
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(document), encoding="ascii")
    tree = _core.load_machine(str(path)).cut_at("Core")
    pattern = _core.load_pattern(str(ROOT / "bench/time/patterns/sparse.csv"))[0]
    leaves = {name: _core.plan_by_objective(tree, pattern, (name, None))[0].permutation for name in NAMES}
    seconds = {name: _core.limit_of(tree, pattern, leaves[name], ("time", None))["seconds"] for name in NAMES}
    assert seconds["messages"] < seconds["bytes"] < 1.001 * seconds["messages"]
    assert list(leaves["time"]) == list(leaves["bytes"]) != list(leaves["messages"])
