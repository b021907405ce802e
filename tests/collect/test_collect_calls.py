"""Collectives carried out by schedules have the results of the native ones."""

import subprocess
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.collect_log import served
from tests.helpers.collect_programs import run
from tests.helpers.mpis import Mpi

MOST_KEPT = 8192  # bytes, with a communicator that has not been tuned


@pytest.mark.parametrize("seed", [1, 2])
def test_random_calls(mpi: Mpi, seed: int) -> None:
    """Any collective, datatype, operation, root, count, algorithm, form and grouping, with canaries."""
    worlds = {4: 400, 5: 400, 16: 160} if known_bugs.spins(mpi) else {16: 800}
    expected = ["serial"] if known_bugs.has(mpi, "in-place-reductions-crash") else []
    for ranks, cases in worlds.items():
        said = run(mpi, ranks, mpi.program("collect_random"), seed, cases, *expected)
        assert int(said.split()[1]) > cases * 3 // 4


REDUCTIONS = "allreduce=messages:recursive-doubling:groups=1;reduce=messages:binomial:groups=1;"
REDUCTIONS += "reduce_scatter=messages:pairwise:groups=1"


@pytest.mark.parametrize("rule", [REDUCTIONS, "shared:binomial"], ids=["messages", "shared"])
def test_every_operation_on_every_type(mpi: Mpi, rule: str, tmp_path: Path) -> None:
    """The predefined ones of C and Fortran."""
    log = tmp_path / "log"
    ranks = 3 if known_bugs.spins(mpi) else 5
    said = run(mpi, ranks, mpi.program("collect_operations"), rule=rule, log=log)
    kinds = int(said.split()[1]) // (2 + ranks)
    of_c = 18 * 10 + 3 * 7 + 3 * 4 + 3 * 2 + 3 + 3 + 6 * 2
    of_fortran = 5 * 7 + 4 * 4 + 4 * 2 + 3 + 2
    assert kinds == of_c + of_fortran
    assert served(log) == {"reduce": kinds * ranks, "allreduce": kinds, "reduce_scatter": kinds}


SHARED = "allreduce=shared:recursive-doubling;reduce=shared:binomial"


@pytest.mark.parametrize("rule", [REDUCTIONS, SHARED], ids=["messages", "shared"])
def test_communicators_are_freed_while_reductions_are_in_flight(mpi: Mpi, rule: str, tmp_path: Path) -> None:
    """Open MPI's own do not survive that."""
    ranks = 3 if known_bugs.spins(mpi) else 5
    found = []
    for what in ("nothing-more", "freed-reductions"):
        log = tmp_path / what
        run(mpi, ranks, mpi.program("collect_calls"), 1, what, rule=rule, log=log)
        found.append(served(log))
    # One that blocks and one that does not.
    assert all(found[1][name] - found[0][name] == 2 for name in ("reduce", "allreduce"))


RULES = ["native", "auto", "messages:binomial:groups=1", "messages:flat:groups=2", "levels:groups=2", "shared:binomial"]


@pytest.mark.parametrize("rule", RULES)
def test_public_calls(mpi: Mpi, rule: str) -> None:
    """Blocking, nonblocking and persistent calls, their errors, and communicators freed meanwhile."""
    freed = ["freed"] if rule.startswith(("messages", "shared")) else []
    run(mpi, 3 if known_bugs.spins(mpi) else 5, mpi.program("collect_calls"), 10, *freed, rule=rule)


@pytest.mark.parametrize("rule", ["levels:groups=2", "levels:groups=3"])
def test_levels_have_one_form_of_call(mpi: Mpi, rule: str) -> None:
    """The MPI's blocking calls do not match its nonblocking ones: all members of a level make the same."""
    run(mpi, 4 if known_bugs.spins(mpi) else 5, mpi.program("collect_forms"), rule=rule)


BY_MESSAGES = "broadcast=messages:binomial:groups=1;allreduce=messages:ring:groups=1"


@pytest.mark.parametrize("rule", ["native", "auto", BY_MESSAGES, "shared:binomial"])
def test_persistent_calls_alone(mpi: Mpi, rule: str, tmp_path: Path) -> None:
    """They use the variant that was set; a start after the communicator has been freed is refused."""
    log = tmp_path / "log"
    run(mpi, 3, mpi.program("collect_calls"), 50, "persistent", rule=rule, log=log)
    by_us = 0 if rule in {"native", "auto"} else 50
    assert served(log) == {"broadcast": by_us, "allreduce": by_us}


def test_contexts_do_not_leak(mpi: Mpi) -> None:
    """More duplicates, one after the other, than MPICH has communicators."""
    run(mpi, 2, mpi.program("collect_calls"), 2500, rule="messages:binomial:groups=1")


def test_a_communicator_that_is_not_tuned_keeps_little(mpi: Mpi) -> None:
    """Whatever is called on it; and nothing once it is freed."""
    command = mpi.launch(2, mpi.program("collect_state"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    kept, left = map(int, done.stdout.split())
    assert 4000 < kept <= MOST_KEPT  # the table alone has 4,800
    assert left <= 0
