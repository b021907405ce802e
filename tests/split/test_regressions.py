"""Machines on which MPIs answer wrongly: ours must be right there, under the same launcher and the same bindings.

The native results are printed by native_answers.py and stands in docs/explanation/splits.md.
"""

from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.faked_mpis import FakedMpi, Machine, finish
from tests.helpers.native_answers import MACHINES, ONE_PACKAGE, answers, run_bound
from tests.helpers.split_levels import dumped, expected

GENOA = MACHINES["three cores a rank, L3 of eight (ompi#12812)"]
UNBOUND = MACHINES["nothing bound (ompi#10416)"]
CGROUPS = MACHINES["two cgroups of a package each"]


def parts(mpi: FakedMpi, machine: Machine, *arguments: str) -> list[tuple[int, ...] | None]:
    """What each rank gets from one ranktree_Comm_split_type."""
    result = run_bound(mpi, machine, "guided", *arguments)
    assert result.returncode == 0, f"exit {result.returncode}: {result.stdout}{result.stderr}"
    level = answers(result)[1]
    return [level[rank] for rank in range(len(machine.binds))]


def test_ompi_12812_bindings_across_two_caches(mpi: FakedMpi) -> None:
    """Ranks 2 and 5 are on two L3 caches each: in none, where Open MPI puts them in both and hangs."""
    steps = [{"type": "L3Cache", "comms": [[0, 1], [3, 4], [6, 7]]}, {"comms": []}]
    assert dumped(run_bound(mpi, GENOA, "levels_dump", timeout=60)) == expected(steps, 8)
    l3 = [(0, 1), (0, 1), None, (3, 4), (3, 4), None, (6, 7), (6, 7)]
    assert parts(mpi, GENOA, "guided", "hwloc://L3Cache") == l3


def test_ompi_12812_leftovers_in_a_group(mpi: FakedMpi) -> None:
    got = dumped(run_bound(mpi, GENOA, "levels_dump", "ranktree_leftover=group", timeout=60))
    assert [[level["members"] for level in rank] for rank in got] == [
        [[0, 1]], [[0, 1]], [[2, 5]], [[3, 4]], [[3, 4]], [[2, 5]], [[6, 7]], [[6, 7]]
    ]  # fmt: skip
    assert [rank[0]["type"] for rank in got if rank[0]["members"] != [2, 5]] == ["L3Cache"] * 6
    assert all(rank[0]["num_comms"] == 4 for rank in got)


def test_open_mpi_itself_overlaps(mpi: FakedMpi) -> None:
    """The faked machine provokes what ompi#12812 reports, so the tests above are on the case that is meant."""
    known_bugs.need(mpi, "l3-parts-overlap")
    level = answers(run_bound(mpi, GENOA, "native", "type", "L3CACHE"))[1]
    assert (level[1], level[2], level[3]) == ((0, 1, 2), (0, 1, 2, 3, 4, 5), (2, 3, 4, 5))


def test_ompi_10416_unbound_ranks(mpi: FakedMpi) -> None:
    """Ranks bound to nothing are in no cache, but together in the node; Open MPI makes eight singletons."""
    assert dumped(run_bound(mpi, UNBOUND, "levels_dump", timeout=60)) == [[]] * 8
    assert parts(mpi, UNBOUND, "guided", "L3Cache") == [None] * 8
    assert parts(mpi, UNBOUND, "guided", "mpi_shared_memory") == [tuple(range(8))] * 8


@pytest.mark.parametrize("resource", ["Package", "hwloc://Package", "NUMANode"])
def test_mpich_7160_a_resource_all_ranks_share(mpi: FakedMpi, resource: str) -> None:
    """Guided splits need no strict subset: one package gives one communicator, where MPICH gives MPI_COMM_NULL."""
    assert parts(mpi, ONE_PACKAGE, "guided", resource) == [(0, 1, 2, 3)] * 4


def test_a_guided_split_goes_by_the_resource(mpi: FakedMpi) -> None:
    """Intel MPI answers with the whole node for every name; Open MPI and MPICH do not know the standard's form."""
    assert parts(mpi, ONE_PACKAGE, "guided", "hwloc://L3Cache") == [(0, 1), (0, 1), (2, 3), (2, 3)]
    assert parts(mpi, ONE_PACKAGE, "guided", "no such thing") == [None] * 4


def test_ranks_in_cgroups_of_different_packages_are_not_merged(mpi: FakedMpi, tmp_path: Path) -> None:
    """In both views the package, its caches and its cores have hwloc's logical number 0."""
    steps = [
        {"type": "NUMANode", "comms": [[0, 1], [2, 3]]},
        {"type": "Core", "comms": [[0], [1], [2], [3]]},
        {"comms": []},
    ]
    assert dumped(run_bound(mpi, CGROUPS, "levels_dump", timeout=60)) == expected(steps, 4)


def test_mpich_itself_merges_cgroups(mpi: FakedMpi, tmp_path: Path) -> None:
    """Where the launcher does not hand its own view to the ranks. Ours is right there as well."""
    forker = Path(mpi.mpiexec).with_name("mpiexec.gforker")
    known_bugs.need(mpi, "gforker-merges-cgroups")
    if not forker.exists():
        pytest.skip(f"{forker} is not there")
    CGROUPS.make_views(tmp_path)
    variables = mpi.variables(CGROUPS)
    view = Path(__file__).with_name("own_view")

    def first_level(program: str) -> set[tuple[int, ...] | None]:
        command = [forker, "-n", "4", view, tmp_path, mpi.program(program), "unguided"]
        return set(answers(finish(list(map(str, command)), variables, 30))[1].values())

    assert first_level("native") == {(0, 2), (1, 3)}
    assert first_level("guided") == {(0, 1), (2, 3)}
