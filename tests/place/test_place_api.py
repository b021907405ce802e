"""`ranktree.place` from a program: every kind of input, the plan's numbers against a computation here, refusals."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# What the package only knows by what it can do is played by small classes: neither scipy nor networkx is needed here.
PROGRAM = """
import json, os, signal, sys, threading
import numpy as np
import ranktree
from ranktree import _core

MACHINE = "node:3 package:2 core:3"

class Csr:
    def __init__(self, matrix):
        self.shape = matrix.shape
        rows, self.indices = np.nonzero(matrix)
        self.data = matrix[rows, self.indices]
        self.indptr = np.searchsorted(rows, np.arange(matrix.shape[0] + 1))
    def tocsr(self, copy=False):
        assert copy
        return self
    def sum_duplicates(self):
        pass

class Graph:
    def __init__(self, nodes, edges):
        self.nodes, self.list = nodes, edges
    def adjacency(self):
        return {}
    def number_of_nodes(self):
        return len(self.nodes)
    def number_of_edges(self):
        return len(self.list)
    def edges(self, data, default):
        return [(a, b, attributes.get(data, default)) for a, b, attributes in self.list]

random = np.random.default_rng(5)
matrix = np.where(random.random((17, 17)) < 0.4, random.integers(1, 1000, (17, 17)), 0)
source, target = np.nonzero(matrix)
edges = [(int(a), int(b), {"weight": int(matrix[a, b])}) for a, b in zip(source, target)]
inputs = {
    "whole numbers": matrix,
    "doubles": matrix.astype(float),
    "columns first": np.asfortranarray(matrix.astype(np.float32)),
    "nested lists": matrix.tolist(),
    "sparse": Csr(matrix),
    "graph": Graph(list(range(16, -1, -1)), edges + [(0, 1, {"weight": 0}), (0, 1, {"weight": 0})]),
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
refusal("sparse negative", Csr(changed(-1)))
refusal("not square", matrix[:3])
refusal("sparse not square", Csr(matrix[:3]))
refusal("one dimension", matrix[0])
refusal("ragged", [[1, 2], [3]])
refusal("text", "a.npz")
refusal("nothing", None)
refusal("complex", changed(1j, complex))
refusal("node", Graph(["a"], []))
refusal("edge", Graph([0, 1], [(0, 1, {"weight": -2})]))
refusal("edge text", Graph([0, 1], [(0, 1, {"weight": "much"})]))
refusal("too many", np.ones((19, 19)))
refusal("machine", machine=7)
refusal("preset", preset="hard")
refusal("algorithm", algorithm="magic")
refusal("threads", threads=0)
refusal("seed", seed=-1)
refusal("time", time_limit=-1.0)
refusal("unit", unit="node")

found["empty"] = [ranktree.place(np.zeros((0, 0)), MACHINE).cost, ranktree.place(np.zeros((5, 5)), MACHINE).gap]
found["shared"] = ranktree.place(np.ones((19, 19)), MACHINE, oversubscribe=True).cost

asked = []
plan = ranktree.place(matrix, MACHINE, keep_going=lambda: asked.append(1) or False)
found["stopped"] = [len(asked), plan.cost <= next(row.total for row in plan.costs if row.placement == "identity")]

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
    """What one interpreter with the build's package says."""
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
    """One matrix in seven forms; its cost is the definition's."""
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
    seats = [(f"n{place // 6}", [place % 6]) for place in leaf]
    assert [(seat["host"], seat["pus"]) for seat in plan["file"]["seats"]] == seats


def test_the_bound_is_the_definition(found: dict) -> None:
    """What a rank exchanges beyond as many partners as fit, at 2 hops for each level it crosses, halved."""
    matrix = np.array(found["matrix"])
    both = np.sort(np.where(np.eye(17, dtype=bool), 0, matrix + matrix.T), axis=1)[:, ::-1]
    bound = sum(2 * both[:, room - 1 :].sum() / 2 for room in (6, 3, 1))
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
        ("sparse negative", "pattern[3, 5]: expected a finite number, at least 0, found -1"),
        ("not square", "pattern: expected a square matrix, found the shape 3 x 17"),
        ("sparse not square", "pattern: expected a square matrix, found the shape 3 x 17"),
        ("one dimension", "pattern: expected a square matrix, found the shape 17"),
        ("ragged", "pattern: expected a matrix of numbers, found list"),
        ("text", "pattern: expected real numbers"),
        ("nothing", "pattern: expected real numbers"),
        ("complex", "pattern: expected real numbers, found complex128"),
        ("node", "pattern: expected the nodes 0 .. 0, found 'a'"),
        ("edge", "pattern[0, 1]: expected a finite number, at least 0, found -2"),
        ("edge text", "pattern: expected real numbers"),
        ("too many", "expected at least 19 places for the pattern's ranks, found 18"),
        ("machine", "machine: expected text or a tree, found int"),
        ("preset", "preset: expected fast, default or strong, found 'hard'"),
        ("algorithm", "algorithm: expected best"),
        ("threads", "threads: expected a whole number from 1"),
        ("seed", "seed: expected a whole number from 0"),
        ("time", "time_limit: expected a number above 0, found -1"),
        ("unit", "unit: expected core or pu, found 'node'"),
    ],
)
def test_refusals_are_one_line_that_names_the_field(found: dict, name: str, expected: str) -> None:
    """Every bad input is a ValueError."""
    text = found["refusals"][name]
    assert text is not None, "accepted"
    assert expected in text
    assert "\n" not in text


def test_ranks_that_do_not_talk_cost_nothing(found: dict) -> None:
    """Nor does a pattern without ranks; and more ranks than places share them when they may."""
    assert found["empty"] == [0, 0]
    assert found["shared"] > 0


def test_a_search_can_be_stopped(found: dict) -> None:
    """By its answer it keeps what it has; an exception, Ctrl-C too, comes out."""
    asked, no_worse = found["stopped"]
    assert asked == 1, "who said stop is not asked again"
    assert no_worse
    assert found["interrupted"]
    assert found["raised"] == "'mine'"
