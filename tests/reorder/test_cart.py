"""ranktree_Cart_create on every MPI: against a brute-force model and the native grid with reorder=0."""

import re
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.emulated_cluster import MiniCluster
from tests.helpers.faked_mpis import FakedMpi, Machine, RunResult, cluster_launch, needed_mpi
from tests.helpers.mpis import NAMES

TWO_PACKAGES = "pack:2 core:4 pu:1"
FOUR_BY_FOUR = "pack:4 core:4 pu:1"
LOOSE = [[0], [1, 2], [4], [5], [0, 1, 2, 3], [7], [3]]


@pytest.fixture(params=NAMES)
def mpi(request: pytest.FixtureRequest, build_folder: Path) -> FakedMpi:
    """Each MPI in turn; skipped where the build has none of that name."""
    return needed_mpi(request.param, build_folder)


def ranks_for(mpi: FakedMpi, most: int) -> int:
    """Open MPI's waiting ranks yield; those of the others spin, and more of them than cores take minutes."""
    return min(most, 3) if known_bugs.spins(mpi) else most


def expect(result: RunResult, word: str) -> str:
    """The program succeeded and printed so."""
    assert result.returncode == 0, f"exit {result.returncode}: {result.stdout}{result.stderr}"
    assert word in result.stdout
    return result.stdout


def orders_changed(output: str) -> int:
    """How many of the program's orders were new ones."""
    found = re.search(r"agree, (\d+) orders changed", output)
    assert found
    return int(found[1])


@pytest.mark.parametrize(
    ("synthetic", "binds"),
    [
        (TWO_PACKAGES, LOOSE),
        (TWO_PACKAGES, [[0], [0], [4], [4], [0]]),
        (TWO_PACKAGES, [[]] * 5),
        (TWO_PACKAGES, [[3]]),
        (FOUR_BY_FOUR, [[4 * (rank % 4) + rank // 4] for rank in range(16)]),
    ],
    ids=["loose", "shared", "unbound", "alone", "sixteen"],
)
def test_random_grids_are_as_the_mpi_s_own(mpi: FakedMpi, synthetic: str, binds: list[list[int]]) -> None:
    """Null beyond the grid; coordinates, shifts, messages, cost and reasons; bindings as they were."""
    machine = Machine(synthetic, binds[: ranks_for(mpi, len(binds))])
    rounds = 4 if known_bugs.spins(mpi) else 15
    expect(mpi.run(machine, "cart_grids", 815, rounds), "rounds agree")


@pytest.mark.parametrize("nodes", ["abab", "aabacca", "abcdefg"])
def test_several_nodes(mpi: FakedMpi, nodes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal, unequal and one-rank nodes that all have the same bindings."""
    count = ranks_for(mpi, len(nodes))
    monkeypatch.setenv("SPLIT_NODES", nodes)
    rounds = 4 if known_bugs.spins(mpi) else 15
    expect(mpi.run(Machine(TWO_PACKAGES, LOOSE[:count]), "cart_grids", 99, rounds), "rounds agree")


def test_four_by_four_becomes_squares(mpi: FakedMpi) -> None:
    """16 ranks in row order on four packages of four: a new order, cheaper by the model."""
    known_bugs.skip(mpi, "waiting-ranks-spin")
    machine = Machine(FOUR_BY_FOUR, [[pu] for pu in range(16)])
    assert orders_changed(expect(mpi.run(machine, "cart_grids", 1, 1, 4, 4), "1 rounds agree")) == 1
    assert orders_changed(expect(mpi.run(machine, "cart_grids", 1, 1, 8, 2), "1 rounds agree")) == 0


def test_nodes_of_an_emulated_cluster(mpi: FakedMpi, cluster: MiniCluster) -> None:
    """Real nodes, ranks dealt out in turn."""
    known_bugs.skip(mpi, "finalize-hangs-across-nodes")
    nodes = 2 if known_bugs.spins(mpi) else 4
    words, variables = cluster_launch(
        mpi, Machine(TWO_PACKAGES, [[0], [4]] * nodes), {f"n{i}": 2 for i in range(nodes)}
    )
    program = mpi.program("cart_grids")
    command = [*words, program, 5, 5]
    result = cluster.call("mpirun", *command, env=variables, cwd=program.parent, timeout=120)
    expect(result, "5 rounds agree")


@pytest.mark.parametrize("ranks", [1, 3])
def test_errors_have_the_same_class_on_all_ranks_and_leave_the_output_alone(mpi: FakedMpi, ranks: int) -> None:
    expect(mpi.run(Machine(TWO_PACKAGES, LOOSE[:ranks]), "cart_errors"), "errors agree")


@pytest.mark.parametrize(
    ("synthetic", "binds"),
    [(TWO_PACKAGES, LOOSE[:6]), (TWO_PACKAGES, [[4], [0], [5], [1], [2]]), (FOUR_BY_FOUR, [[0], [4], [1]])],
    ids=["loose", "five", "three"],
)
def test_chosen_grids_are_the_best_of_all_grids_and_orders(
    mpi: FakedMpi, synthetic: str, binds: list[list[int]]
) -> None:
    machine = Machine(synthetic, binds[: ranks_for(mpi, len(binds))])
    rounds = 3 if known_bugs.spins(mpi) else 10
    expect(mpi.run(machine, "cart_weighted", 29, rounds), "rounds agree")


def test_chosen_grids_on_several_nodes(mpi: FakedMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of three and two ranks that sit alternately: some order is a new one, whatever the mode of the call."""
    count = ranks_for(mpi, 5)
    monkeypatch.setenv("SPLIT_NODES", "ababa"[:count])
    machine = Machine(TWO_PACKAGES, LOOSE[:count])
    nodes = ("ranktree_node_id=env", "ranktree_network=none")
    output = expect(
        mpi.run(machine, "cart_weighted", 5, 8, *nodes, "ranktree_reorder_mode=distributed"), "rounds agree"
    )
    assert orders_changed(output) > 0
