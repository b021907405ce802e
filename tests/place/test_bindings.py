"""Placements and their cost from Python: numpy arrays in and out, against a cost computed here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import ranktree
from ranktree import _core

PROGRAM = """
import json
import numpy as np
from ranktree import _core

tree = _core.load_machine("node:3 package:2 core:3").cut_at("Core")
random = np.random.default_rng(5)
source, target = np.nonzero(random.random((17, 17)) < 0.4)
size = random.integers(1, 1000, len(source))
pattern = _core.Pattern.from_pairs(17, source, target, np.ones(len(source)), size.astype(float))
found = {"pairs": np.column_stack([source, target, size]).tolist(), "placements": {}}
for name in ("identity", "round-robin", "random", "greedy", "treematch", "best"):
    leaves = _core.compute_placement(tree, pattern, name, seed=3)
    weight, total = _core.evaluate(tree, pattern, leaves.astype(np.int64))
    assert isinstance(leaves, np.ndarray) and isinstance(weight, np.ndarray)
    found["placements"][name] = {"leaves": leaves.tolist(), "weight": weight.tolist(), "total": total}
found["refusals"] = []
for wrong in (np.arange(16), np.full(17, 99), np.full(17, -1)):
    try:
        _core.evaluate(tree, pattern, wrong.astype(np.int32))
    except Exception as error:
        found["refusals"].append(str(error))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(build_folder: Path) -> dict:
    """What one interpreter with the build's package prints."""
    environment = {**os.environ, "PYTHONPATH": str(build_folder / "python")}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def cost(pairs: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """Bytes by level: 0 cluster, 1 node, 2 package, 3 the same core. Six cores a node, three a package."""
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    first, second = leaves[pairs[:, 0]], leaves[pairs[:, 1]]
    level = (first // 6 == second // 6).astype(int) + (first // 3 == second // 3) + (first == second)
    return np.bincount(level, weights=pairs[:, 2], minlength=4)


def test_costs_are_the_definitions(found: dict) -> None:
    """6, 4 and 2 hops."""
    pairs = np.array(found["pairs"])
    for name, placement in found["placements"].items():
        expected = cost(pairs, np.array(placement["leaves"]))
        assert placement["weight"] == expected.tolist(), name
        assert placement["total"] == float(expected @ np.array([6, 4, 2, 0])), name


def test_each_placement_is_an_injection(found: dict) -> None:
    """17 ranks on 17 of 18 cores; each baseline follows its definition; the best has the least cost."""
    for name, placement in found["placements"].items():
        assert len(set(placement["leaves"])) == 17, name
        assert set(placement["leaves"]) <= set(range(18)), name
    assert found["placements"]["identity"]["leaves"] == list(range(17))
    assert found["placements"]["round-robin"]["leaves"] == [6 * (i % 3) + i // 3 for i in range(17)]
    totals = {name: placement["total"] for name, placement in found["placements"].items()}
    assert totals["best"] == min(totals[name] for name in ("treematch", "greedy", "round-robin", "best"))


def test_wrong_placements_are_refused(found: dict) -> None:
    """By rank and reason."""
    assert len(found["refusals"]) == 3
    assert "expected 17 ranks, found 16" in found["refusals"][0]
    assert "rank 0: expected a leaf in 0..17, found 99" in found["refusals"][1]
    assert "rank 0: expected a leaf in 0..17, found -1" in found["refusals"][2]


def pattern_of_pairs(sources: list, destinations: list) -> "_core.Pattern":
    ones = np.ones(len(sources))
    return _core.Pattern.from_pairs(6, np.array(sources), np.array(destinations), ones, 1000 * ones)


@pytest.mark.parametrize("machine", ["node:1 core:4", "node:3 core:4"])
def test_leaves_that_are_nodes_have_no_level_inside(machine: str) -> None:
    """Messages inside a leaf take their bytes' time alone."""
    nodes = _core.load_machine(machine).cut_at("Node")
    placed = ranktree.place(pattern_of_pairs([0, 2], [1, 3]), nodes, oversubscribe=True, objective="time")
    assert set(placed.permutation) <= {0, 1, 2}


def test_numbers_that_numpy_would_cut_off_are_refused() -> None:
    with pytest.raises(ValueError, match="sources: expected whole numbers, found an array of float64"):
        pattern_of_pairs([0.9], [1])
    pattern = pattern_of_pairs([0, 2], [1, 3])
    tree = _core.load_machine("core:6").cut_at("Core")
    assert _core.evaluate(tree, pattern, [0, 1, 2, 3, 4, 5])[1] == 4000
    with pytest.raises(ValueError, match="leaf"):
        _core.evaluate(tree, pattern, np.array([2**32, 1, 2, 3, 4, 5]))
    with pytest.raises(ValueError, match="leaf_of: expected whole numbers"):
        _core.evaluate(tree, pattern, np.array([0.5, 1, 2, 3, 4, 5]))


def test_rules_of_numbers_that_no_rank_has_are_refused(tmp_path: Path) -> None:
    rule = {"collective": "bcast", "choice": "shared:flat", "ranks": (2**32, None)}
    with pytest.raises(ValueError, match="rule: ranks: expected numbers of at most 2147483647"):
        _core.save_rules(str(tmp_path / "rules.json"), "any", "core:4", [rule])


def test_options_of_a_description_are_refused_beside_a_tree() -> None:
    tree = _core.load_machine("core:6").cut_at("Core")
    with pytest.raises(ValueError, match="unit, cost, network: expected none"):
        ranktree.place(pattern_of_pairs([0], [1]), tree, unit="pu")
