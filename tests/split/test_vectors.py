"""The paper's examples, and those its rules leave open, level by level on every MPI."""

import json
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.emulated_cluster import MiniCluster
from tests.helpers.faked_mpis import FakedMpi, Machine, cluster_launch, count_pus
from tests.helpers.mpis import NAMES, WHEELS
from tests.helpers.split_levels import dumped, expected, parents_of

DATA = Path(__file__).resolve().parent / "data" / "hsplit.json"
VECTORS = [vector for vector in json.loads(DATA.read_text(encoding="utf-8")) if "steps" in vector]
ONE_NODE = [vector for vector in VECTORS if vector["nodes"] == 1]
FOUR_NODES = next(vector for vector in VECTORS if vector["name"] == "sec5.1")


def machine_of(vector: dict) -> Machine:
    """The vector's node and the bindings of all ranks."""
    return Machine(vector["topo"], [mask for node in vector["binds"] for mask in node])


def check_step(step: dict, here: list[dict]) -> None:
    """One step of a vector against the levels of all ranks that have one."""
    assert [level for level in here if level["members"] not in step["comms"]] == []
    if "roots" in step:
        found = sorted({tuple(level["roots"]) for level in here if level["roots"]})
        assert found == sorted(map(tuple, step["roots"]))
    if "compare_self" in step:
        assert {level["compare_self"] for level in here} == {step["compare_self"]}


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"].replace(" ", "_") for vector in VECTORS])
def test_the_expectation_agrees_with_the_vector(vector: dict) -> None:
    """Roots, nulls and comparisons are written out in the vectors: the expectation above derives the same."""
    size = sum(map(len, vector["binds"]))
    levels = expected(vector["steps"], size)
    for depth, step in enumerate(vector["steps"]):
        check_step(step, [rank[depth] for rank in levels if len(rank) > depth])
        if "null" in step:
            parents = [rank for parent in parents_of(vector["steps"], depth, size) for rank in parent]
            assert sorted(rank for rank in parents if len(levels[rank]) == depth) == step["null"]


# Every vector on Debian's MPIs, every fourth on the wheels', whose levels come from the same code.
CASES = [(name, vector) for name in NAMES for vector in ONE_NODE[:: 4 if name in WHEELS else 1]]


@pytest.mark.parametrize(
    ("mpi", "vector"), CASES, indirect=["mpi"], ids=[f"{name}-{case['name'].replace(' ', '_')}" for name, case in CASES]
)
def test_one_node_level_by_level(mpi: FakedMpi, vector: dict) -> None:
    machine = machine_of(vector)
    assert dumped(mpi.run(machine, "levels_dump")) == expected(vector["steps"], len(machine.binds))


def test_four_nodes_under_a_launcher_that_forks(mpi: FakedMpi) -> None:
    """Section 5.1: 32 ranks, nodes that only the MPI takes for different ones."""
    known_bugs.skip(mpi, "one-name-per-host")
    if mpi.family == "intel":
        pytest.skip("its 32 ranks take 20 seconds of the processors here: over real nodes below")
    result = mpi.run(machine_of(FOUR_NODES), "levels_dump", hosts=["na", "nb", "nc", "nd"], timeout=120)
    assert dumped(result) == expected(FOUR_NODES["steps"], 32)


def test_four_nodes_of_an_emulated_cluster(mpi: FakedMpi, cluster: MiniCluster) -> None:
    """Section 5.1 over real nodes: host names, boot identities and memory of their own."""
    known_bugs.skip(mpi, "finalize-hangs-across-nodes")
    machine = machine_of(FOUR_NODES)
    assert count_pus(machine.synthetic) == 8
    words, variables = cluster_launch(mpi, machine, {"n0": 8, "n1": 8, "n2": 8, "n3": 8})
    program = mpi.program("levels_dump")
    result = cluster.call("mpirun", *words, program, env=variables, cwd=program.parent, timeout=180)
    assert dumped(result) == expected(FOUR_NODES["steps"], 32)


def test_more_than_1024_pus(mpi: FakedMpi) -> None:
    """The kernel's masks are longer than the C library's type there."""
    aborts = known_bugs.has(mpi, "aborts-above-1024-pus")
    machine = Machine("pack:2 [numa] core:1024 pu:1", [[1], [1023], [1024], [1500, 2047]], late=aborts)
    steps = [
        {"type": "NUMANode", "comms": [[0, 1], [2, 3]]},
        {"type": "Core", "comms": [[0], [1], [2]], "null": [3]},
        {"comms": []},
    ]
    assert dumped(mpi.run(machine, "levels_dump")) == expected(steps, 4)
