"""Commands under a real Slurm: its controller and daemons on the nodes of an emulated cluster."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.emulated_cluster import MiniCluster, cluster_up
from tests.helpers.launches import places, planned
from tests.helpers.trace_files import read_trace

RANKS = 8
CYCLIC = ["n0", "n1", "n2", "n3"] * 2
EACH_INTERFACE = pytest.mark.parametrize(("interface", "mpi_name"), [("pmix", "openmpi"), ("pmi2", "mpich5")])


@pytest.fixture(scope="module")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Four nodes of two cores under Slurm."""
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), "--nodes", 4, "--per-switch", 2) as made:
        made.start_slurm("--cpus", 2)
        yield made


@EACH_INTERFACE
def test_a_trace_has_the_hosts_of_a_cyclic_distribution(
    slurm, command, rings_of, tmp_path, interface, mpi_name
) -> None:
    words = ["srun", f"--mpi={interface}", "-n", RANKS, "-m", "cyclic", *rings_of(mpi_name)]
    result = slurm(command, "trace", "-o", tmp_path / "app.npz", "--", *words)
    assert result.returncode == 0, result.stderr
    trace = read_trace(tmp_path / "app.npz")
    assert trace.metadata["complete"] is True
    assert trace.metadata["hosts"] == CYCLIC


@pytest.mark.parametrize("interface", ["pmix", "pmi2"])
def test_where_shows_what_srun_did(slurm, command, interface) -> None:
    result = slurm(command, "where", "--json", "--", "srun", f"--mpi={interface}", "-m", "cyclic", "-n", RANKS, "true")
    found = json.loads(result.stdout)
    assert [rank["host"] for rank in found["ranks"]] == CYCLIC


@EACH_INTERFACE
def test_a_pattern_is_placed_in_a_batch_job(slurm, batch, command, rings_of, tmp_path, interface, mpi_name) -> None:
    """--verify compares every rank with the plan before the program starts; srun finds it by --chdir."""
    program, *arguments = rings_of(mpi_name)
    words = ["-D", Path(program).parent, "-n", RANKS, f"./{Path(program).name}", *arguments]
    launch = ["srun", f"--mpi={interface}", *words]
    traced = slurm(command, "trace", "-o", tmp_path / "app.npz", "--", *launch)
    assert traced.returncode == 0, traced.stderr
    text = batch(command, "run", "--pattern", tmp_path / "app.npz", "--verify", "--", *launch)
    assert f"rings: {RANKS} ranks" in text


@pytest.mark.parametrize(
    ("slots", "bound_by"),
    [
        ([(host, [pu]) for pu in (1, 0) for host in ("n2", "n0", "n3", "n1")][:7], "--cpu-bind=map_cpu:1,0"),
        ([("n3", [0, 1]), ("n1", [0, 1]), ("n3", [1])], "--cpu-bind=mask_cpu:0x3,0x2"),
        ([("n3", [1]), ("n1", [0]), ("n3", [0])], "/ranktree-bind"),
    ],
    ids=["map", "mask", "wrapper"],
)
def test_a_job_binds_by_slurms_own_list_where_one_fits(batch, command, make_plan, where, slots, bound_by) -> None:
    """Seven ranks on four nodes, of which the last has one; several PUs; nodes that differ."""
    text = batch(command, "run", "--plan", make_plan(slots), "--show", "--", "srun", "-n", len(slots), where)
    assert places(text) == planned(slots)
    assert bound_by in text
    assert ("ranktree-bind" in text) == (bound_by == "/ranktree-bind")


@EACH_INTERFACE
def test_optimize_in_a_batch_job(batch, command, rings_of, tmp_path, interface, mpi_name) -> None:
    launch = ["srun", f"--mpi={interface}", "-n", RANKS, *rings_of(mpi_name)]
    text = batch(command, "optimize", "-o", tmp_path / "opt", "--", *launch)
    assert (tmp_path / "opt" / "report.html").is_file(), text


@pytest.mark.parametrize("check", [[], ["--verify"], ["--verify-hosts"]], ids=["unverified", "verified", "hosts"])
def test_a_rank_that_cannot_be_placed_ends_the_step_at_once(slurm, command, make_plan, check) -> None:
    """The other ranks sleep for longer than this test may take."""
    plan = make_plan([("n0", [0]), ("n1", [0]), ("n2", [1000]), ("n3", [0])])
    start = time.monotonic()
    result = slurm(command, "run", "--plan", plan, *check, "--", "srun", "-n", 4, "sleep", 600)
    assert time.monotonic() - start < 100, "ended by the time limit"
    assert result.returncode != 0
    assert result.stderr.count("ranktree: rank 2: cannot bind to PUs 1000 on n2") == 1


def test_a_pattern_is_placed_on_an_uneven_allocation(slurm, batch, command, rings, tmp_path) -> None:
    """Five ranks on three of the nodes; --verify compares every rank with the plan."""
    launch = ["srun", "--mpi=pmix", "-N", 3, "-n", 5, *rings]
    traced = slurm(command, "trace", "-o", tmp_path / "app.npz", "--", *launch)
    assert traced.returncode == 0, traced.stderr
    hosts = read_trace(tmp_path / "app.npz").metadata["hosts"]
    assert sorted(Counter(hosts).values()) == [1, 2, 2]
    text = batch(command, "run", "--pattern", tmp_path / "app.npz", "--verify", "--", *launch)
    assert "rings: 5 ranks" in text


@contextmanager
def declared_down(cluster: MiniCluster, slurm: Callable) -> Iterator[None]:
    """An administrator takes n2 away."""
    slurm("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=test")
    try:
        yield
    finally:
        slurm("scontrol", "update", "NodeName=n2", "State=RESUME")


@contextmanager
def dead(cluster: MiniCluster, slurm: Callable) -> Iterator[None]:
    """The daemon, the step and the rank on n2 are killed; Slurm notices by the silence."""
    configuration = cluster.state / "slurm" / "slurm.conf"
    before = configuration.read_text(encoding="utf-8")
    sooner = before.replace("SlurmdTimeout=300", "SlurmdTimeout=10")
    assert sooner != before
    try:
        configuration.write_text(sooner, encoding="utf-8")
        slurm("scontrol", "reconfigure")
        cluster.need("exec", "n2", "sh", "-c", "kill -9 $(ps -e -o pid=,comm= | awk '/slurm|trace_ends/ { print $1 }')")
        yield
    finally:
        configuration.write_text(before, encoding="utf-8")
        slurm("scontrol", "reconfigure")
        cluster.need("exec", "n2", "slurmd", "-f", configuration)
        wait_for_idle(slurm, "n2")


def wait_for_idle(slurm: Callable, node: str) -> None:
    """Until it takes the next test's steps."""
    deadline = time.monotonic() + 60
    while slurm("sinfo", "-h", "-n", node, "-o", "%t").stdout.strip() != "idle":
        assert time.monotonic() < deadline, slurm("scontrol", "show", "node", node).stdout
        time.sleep(0.2)


@pytest.mark.parametrize("failure", [declared_down, dead])
def test_a_node_that_fails_in_a_run_leaves_a_partial_trace(
    cluster, slurm, command, build_folder, tmp_path, failure
) -> None:
    program = build_folder / "bin" / "trace_ends_openmpi"
    if not program.exists():
        pytest.skip(f"{program.name} is not built")
    launch = ["srun", "--mpi=pmix", "-N", 3, "-n", 3, "-w", "n[0-2]", program, "wait", 0]
    with ThreadPoolExecutor() as pool:
        running = pool.submit(slurm, command, "trace", "-o", tmp_path / "app.npz", "--", *launch)
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("app.npz.parts/*")) and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(5)  # all ranks are in MPI, and have sent their messages
        with failure(cluster, slurm):
            result = running.result()
    assert result.returncode != 0
    trace = read_trace(tmp_path / "app.npz")
    assert trace.metadata["complete"] is False
    assert "partial" in result.stderr


def test_a_heterogeneous_step_is_refused(slurm, command, make_plan) -> None:
    plan = make_plan([("n0", [0]), ("n1", [0])])
    result = slurm(command, "run", "--plan", plan, "--", "srun", "-n", 1, "true", ":", "-n", 1, "true")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "ranktree: srun: several programs in one command (':') are not supported\n"
