"""The verdict of a report on a given plan, and the command that makes the plan."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree import _core
from ranktree.mapping import sentence
from ranktree.model import seconds_text
from ranktree.report.document import build
from ranktree.report.inputs import Request, threads_of
from ranktree.report.units import weight_text

MACHINE = "node:4 core:2"


def report(folder: Path, **options: Any) -> dict[str, Any]:
    """The document of the pattern and the plan of a folder."""
    return build(Request(str(folder / "app.npz"), str(folder / "plan.json"), **options))


def save_random(path: Path, seed: int) -> None:
    """A third of all pairs of eight ranks."""
    random = np.random.default_rng(seed)
    pairs = [(a, b) for a in range(8) for b in range(8) if a != b and random.random() < 0.33]
    senders, receivers = np.array(pairs).T.astype(np.int64)
    messages = random.integers(1, 50, len(pairs)).astype(float)
    sizes = random.integers(1, 10**6, len(pairs)).astype(float)
    _core.save_pattern(str(path), _core.Pattern.from_pairs(8, senders, receivers, messages, sizes))


def save_time_plan(tmp_path: Path, objective: str) -> tuple["_core.Plan", list[dict[str, Any]]]:
    """Of a pattern whose fastest placement by the model costs more hop-bytes than the order of ranks."""
    for seed in range(100):
        save_random(tmp_path / "app.npz", seed)
        tree = _core.load_machine(MACHINE).cut_at("Core")
        pattern, _ = _core.load_pattern(str(tmp_path / "app.npz"))
        plan, limits = _core.plan_by_objective(tree, pattern, (objective, None))
        total = {row.placement: row.total for row in plan.costs}
        if total["plan"] > total["identity"]:
            _core.save_plan(str(tmp_path / "plan.json"), plan)
            return plan, limits
    raise AssertionError("no such pattern")


@pytest.mark.parametrize("objective", ["time", "bottleneck"])
def test_a_plan_by_modelled_time_is_judged_by_it(tmp_path: Path, objective: str) -> None:
    """As `map` does: its bytes may be more."""
    plan, limits = save_time_plan(tmp_path, objective)
    verdict = report(tmp_path, machine=MACHINE)["verdict"]
    assert verdict["sentence"] == sentence(plan, limits, 0.02)
    seconds = {limit["placement"]: limit["seconds"] for limit in limits}
    assert verdict["gain"] == pytest.approx(1 - seconds["plan"] / seconds["identity"])
    assert verdict["result"] == ("gain" if seconds["identity"] > 1.02 * seconds["plan"] else "not worthwhile")
    alone = report(tmp_path)["verdict"]
    assert (alone["result"], alone["gain"]) == ("described", None)
    assert alone["sentence"].startswith(f"The plan minimises the modelled {objective}, which is not known here")


def test_the_command_for_a_plan_names_its_algorithm_and_seed(tmp_path: Path) -> None:
    save_random(tmp_path / "app.npz", 1)
    tree = _core.load_machine(MACHINE).cut_at("Core")
    pattern, _ = _core.load_pattern(str(tmp_path / "app.npz"))
    _core.save_plan(str(tmp_path / "plan.json"), _core.make_plan(tree, pattern, "greedy", "size", 7))
    document = report(tmp_path, machine=MACHINE)
    (command,) = [each["command"] for each in document["commands"] if each["what"] == "compute the plan"]
    assert "--metric size --algorithm greedy --seed 7 -o" in command


def test_figures_have_no_exponent() -> None:
    assert [seconds_text(value) for value in (1234.4, 0.99963, 0.9994, 2.5e-13)] == [
        "1,234 s", "1 s", "999 ms", "0.00025 ns",
    ]  # fmt: skip
    assert [weight_text(value) for value in (999.7, 12345.0, 0.125, 1e-6)] == ["1,000", "12,345", "0.125", "0.000001"]


def test_a_plan_with_pus_that_the_machine_lacks_is_not_taken_for_one_of_threads(tmp_path: Path) -> None:
    """Two hardware threads of each core on a machine file with one."""
    save_random(tmp_path / "app.npz", 1)
    pattern, _ = _core.load_pattern(str(tmp_path / "app.npz"))
    machine = _core.load_machine("node:4 core:2 pu:2").cut_at("Core")
    plan = _core.make_plan(machine, pattern)
    assert threads_of(plan, _core.load_machine("node:4 core:2").cut_at("Core")) == 1
    assert threads_of(plan, _core.load_machine("node:4 core:2 pu:2")) == 2
