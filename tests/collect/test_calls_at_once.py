"""Several collectives at a time: completed in any order, by several threads, on freed communicators, after errors."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.collect_log import require_tried, served
from tests.helpers.collect_programs import SECONDS, run
from tests.helpers.mpis import Mpi

OURS = ["messages:binomial:groups=1", "messages:flat:groups=2", "shared:binomial"]


@pytest.mark.parametrize("rule", OURS)
def test_ranks_complete_requests_in_different_orders(mpi: Mpi, rule: str) -> None:
    """A rank that waits for one operation passes on its part of all others."""
    ranks, rounds = (3, 60) if known_bugs.spins(mpi) else (5, 120)
    run(mpi, ranks, mpi.program("at_once_orders"), 3, rounds, rule=rule)


@pytest.mark.parametrize("rule", [*OURS, "auto"])
def test_threads_have_communicators_of_their_own(mpi: Mpi, rule: str) -> None:
    """MPI_THREAD_MULTIPLE: every thread drives all operations in flight."""
    # MPICH's waiting threads spin: few of them, and not for long.
    threads, rounds = (2, 10) if known_bugs.spins(mpi) else (3, 60)
    run(mpi, 3, mpi.program("at_once_threads"), threads, rounds, rule=rule)


def test_more_bytes_than_an_int_counts(mpi: Mpi, require_gigabytes: Callable[[int], None]) -> None:
    """Messages and shared memory of more than 2 GiB, in few elements and in many."""
    require_gigabytes(8)
    run(mpi, 2, mpi.program("at_once_huge"))


BLOCKS = "gather=messages:binomial:groups=1;scatter=shared:binomial;allgather=shared:binomial;"
BLOCKS += "alltoall=messages:flat:groups=1;reduce_scatter=shared:binomial"


@pytest.mark.parametrize("collective", ["gather", "scatter", "allgather", "alltoall", "reduce_scatter"])
def test_more_bytes_in_all_blocks_than_an_int_counts(
    mpi: Mpi, collective: str, tmp_path: Path, require_gigabytes: Callable[[int], None]
) -> None:
    """A block's count is an int, of all blocks it is none."""
    require_gigabytes(8)
    log = tmp_path / "log"
    run(mpi, 2, mpi.program("at_once_huge_blocks"), collective, rule=BLOCKS, log=log)
    assert served(log)[collective] == 1


def test_communicators_are_left_for_the_program(mpi: Mpi) -> None:
    """Contexts of a process are limited: MPICH has about 2,045 communicators in all."""
    run(mpi, 2, mpi.program("collect_calls"), 1, "alive", 900, rule="messages:binomial:groups=1")


def test_errors_are_returned_by_their_own_calls(mpi: Mpi) -> None:
    """Truncation between nodes and inside; other ranks go on. Then operands that are aligned."""
    run(mpi, 5, mpi.program("at_once_failed"), rule="native")


BETWEEN = "bcast=auto allreduce=messages:ring:groups=1 reduce=shared:binomial barrier=levels:groups=2"


@pytest.mark.parametrize("call", ["flag", "first", "init", "team", "levels", "trials"])
def test_calls_that_synchronise_drive_operations_in_flight(mpi: Mpi, call: str) -> None:
    """One rank makes the call before it waits, the others after they have waited."""
    run(mpi, 3, mpi.program("at_once_between"), call, rule=BETWEEN)


@pytest.mark.usefixtures("awake")
def test_trials_across_nodes_drive_operations_in_flight(mpi: Mpi, tmp_path: Path) -> None:
    """Ranks that agree on a trial progress what is in flight on another communicator."""
    log = tmp_path / "log"
    spins = known_bugs.spins(mpi)
    run(mpi, 3, mpi.program("at_once_nodes"), 200 if spins else 10000, rule=BETWEEN, log=log)
    if not spins:  # their set-up takes longer than all calls may
        require_tried(log, "broadcast")


IN_LANES = "alltoall=messages:flat:form=lanes"


def test_blocks_of_unequal_sizes_end_as_the_mpis(mpi: Mpi, tmp_path: Path) -> None:
    """Alltoallv between nodes of 3 and 2 ranks: sizes around the length from which blocks travel alone."""
    log = tmp_path / "log"
    within = ["within"] if known_bugs.has(mpi, "truncated-messages-overrun") else []
    run(mpi, 5, mpi.program("at_once_unequal"), *within, rule=IN_LANES, log=log)
    assert served(log) == {"alltoall": 100 - 4 * 7 * len(within)}


@pytest.mark.usefixtures("awake")
def test_auto_tries_blocks_of_unequal_sizes_between_nodes(mpi: Mpi, tmp_path: Path) -> None:
    log = tmp_path / "log"
    spins = known_bugs.spins(mpi)
    run(mpi, 3, mpi.program("at_once_unequal"), "often", 200 if spins else 20000, rule="auto", log=log)
    if not spins:
        require_tried(log, "alltoall")


def test_user_functions_see_the_programs_datatype(mpi: Mpi) -> None:
    run(mpi, 3, mpi.program("at_once_between"), "type", rule="allreduce=messages:recursive-doubling:groups=1")


def test_the_reason_of_an_error_is_its_own(mpi: Mpi) -> None:
    known_bugs.skip(mpi, "no-argument-checks")
    run(mpi, 2, mpi.program("at_once_between"), "message")


@pytest.mark.parametrize("before", [0, 1, 2, 3, 4, 9])
def test_reproducible_can_be_set_under_the_preload_library(ranktree, mpi: Mpi, before: int) -> None:
    """Whichever call of the communicator is the one with which the library begins to serve it."""
    command = mpi.launch(5, mpi.program("at_once_between"), "preloaded", before)
    done = ranktree("run", "--collectives", "auto", "--", *command, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ok"), done.stdout + done.stderr
