"""`ranktree.place` from a program: every kind of input, the plan's numbers against a computation here, refusals."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = """
import json, os, signal, sys, threading
import networkx
import numpy as np
import scipy.sparse
import ranktree
from ranktree import _core

MACHINE = "node:3 package:2 core:3"

random = np.random.default_rng(5)
matrix = np.where(random.random((17, 17)) < 0.4, random.integers(1, 1000, (17, 17)), 0)
source, target = np.nonzero(matrix)
whole = scipy.sparse.csr_array(matrix)
backwards = [np.arange(*whole.indptr[[i, i + 1]])[::-1] for i in range(17)]
unsorted = scipy.sparse.csr_array((whole.data[np.concatenate(backwards)], whole.indices[np.concatenate(backwards)],
                                   whole.indptr), shape=(17, 17))
halves = (np.tile(matrix[source, target] / 2, 2), (np.tile(source, 2), np.tile(target, 2)))
shares = [np.clip(matrix[source, target] - 255 * k, 0, 255).astype(np.uint8) for k in range(4)]
parts = (np.concatenate(shares), (np.tile(source, 4), np.tile(target, 4)))
twice = scipy.sparse.coo_matrix(halves, shape=(17, 17))

def graph_of(kind, edges):
    graph = kind()
    graph.add_nodes_from(range(16, -1, -1))
    graph.add_weighted_edges_from(edges)
    return graph

edges = [(int(a), int(b), int(matrix[a, b])) for a, b in zip(source, target)]
both = matrix + matrix.T
pairs = [(a, b, float(both[a, b])) for a in range(17) for b in range(a) if both[a, b]]
ones = networkx.gnm_random_graph(17, 40, seed=1)
inputs = {
    "whole numbers": matrix,
    "doubles": matrix.astype(float),
    "columns first": np.asfortranarray(matrix.astype(np.float32)),
    "nested lists": matrix.tolist(),
    **{f"{kind} {dtype}": getattr(scipy.sparse, kind)(matrix.astype(dtype))
       for kind in ("csr_array", "csr_matrix", "csc_array", "csc_matrix", "coo_array", "coo_matrix")
       for dtype in ("int32", "int64", "float32", "float64")},
    "csr, columns descending": unsorted,
    "coo, entries twice": twice,
    "coo, entries in parts of a byte": scipy.sparse.coo_matrix(parts, shape=(17, 17)),
    "graph": graph_of(networkx.Graph, pairs),
    "directed graph": graph_of(networkx.DiGraph, edges),
    "graph of parallel edges": graph_of(networkx.MultiGraph, edges),
    "directed graph of parallel edges": graph_of(networkx.MultiDiGraph, [*edges, (0, 1, 0), (0, 1, 0)]),
    "pattern": _core.Pattern.from_pairs(17, source, target, np.ones(len(source)), matrix[source, target].astype(float)),
}
found = {"matrix": matrix.tolist(), "plans": {}, "refusals": {}}
for name, given in inputs.items():
    plan = ranktree.place(given, MACHINE, seed=3)
    assert isinstance(plan, ranktree.Plan) and isinstance(plan.permutation, np.ndarray)
    found["plans"][name] = {
        "permutation": plan.permutation.tolist(), "cost": plan.cost, "by_level": plan.cost_by_level.tolist(),
        "bound": plan.bound, "gap": plan.gap, "levels": plan.levels, "file": json.loads(plan.to_json()),
    }
found["untouched"] = [bool(unsorted.has_sorted_indices), twice.nnz]
found["without weights"] = [ranktree.place(each, MACHINE).cost for each in (ones, networkx.to_numpy_array(ones) / 2)]
plan.save(sys.argv[1])
again = _core.load_plan(sys.argv[1])
found["reloaded"] = {"bound": again.bound, "gap": again.gap, "permutation": again.permutation, "json": again.to_json()}
found["written"] = plan.to_json()
tree = _core.load_machine(MACHINE).cut_at("Core").with_costs([100, 10, 1])
found["given costs"] = ranktree.place(matrix, tree).level_costs

def refusal(name, given=matrix, machine=MACHINE, **options):
    try:
        ranktree.place(given, machine, **options)
        found["refusals"][name] = None
    except ValueError as error:
        found["refusals"][name] = str(error)

def changed(value, dtype=float):
    other = matrix.astype(dtype)
    other[3, 5] = value
    return other

refusal("negative", changed(-1))
refusal("not a number", changed(np.nan))
refusal("infinite", changed(np.inf))
refusal("csr negative", scipy.sparse.csr_array(changed(-1)))
refusal("csc negative", scipy.sparse.csc_matrix(changed(-1, int)))
refusal("coo not a number", scipy.sparse.coo_array(changed(np.nan)))
refusal("sparse complex", scipy.sparse.csr_array(changed(1j, complex)))
refusal("not square", matrix[:3])
refusal("sparse not square", scipy.sparse.csr_array(matrix[:3]))
refusal("one dimension", matrix[0])
refusal("ragged", [[1, 2], [3]])
refusal("bytes", b"a.npz")
refusal("nothing", None)
refusal("complex", changed(1j, complex))
refusal("node", networkx.path_graph(["a"]))
refusal("nodes", networkx.path_graph([1, 2]))
refusal("edge", networkx.Graph([(0, 1, {"weight": -2})]))
refusal("edge text", networkx.DiGraph([(0, 1, {"weight": "much"})]))
refusal("too many", np.ones((19, 19)))
refusal("machine", machine=7)
refusal("preset", preset="hard")
refusal("algorithm", algorithm="magic")
refusal("threads", threads=0)
refusal("seed", seed=-1)
refusal("time", time_limit=-1.0)
refusal("unit", unit="node")
refusal("no ranks", np.zeros((0, 0)))
refusal("no algorithm", algorithm=None)
refusal("collectives", collectives="x")
refusal("pins", pins=[(0, 1)])
refusal("keep going", keep_going=3)
refusal("keep going by an array", keep_going=lambda: np.array([True, False]))
for name, offsets, columns in (("offsets", [0, 2, 1], [0, 1]), ("offsets beyond", [0, 1, 9], [0, 1]),
                               ("indices", [0, 1, 2], [0, 7])):
    for kind in ("csr", "csc"):
        broken = getattr(scipy.sparse, f"{kind}_array")((2, 2))
        broken.indptr, broken.indices, broken.data = np.array(offsets), np.array(columns), np.ones(2)
        refusal(f"{kind} {name}", broken)
refusal("huge", changed(1e308))

found["empty"] = ranktree.place(np.zeros((5, 5)), MACHINE).gap
found["shared"] = ranktree.place(np.ones((19, 19)), MACHINE, oversubscribe=True).cost

calls = []
plan = ranktree.place(matrix, MACHINE, keep_going=lambda: calls.append(1) or False)
found["stopped flag"] = [
    plan.stopped,
    ranktree.place(matrix, MACHINE).stopped,
    ranktree.place(matrix, MACHINE, algorithm="greedy", keep_going=lambda: False).stopped,
    ranktree.place(np.ones((300, 300)), "node:30 core:10", time_limit=1e-9).stopped,
    _core.load_plan(sys.argv[1]).stopped,
]
found["stopped"] = [len(calls), plan.cost <= next(row.total for row in plan.costs if row.placement == "identity")]

def interrupt(number, frame):
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, interrupt)
try:
    ranktree.place(matrix, MACHINE, keep_going=lambda: os.kill(os.getpid(), signal.SIGINT))
    found["interrupted"] = False
except KeyboardInterrupt:
    found["interrupted"] = True
try:
    ranktree.place(matrix, MACHINE, keep_going=lambda: {}["mine"])
except KeyError as error:
    found["raised"] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What one interpreter with the build's package prints."""
    environment = {**os.environ, "PYTHONPATH": str(build_folder / "python")}
    plan = tmp_path_factory.mktemp("place_api") / "plan.json"
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, plan], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def cost_by_level(matrix: np.ndarray, leaf: np.ndarray) -> list[float]:
    """Three nodes of two packages of three cores: pairs meet at 6, 4 or 2 hops, those of one rank nowhere."""
    costs = [0.0] * 4
    for i, row in enumerate(matrix):
        for j, weight in enumerate(row):
            if i == j:
                continue
            a, b = leaf[i], leaf[j]
            level = 0 if a // 6 != b // 6 else 1 if a // 3 != b // 3 else 2
            costs[level] += (6, 4, 2)[level] * weight
    return costs


def test_every_kind_of_input_gives_the_same_plan(found: dict) -> None:
    """One matrix of numpy, scipy and networkx in all forms; its cost is the definition's."""
    plans = found["plans"]
    matrix = np.array(found["matrix"])
    for name, plan in plans.items():
        assert plan == plans["doubles"], name
    plan = plans["doubles"]
    leaf = np.array(plan["permutation"])
    assert len(set(leaf)) == 17
    assert set(leaf) <= set(range(18))
    assert plan["by_level"] == cost_by_level(matrix, leaf)
    assert plan["cost"] == sum(plan["by_level"])
    assert plan["levels"] == ["Cluster", "Node", "Package", "Core"]
    slots = [(f"n{place // 6}", [place % 6]) for place in leaf]
    assert [(slot["host"], slot["pus"]) for slot in plan["file"]["slots"]] == slots


def test_what_is_given_is_not_changed(found: dict) -> None:
    """Columns of a sparse matrix are not sorted in place, nor entries added."""
    assert found["untouched"] == [False, 2 * np.count_nonzero(found["matrix"])]


def test_edges_without_weight_count_one(found: dict) -> None:
    """As their matrix with a half for each direction."""
    graph, matrix = found["without weights"]
    assert graph == matrix > 0


def test_the_bound_is_the_definition(found: dict) -> None:
    """What a rank exchanges beyond as many partners as fit, at 2 hops for each level it crosses, halved."""
    matrix = np.array(found["matrix"])
    both = np.sort(np.where(np.eye(17, dtype=bool), 0, matrix + matrix.T), axis=1)[:, ::-1]
    bound = sum(2 * both[:, slots - 1 :].sum() / 2 for slots in (6, 3, 1))
    plan = found["plans"]["doubles"]
    assert plan["bound"] == bound
    assert plan["gap"] == pytest.approx((plan["cost"] - bound) / bound, rel=1e-12)
    assert plan["file"]["bound"] == bound
    assert plan["gap"] > 0


def test_a_plan_survives_its_file(found: dict) -> None:
    """Where the leaf of a rank is numbered is the machine's matter, which the file does not hold."""
    plan = found["plans"]["doubles"]
    again = found["reloaded"]
    assert again["json"] == found["written"]
    assert (again["bound"], again["gap"], again["permutation"]) == (plan["bound"], plan["gap"], None)


def test_a_tree_is_taken_as_it_is(found: dict) -> None:
    """With the costs its owner gave it."""
    assert found["given costs"] == [100, 10, 1, 0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("negative", "pattern[3, 5]: expected a finite number, at least 0, found -1"),
        ("not a number", "pattern[3, 5]: expected a finite number, at least 0, found nan"),
        ("infinite", "pattern[3, 5]: expected a finite number, at least 0, found inf"),
        ("csr negative", "pattern[3, 5]: expected a finite number, at least 0, found -1"),
        ("csc negative", "pattern[3, 5]: expected a finite number, at least 0, found -1"),
        ("coo not a number", "pattern[3, 5]: expected a finite number, at least 0, found nan"),
        ("sparse complex", "pattern: expected real numbers, found complex128"),
        ("not square", "pattern: expected a square matrix, found the shape 3 x 17"),
        ("sparse not square", "pattern: expected a square matrix, found the shape 3 x 17"),
        ("one dimension", "pattern: expected a square matrix, found the shape 17"),
        ("ragged", "pattern: expected a matrix of numbers, found list"),
        ("bytes", "pattern: expected real numbers"),
        ("nothing", "pattern: expected real numbers"),
        ("complex", "pattern: expected real numbers, found complex128"),
        ("node", "pattern: expected the nodes 0 .. 0, found 'a'"),
        ("nodes", "pattern: expected the nodes 0 .. 1, found 2"),
        ("edge", "pattern[0, 1]: expected a finite number, at least 0, found -2"),
        ("edge text", "pattern: expected real numbers"),
        ("too many", "expected at least 19 slots for the pattern's ranks, found 18"),
        ("machine", "machine: expected text, a path or a tree, found int"),
        ("preset", "preset: expected fast, default or strong, found 'hard'"),
        ("algorithm", "algorithm: expected best"),
        ("threads", "threads: expected a whole number from 1"),
        ("seed", "seed: expected a whole number from 0"),
        ("time", "time_limit: expected a number above 0, found -1"),
        ("unit", "unit: expected core or pu, found 'node'"),
        ("no ranks", "pattern: expected at least 1 rank, found none"),
        ("no algorithm", "algorithm: expected text, found None"),
        ("collectives", "collectives: expected model, openmpi, mpich, flat, none, found 'x'"),
        ("pins", "pins: expected a dictionary, found [(0, 1)]"),
        ("keep going", "keep_going: expected a function or None, found 3"),
        ("keep going by an array", "The truth value of an array with more than one element is ambiguous"),
        ("csr offsets", "pattern: expected offsets that ascend from 0 to at most 2 entries, found others"),
        ("csc offsets", "pattern: expected offsets that ascend from 0 to at most 2 entries, found others"),
        ("csr offsets beyond", "pattern: expected offsets that ascend from 0 to at most 2 entries, found others"),
        ("csr indices", "pattern: expected indices in 0..1, found 0..7"),
        ("csc indices", "pattern: expected indices in 0..1, found 0..7"),
        ("huge", "pattern: expected numbers that can be added up"),
    ],
)
def test_refusals_are_one_line_that_names_the_field(found: dict, name: str, expected: str) -> None:
    """Every bad input is a ValueError."""
    text = found["refusals"][name]
    assert text is not None, "accepted"
    assert expected in text
    assert "\n" not in text


def test_ranks_that_do_not_talk_cost_nothing(found: dict) -> None:
    """And more ranks than places share them when they may."""
    assert found["empty"] == 0
    assert found["shared"] > 0


def test_a_search_can_be_stopped(found: dict) -> None:
    """After False the best so far is kept; an exception, also that of Ctrl-C, is raised."""
    calls, no_worse = found["stopped"]
    assert calls == 1, "keep_going is not called again after it returned False"
    assert no_worse
    assert found["stopped flag"] == [True, False, False, True, False]
    assert found["interrupted"]
    assert found["raised"] == "'mine'"
