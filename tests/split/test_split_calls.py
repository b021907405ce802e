"""What the calls promise whatever the machine: errors alike on all ranks, nothing lost, the definition kept."""

import pytest

from tests.helpers import known_bugs
from tests.helpers.faked_mpis import FakedMpi, Machine, RunResult

TWO_PACKAGES = "pack:2 core:4 pu:1"
BOUND = [[0], [1, 2], [4], [5], [0, 1, 2, 3], [7], [3]]
RANKS = [1, 3, 7]


def expect(result: RunResult, word: str) -> None:
    """The program succeeded and printed so."""
    assert result.returncode == 0, f"exit {result.returncode}: {result.stdout}{result.stderr}"
    assert word in result.stdout


def ranks_for(mpi: FakedMpi, most: int) -> int:
    """Open MPI's waiting ranks yield; those of the others spin, and more of them than cores take minutes."""
    return min(most, 2) if known_bugs.spins(mpi) else most


@pytest.mark.smoke_on("openmpi", 3)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_errors_have_the_same_class_on_all_ranks_and_leave_outputs_alone(mpi: FakedMpi, ranks: int) -> None:
    expect(mpi.run(Machine(TWO_PACKAGES, BOUND[:ranks]), "errors"), "errors agree")


@pytest.mark.parametrize("broken", [0, 2])
def test_hwloc_failing_on_one_rank_fails_on_all(mpi: FakedMpi, broken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_BROKEN_RANK", str(broken))
    expect(mpi.run(Machine(TWO_PACKAGES, BOUND[:3]), "errors", "hwloc"), "errors agree")


def test_ten_thousand_splits_lose_no_communicator_and_no_memory(mpi: FakedMpi) -> None:
    """1,000 with the wheels' MPIs."""
    machine = Machine(TWO_PACKAGES, BOUND[: ranks_for(mpi, 3)])
    expect(mpi.run(machine, "life", "repeat", 1000 if mpi.is_wheel else 10000, timeout=200), "repeat done")


def test_threads_split_their_own_communicators(mpi: FakedMpi) -> None:
    machine = Machine(TWO_PACKAGES, BOUND[: ranks_for(mpi, 3)])
    result = mpi.run(machine, "life", "threads", timeout=200)
    if result.returncode == 77:
        pytest.skip(f"{mpi.name} gives no MPI_THREAD_MULTIPLE")
    expect(result, "threads done")


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", ["alone", "broadcast"])
def test_one_rank_and_all_ranks(mpi: FakedMpi, case: str, ranks: int) -> None:
    if (case, ranks) == ("broadcast", 1):
        pytest.skip("one rank has no level to broadcast over")
    expect(mpi.run(Machine(TWO_PACKAGES, BOUND[:ranks]), "life", case), f"{case} done")


def test_copies_keep_their_level(mpi: FakedMpi) -> None:
    expect(mpi.run(Machine(TWO_PACKAGES, BOUND[:3]), "life", "copies"), "copies done")


def test_a_rank_that_takes_no_part_may_be_bound_anyhow(mpi: FakedMpi) -> None:
    machine = Machine("pack:2 l3:2 core:3 pu:1", [[0], [1], [2], []])
    expect(mpi.run(machine, "life", "absent"), "absent done")


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_that_bind_themselves_anew_are_found_and_never_bound(mpi: FakedMpi, ranks: int) -> None:
    expect(mpi.run(Machine(TWO_PACKAGES, [[]] * ranks), "life", "rebinding", 8), "rebinding done")


def test_programs_of_sessions_only(mpi: FakedMpi) -> None:
    flaky = known_bugs.has(mpi, "extra-session-hangs")
    rounds = 1 if known_bugs.has(mpi, "second-session-crashes") else 2
    result = mpi.run(Machine(TWO_PACKAGES, BOUND[:3]), "life", "sessions", rounds)
    if result.returncode == 124 and flaky:
        result = mpi.run(Machine(TWO_PACKAGES, BOUND[:3]), "life", "sessions", rounds)
    if known_bugs.has(mpi, "no-sessions"):
        assert result.returncode != 0
        known_bugs.skip(mpi, "no-sessions")
    expect(result, "sessions done")


@pytest.mark.parametrize(
    "machine", ["pack:2 group:2 [numa] l3:1 l2:2 core:1 pu:2", "pack:2 [numa] [numa] l3:2 core:3 pu:1", "core:300 pu:4"]
)
@pytest.mark.parametrize("ranks", [3, 8])
def test_random_bindings_and_communicators_split_as_defined(mpi: FakedMpi, machine: str, ranks: int) -> None:
    if ranks > 3:
        known_bugs.skip(mpi, "waiting-ranks-spin")
    rounds = 4 if known_bugs.spins(mpi) else 20
    result = mpi.run(Machine(machine, [[]] * ranks), "random", 20181, rounds, timeout=100)
    expect(result, f"{rounds} rounds agree")


def test_more_parts_than_a_summary_lists(mpi: FakedMpi) -> None:
    if mpi.family != "openmpi" or mpi.is_wheel:
        pytest.skip("the lists are ours: 66 ranks of the MPI that takes least with them, whose ranks yield")
    machine = Machine("pack:2 core:36 pu:1", [[core] for core in range(33)] + [[36 + core] for core in range(33)])
    expect(mpi.run(machine, "random", 3, 1, timeout=150), "1 rounds agree")
    flat = Machine("core:70 pu:1", [[core] for core in range(66)])
    expect(mpi.run(flat, "life", "broadcast", timeout=150), "broadcast done")
