"""One program in C and in Fortran's three bindings, on each MPI: exactly the matrix calculated by hand."""

import pytest

from tests.helpers.mpis import DEBIAN
from tests.helpers.trace_files import CASES, Record, add, check

DOUBLE = 8
FORTRAN = ("patterns_mpif", "patterns_usempi", "patterns_f08")


def grid(ranks: int) -> tuple[int, int]:
    """The most square grid with no more rows than columns."""
    rows = max(i for i in range(1, ranks + 1) if i * i <= ranks and ranks % i == 0)
    return rows, ranks // rows


def expected(ranks: int) -> Record:  # noqa: C901 - four programs one after the other
    """The traffic of programs/patterns.c, from its description."""
    record = Record()
    rows, columns = grid(ranks)
    world = tuple(range(ranks))

    def call(operation: str, root: int, size: int, members: tuple[int, ...], times: int = 1) -> None:
        count = len(members) * times
        add(record.calls, (operation, root, size.bit_length(), members, ()), count, count * size)

    for rank in world:
        row, column = divmod(rank, columns)
        add(record.pairs, ("p2p", rank, (rank + 1) % ranks), 10, 10 * 100 * DOUBLE)
        for down, right in ((1, 0), (0, 1)):
            if row + down < rows and column + right < columns:
                neighbor = (row + down) * columns + column + right
                add(record.pairs, ("p2p", rank, neighbor), 6, sum(5 * k for k in range(1, 7)) * DOUBLE)
        partner = column * columns + row if rows == columns else ranks - 1 - rank
        add(record.pairs, ("p2p", rank, partner), 5, 5 * 75 * DOUBLE)
        for other in range(columns):
            add(record.pairs, ("p2p", rank, row * columns + other), 3, 3 * DOUBLE)
        for other in world:
            if other != rank:
                add(record.pairs, ("collective", rank, other), 1, (1 + (rank + other) % 2) * DOUBLE)
    for row in range(rows):
        members = tuple(row * columns + column for column in reversed(range(columns)))
        call("Allreduce", -1, 2 * DOUBLE, members, 5)
    call("Bcast", ranks - 1, 7 * 4, world)
    call("Alltoall", -1, 4 * DOUBLE, world)
    call("Allreduce", -1, 3 * DOUBLE, world)
    call("Barrier", -1, 0, world)
    return record


# Square and other grids in C; the bindings differ in their wrappers, not in the number of ranks.
PATTERNS = [("patterns", *case) for case in (*CASES, ("openmpi", 4), ("openmpi", 6))]
PATTERNS += [(binding, name, ranks) for binding in FORTRAN for name in DEBIAN for ranks in (3, 4)]


@pytest.mark.parametrize(("binding", "mpi", "ranks"), PATTERNS, indirect=["mpi"])
def test_every_binding_gives_the_matrix_calculated_by_hand(binding, ranks, mpi, traced):
    if binding != "patterns" and not mpi.mpifort:
        pytest.skip(f"{mpi.name} has no Fortran here")
    check(traced(ranks, mpi.program(f"trace_{binding}")), expected(ranks))
