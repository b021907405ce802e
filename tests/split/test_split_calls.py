"""What the calls promise whatever the machine: errors alike on all ranks, nothing lost, the definition kept."""

import pytest
from fakes import Machine, Mpi, RunResult

TWO_PACKAGES = "pack:2 core:4 pu:1"
BOUND = [[0], [1, 2], [4], [5], [0, 1, 2, 3], [7], [3]]
RANKS = [1, 3, 7]


def expect(result: RunResult, word: str) -> None:
    """The program ended well and said so."""
    assert result.returncode == 0, f"exit {result.returncode}: {result.stdout}{result.stderr}"
    assert word in result.stdout


def ranks_for(mpi: Mpi, most: int) -> int:
    """Open MPI's waiting ranks yield; those of the others spin, and more of them than cores take minutes."""
    return most if mpi.family == "openmpi" else min(most, 2)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_errors_have_the_same_class_on_all_ranks_and_leave_outputs_alone(mpi: Mpi, ranks: int) -> None:
    expect(mpi.run(Machine(TWO_PACKAGES, BOUND[:ranks]), "errors"), "errors agree")


@pytest.mark.parametrize("broken", [0, 2])
def test_hwloc_failing_on_one_rank_fails_on_all(mpi: Mpi, broken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_BROKEN_RANK", str(broken))
    expect(mpi.run(Machine(TWO_PACKAGES, BOUND[:3]), "errors", "hwloc"), "errors agree")


def test_ten_thousand_splits_lose_no_communicator_and_no_memory(mpi: Mpi) -> None:
    machine = Machine(TWO_PACKAGES, BOUND[: ranks_for(mpi, 3)])
    expect(mpi.run(machine, "life", "repeat", 10000, timeout=200), "repeat done")


def test_threads_split_their_own_communicators(mpi: Mpi) -> None:
    machine = Machine(TWO_PACKAGES, BOUND[: ranks_for(mpi, 3)])
    result = mpi.run(machine, "life", "threads", timeout=200)
    if result.returncode == 77:
        pytest.skip(f"{mpi.name} gives no MPI_THREAD_MULTIPLE")
    expect(result, "threads done")


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", ["alone", "broadcast"])
def test_one_rank_and_all_ranks(mpi: Mpi, case: str, ranks: int) -> None:
    if (case, ranks) == ("broadcast", 1):
        pytest.skip("one rank has no level to broadcast over")
    expect(mpi.run(Machine(TWO_PACKAGES, BOUND[:ranks]), "life", case), f"{case} done")


def test_copies_keep_their_level(mpi: Mpi) -> None:
    expect(mpi.run(Machine(TWO_PACKAGES, BOUND[:3]), "life", "copies"), "copies done")


def test_a_rank_that_takes_no_part_may_be_bound_anyhow(mpi: Mpi) -> None:
    machine = Machine("pack:2 l3:2 core:3 pu:1", [[0], [1], [2], []])
    expect(mpi.run(machine, "life", "absent"), "absent done")


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_that_bind_themselves_anew_are_found_and_never_bound(mpi: Mpi, ranks: int) -> None:
    expect(mpi.run(Machine(TWO_PACKAGES, [[]] * ranks), "life", "rebinding", 8), "rebinding done")


def test_programs_of_sessions_only(mpi: Mpi) -> None:
    # A second session after the last one ends: MPI_Session_init itself crashes but in MPICH 5.
    rounds = 2 if mpi.name in {"mpich5", "mpichabi"} else 1
    result = mpi.run(Machine(TWO_PACKAGES, BOUND[:3]), "life", "sessions", rounds)
    if result.returncode == 124 and rounds == 2:
        # Two of about 200 runs of MPICH 5 with a second session did not end on a loaded machine, where is not known.
        result = mpi.run(Machine(TWO_PACKAGES, BOUND[:3]), "life", "sessions", rounds)
    if mpi.name == "openmpi":
        assert result.returncode != 0
        pytest.skip("Open MPI 4 has no sessions")
    expect(result, "sessions done")


@pytest.mark.parametrize(
    "machine", ["pack:2 group:2 [numa] l3:1 l2:2 core:1 pu:2", "pack:2 [numa] [numa] l3:2 core:3 pu:1", "core:300 pu:4"]
)
@pytest.mark.parametrize("ranks", [3, 8])
def test_random_bindings_and_communicators_split_as_defined(mpi: Mpi, machine: str, ranks: int) -> None:
    if mpi.name == "mpich" and ranks > 3:
        pytest.skip("Debian's MPICH spins: more ranks than cores take it minutes")
    rounds = 2 if mpi.name == "mpich" else 20
    result = mpi.run(Machine(machine, [[]] * ranks), "random", 20181, rounds, timeout=100)
    expect(result, f"{rounds} rounds agree")


def test_more_parts_than_a_summary_lists(mpi: Mpi) -> None:
    if mpi.name != "openmpi":
        pytest.skip("the lists are ours: 66 ranks of the MPI that takes least with them, whose ranks yield")
    machine = Machine("pack:2 core:36 pu:1", [[core] for core in range(33)] + [[36 + core] for core in range(33)])
    expect(mpi.run(machine, "random", 3, 1, timeout=150), "1 rounds agree")
    flat = Machine("core:70 pu:1", [[core] for core in range(66)])
    expect(mpi.run(flat, "life", "broadcast", timeout=150), "broadcast done")
