"""Networks that are no trees, and whole matrices, from the command line and from Python."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

NETWORKS = Path(__file__).resolve().parent.parent / "topo/data/networks"


def torus_hops(a: int, b: int) -> int:
    """2 x 3 x 4, the first two closed: nodes row by row."""
    apart = [abs(int(each[0]) - int(each[1])) for each in np.unravel_index([a, b], (2, 3, 4))]
    return min(apart[0], 2 - apart[0]) + min(apart[1], 3 - apart[1]) + apart[2]


def ring(ranks: int) -> np.ndarray:
    """Each rank sends 100 bytes to the next and 10 to the one across."""
    matrix = np.zeros((ranks, ranks))
    for rank in range(ranks):
        matrix[rank, (rank + 1) % ranks] = 100
        matrix[rank, (rank + ranks // 2) % ranks] = 10
    return matrix


def hop_bytes(matrix: np.ndarray, nodes: np.ndarray, cores: np.ndarray) -> float:
    """By hand: 2 hops within a package of four cores, 4 within a node, 4 more than the torus's between nodes."""
    total = 0.0
    for source, target in zip(*np.nonzero(matrix), strict=True):
        if nodes[source] != nodes[target]:
            hops = 4 + torus_hops(nodes[source], nodes[target])
        else:
            hops = 0 if source == target else 2 if cores[source] // 4 == cores[target] // 4 else 4
        total += float(matrix[source, target]) * hops
    return total


def test_a_torus_from_its_file(ranktree: Callable, tmp_path: Path) -> None:
    """The plan's cost is recomputed; levels are distances."""
    matrix = ring(150)
    np.save(tmp_path / "ring.npy", matrix)
    plan_file = tmp_path / "plan.json"
    machine = str(NETWORKS / "torus.json")
    result = ranktree("map", str(tmp_path / "ring.npy"), "--machine", machine, "--json", "-o", str(plan_file))
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    network = [level for level in answer["levels"] if level.startswith("Network ")]
    assert answer["levels"] == [*network, "Node", "Package", "Core"]
    distances = [float(level.split()[1]) for level in network]
    assert all(a > b for a, b in pairwise(distances))
    plan = json.loads(plan_file.read_text())
    nodes = np.array([int(slot["host"][1:]) for slot in plan["slots"]])
    cores = np.array([slot["pus"][0] for slot in plan["slots"]])
    costs = {row["placement"]: row["total"] for row in answer["costs"]}
    assert costs["plan"] == hop_bytes(matrix, nodes, cores)
    order = np.arange(150)
    assert costs["identity"] == hop_bytes(matrix, order // 8, order % 8)
    assert answer["bound"] <= costs["plan"] < costs["round-robin"]


@pytest.mark.parametrize("name", ["torus", "dragonfly", "fat_tree", "matrix"])
def test_every_example_is_a_machine(ranktree: Callable, tmp_path: Path, name: str) -> None:
    """Shown, written again, placed on."""
    machine = str(NETWORKS / f"{name}.json")
    result = ranktree("topo", machine)
    assert result.returncode == 0, result.stderr
    assert ("network: " in result.stdout) == (name != "fat_tree")
    np.save(tmp_path / "ring.npy", ring(8))
    result = ranktree("map", str(tmp_path / "ring.npy"), "--machine", machine, "--preset", "strong", "--compare")
    assert result.returncode == 0, result.stderr
    assert "engine, strong" in result.stdout


def test_latencies_and_what_is_not_known(ranktree: Callable, tmp_path: Path) -> None:
    """0.4 us in a node and 0.1 us a step."""
    np.save(tmp_path / "pair.npy", np.array([[0, 1000.0], [0, 0]]))
    machine = str(NETWORKS / "torus.json")
    arguments = ["map", str(tmp_path / "pair.npy"), "--machine", machine, "--json"]
    arguments += ["--pin", "0=t0:0", "--pin", "1=t23:0"]
    result = ranktree(*arguments, "--cost", "latency")
    assert result.returncode == 0, result.stderr
    cost = json.loads(result.stdout)["costs"][-1]["total"]
    assert cost == pytest.approx(1000 * (4e-7 + torus_hops(0, 23) * 1e-7))
    result = ranktree(*arguments, "--cost", "bandwidth")
    assert result.returncode == 1
    assert "network: expected hops or latency" in result.stderr or "bandwidth is not known" in result.stderr


def test_a_matrix_is_the_same_by_npy_npz_and_text(ranktree: Callable, tmp_path: Path) -> None:
    """300 ranks, all of which talk: as a matrix and as lists, in both precisions; converted, too."""
    random = np.random.default_rng(3)
    matrix = random.integers(1, 1000, (300, 300)).astype(float)
    np.save(tmp_path / "double.npy", matrix)
    np.save(tmp_path / "single.npy", matrix.astype(np.float32))
    np.save(tmp_path / "columns.npy", np.asfortranarray(matrix))
    np.savez_compressed(tmp_path / "zipped.npz", matrix=matrix)
    assert ranktree("convert", str(tmp_path / "double.npy"), "-o", str(tmp_path / "text.mat")).returncode == 0
    assert np.array_equal(np.loadtxt(tmp_path / "text.mat"), matrix)
    plans = {}
    for name in ("double.npy", "single.npy", "columns.npy", "zipped.npz", "text.mat"):
        result = ranktree(
            "map", str(tmp_path / name), "--machine", "node:10 package:2 core:16", "--algorithm", "engine", "--json"
        )
        assert result.returncode == 0, result.stderr
        plans[name] = json.loads(result.stdout)
    costs = {name: plan["costs"] for name, plan in plans.items()}
    assert all(cost[0] == costs["text.mat"][0] for cost in costs.values())  # identity, by level
    assert costs["double.npy"] == costs["single.npy"] == costs["columns.npy"] == costs["zipped.npz"]


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (np.zeros((2, 3)), "square matrix, found the shape 2 x 3"),
        (np.zeros(4), "square matrix, found the shape 4"),
        (np.zeros((2, 2, 2)), "square matrix"),
        (np.zeros((0, 0)), "square matrix, found the shape 0 x 0"),
        (np.array([[0, -1.0], [0, 0]]), "bad.npy[0, 1]: expected a finite number, at least 0, found -1"),
        (np.array([[0, 1], [np.nan, 0]]), "bad.npy[1, 0]"),
        (np.array([[0, 1], [np.inf, 0]], np.float32), "bad.npy[1, 0]"),
        (np.array([["a", "b"], ["c", "d"]]), "real numbers"),
        (np.zeros((2, 2), complex), "real numbers"),
    ],
)
def test_bad_matrices_are_refused(ranktree: Callable, tmp_path: Path, matrix: np.ndarray, text: str) -> None:
    """One line with the reason."""
    path = tmp_path / "bad.npy"
    np.save(path, matrix)
    result = ranktree("map", "--metric", "size", str(path), "--machine", "node:4 core:4")
    assert result.returncode == 1
    assert text in result.stderr
    assert result.stderr.count("\n") == 1


def test_ranks_of_several_threads(ranktree: Callable, tmp_path: Path) -> None:
    """Three cores each: two places in a package of eight, none in the node that has two cores left."""
    np.save(tmp_path / "ring.npy", ring(6))
    plan_file = tmp_path / "plan.json"
    arguments = ["map", str(tmp_path / "ring.npy"), "--machine", "node:3 package:2 core:8", "--threads-per-rank", "3"]
    result = ranktree(*arguments, "--forbid", "n1:0-13", "--pin", "5=n2:4", "-o", str(plan_file))
    assert result.returncode == 0, result.stderr
    slots = json.loads(plan_file.read_text())["slots"]
    for slot in slots:
        first = slot["pus"][0]
        assert slot["host"] != "n1"
        assert slot["pus"] == [first, first + 1, first + 2]
        assert first in {0, 3, 8, 11}
    assert len({(slot["host"], slot["pus"][0]) for slot in slots}) == 6
    assert slots[5] == {"host": "n2", "pus": [3, 4, 5]}
    result = ranktree(*arguments[:4], "--threads-per-rank", "17")
    assert result.returncode == 1
    assert "expected an allowed slot, found none" in result.stderr
