"""Collectives through shared memory, on real MPIs, against the results of the native calls."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.collect_log import served, skip_if_overdrawn
from tests.helpers.collect_programs import SECONDS
from tests.helpers.emulated_cluster import MiniCluster, cluster_up
from tests.helpers.mpis import AS_ROOT, Mpi, RunResult


def run(command: list[str], timeout: float = SECONDS, **variables: str) -> RunResult:
    """The result of a command."""
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=environment)


def expect_agreement(result: RunResult, least: int) -> None:
    """The program did so many operations and found no difference."""
    assert result.returncode == 0, f"exit {result.returncode}: {result.stdout}{result.stderr}"
    found = re.search(r"(\d+) operations, 0 wrong results", result.stdout)
    assert found, result.stdout
    assert int(found[1]) >= least


# MPICH's waiting ranks spin, which takes long where they outnumber the cores, and among four and more its own
# MPI_Gather of large pairs with gaps (MPI_DOUBLE_INT) fails with a truncation error; the operations drawn for four have
# none.
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8, 13, 16])
def test_results_are_those_of_the_mpi(mpi: Mpi, ranks: int) -> None:
    """Every collective, root, datatype, operation and size in random order, one by one and several at a time."""
    rounds, most = 200 if ranks <= 5 else 100, []
    if known_bugs.spins(mpi):
        rounds, most = (60, []) if ranks <= 4 else (20, [1000])
    words = mpi.launch(ranks, mpi.program("shared_check"), "shared:binomial", ranks, rounds, *most)
    result = run(words)
    if ranks == 1:
        assert result.stdout == "no team\n"
    else:
        expect_agreement(result, rounds)


def test_large_vectors_take_many_rounds(mpi: Mpi) -> None:
    """Megabytes a rank: far more than fits into shared memory at a time."""
    expect_agreement(run(mpi.launch(3, mpi.program("shared_check"), "shared:binomial", 7, 20, 8 << 20)), 20)


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_more_data_than_the_buffer_holds_is_an_error(mpi: Mpi, ranks: int) -> None:
    """MPI's error class where data is lost, nothing written beyond the buffer, and later calls are right."""
    if ranks > 3:
        known_bugs.skip(mpi, "waiting-ranks-spin")
    result = run(mpi.launch(ranks, mpi.program("shared_truncated")))
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stdout + result.stderr


@pytest.mark.parametrize("ranks", [2, 3])
def test_elements_that_fit_into_no_cell_are_no_trial(mpi: Mpi, ranks: int, tmp_path: Path) -> None:
    """Among reductions of one kind, those that shared memory cannot take stay native."""
    if ranks > 2:
        known_bugs.skip(mpi, "waiting-ranks-spin")
    log = tmp_path / "collect.log"
    result = run(mpi.launch(ranks, mpi.program("shared_unusual")), RANKTREE_COLL_LOG=str(log))
    if result.stdout == "short elements were not tried\n":
        known_bugs.skip(mpi, "waiting-ranks-spin")
        skip_if_overdrawn(log.read_text(encoding="utf-8"))
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stdout + result.stderr


@pytest.mark.parametrize("alone", [True, False], ids=["on processors of their own", "on one processor"])
def test_a_waiting_rank_lets_the_mpi_go_on(mpi: Mpi, alone: bool) -> None:
    """A large message in flight while its sender waits in shared memory, spinning or asleep."""
    command = mpi.launch(2, mpi.program("shared_trap"))
    if mpi.family == "openmpi":
        command[1:1] = ["--mca", "btl", "tcp,self"]
    if not alone:
        command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *command]
    result = run(command)
    assert (result.returncode, result.stdout) == (0, "no trap\n"), result.stderr


def polls_before_the_first_yield(mpi: Mpi, ranks: int, *before: str, wrapper: tuple[str, ...] = ()) -> int:
    """How often a rank that waits has let the MPI go on by then: not at all where it does not spin.

    Only our yields count: nothing is preloaded that has MPICH's.
    """
    result = run([*before, *mpi.launch(ranks, *wrapper, mpi.program("shared_spin"))], LD_PRELOAD="")
    found = re.fullmatch(r"(\d+) polls before the first yield\n", result.stdout)
    assert result.returncode == 0 and found, result.stdout + result.stderr
    return int(found[1])


def two_processors() -> list[int]:
    """Two that may be used here."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("one processor")
    return allowed[:2]


# Of each rank by itself.
BOUND = 'exec taskset -c $(( {} + ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} * {} )) "$@"'


def test_ranks_with_processors_of_their_own_spin(mpi: Mpi) -> None:
    first, second = two_processors()
    assert polls_before_the_first_yield(mpi, 2, "taskset", "-c", f"{first},{second}") > 0
    each = ("sh", "-c", BOUND.format(first, second - first), "sh")
    assert polls_before_the_first_yield(mpi, 2, wrapper=each) > 0


def test_ranks_that_outnumber_their_processors_yield_at_once(mpi: Mpi) -> None:
    """However many processors the machine has: those count that they may use."""
    first, second = two_processors()
    assert polls_before_the_first_yield(mpi, 2, "taskset", "-c", str(first)) == 0
    assert polls_before_the_first_yield(mpi, 3, "taskset", "-c", f"{first},{second}") == 0
    together = ("sh", "-c", BOUND.format(first, 0), "sh")
    assert polls_before_the_first_yield(mpi, 2, wrapper=together) == 0


def run_with_own_shm(script: str, kilobytes: int) -> subprocess.CompletedProcess[str]:
    """Runs a shell script where /dev/shm has that size and is used by nothing else."""
    if run(["unshare", "-m", "true"]).returncode != 0:
        pytest.skip("mounts cannot be made here")
    return run(["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size={kilobytes}k none /dev/shm && {script}"])


def by_sockets(launch: str) -> str:
    """Open MPI's messages need no /dev/shm then."""
    return launch.replace("--bind-to", "--mca btl tcp,self --bind-to", 1)


@pytest.mark.parametrize(("kilobytes", "answer"), [(64, "no team"), (2048, "no team"), (16384, "0 wrong results")])
def test_a_small_dev_shm_gives_no_team(mpi: Mpi, kilobytes: int, answer: str) -> None:
    """Where there is too little memory, or a team would take most of it, there is no team, and no rank gets SIGBUS."""
    known_bugs.skip(mpi, "needs-dev-shm")
    launch = " ".join(mpi.launch(4, mpi.program("shared_check"), "shared:binomial", 1, 8))
    result = run_with_own_shm(by_sockets(launch), kilobytes)
    assert result.returncode == 0, result.stderr
    assert answer in result.stdout


@pytest.mark.parametrize("rule", ["shared:binomial", "auto"])
def test_with_a_small_dev_shm_calls_stay_native(mpi: Mpi, rule: str, tmp_path: Path) -> None:
    """Calls with a rule for shared memory stay native, with the native results."""
    known_bugs.skip(mpi, "needs-dev-shm")
    log = tmp_path / "log"
    command = ("env", f"RANKTREE_COLL={rule}", f"RANKTREE_COLL_LOG={log}")
    launch = " ".join(mpi.launch(4, *command, mpi.program("collect_calls"), 10))
    result = run_with_own_shm(by_sockets(launch), kilobytes=64)
    assert (result.returncode, result.stdout[:2]) == (0, "ok"), result.stdout + result.stderr
    if rule == "auto":
        assert "shared:" not in log.read_text()
    else:
        assert set(served(log).values()) == {0}


def test_nothing_is_left_in_dev_shm(mpi: Mpi) -> None:
    """The segment has no name any more once it is in use."""
    launch = " ".join(mpi.launch(2, mpi.program("shared_check"), "shared:binomial", 1, 4))
    result = run_with_own_shm(f"{launch} && ls -A /dev/shm >&2", kilobytes=1 << 20)
    expect_agreement(result, 4)
    assert "ranktree-" not in result.stderr


@pytest.fixture(scope="module")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory):
    """Four emulated nodes."""
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    options = ("--nodes", 4, "--rate", 2000, "--latency", 20, "--cpus", 4)
    with cluster_up(build_folder, tmp_path_factory.mktemp("shared"), *options) as made:
        yield made


@pytest.mark.parametrize(
    ("ranks", "mapping", "choice"),
    [
        (15, "slot", "shared:binomial:segment=8K"),
        (15, "node", "shared:chain:segment=32K"),
        (13, "node", "shared:ring:segment=64K"),
        (16, "slot", "shared:pipeline:segment=16K"),
        (9, "slot", "shared:rabenseifner"),
        (5, "node", "shared:flat:segment=1K"),
    ],
)
def test_leaders_carry_it_across_nodes(
    cluster: MiniCluster, build_folder: Path, monkeypatch: pytest.MonkeyPatch, ranks: int, mapping: str, choice: str
) -> None:
    """Unequal nodes, packed and in turn, segments of many sizes."""
    for name, value in AS_ROOT.items():
        monkeypatch.setenv(name, value)
    launch = ["-np", ranks, "--map-by", mapping, "--hostfile", cluster.state / "hostfile"]
    program = build_folder / "bin" / "shared_check_openmpi"
    expect_agreement(cluster.call("mpirun", *launch, program, choice, ranks, 48, timeout=SECONDS), 30)
