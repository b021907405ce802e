"""Commands under a real Slurm: its controller and daemons on the nodes of an emulated cluster."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.collect_log import served
from tests.helpers.emulated_cluster import MiniCluster, cluster_up
from tests.helpers.launches import places, planned
from tests.helpers.trace_files import read_trace

RANKS = 8
CYCLIC = ["n0", "n1", "n2", "n3"] * 2
UNEVEN = ("-w", "n0,n2,n3", "-N", 3, "-n", 5)  # one of the two CPUs of n3
# A step that cannot be placed must end in some SECONDS; its ranks could wait for MINUTES.
SECONDS, MINUTES = 60, 5
TESTS = Path(__file__).resolve().parents[1]
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
def test_a_batch_job_whose_calls_are_replaced(
    batch, command, compiled, rings_of, tmp_path, interface, mpi_name
) -> None:
    """Ranks dealt out one by one are reordered so that 2k and 2k + 1 share a node; collectives by a rule and `auto`."""
    rings_of(mpi_name)  # skips where there is no such MPI
    first = compiled(mpi_name, TESTS / "reorder" / "world" / "first.c", "-O1")
    every_call = compiled(mpi_name, TESTS / "collect" / "preload" / "every_call.c", "-O1")
    np.save(tmp_path / "pairs.npy", 1e6 * np.kron(np.eye(RANKS // 2), [[0, 1], [1, 0]]))
    dealt = ["--", "srun", f"--mpi={interface}", "-m", "cyclic", "-n"]
    lines = [
        [command, "where", "--json", *dealt, RANKS, first],
        [command, "run", "--reorder", tmp_path / "pairs.npy", *dealt, RANKS, first],
        [*dealt[1:], 5, every_call],
    ]
    for rule in ("levels", "auto"):
        words = ["--no-collectives-cache", "--collectives", rule, "--collectives-log", tmp_path / rule]
        lines.append([command, "run", *words, *dealt, 5, every_call])
    shown, *text = batch(" && ".join(" ".join(map(str, line)) for line in lines)).splitlines()
    assert [rank["host"] for rank in json.loads(shown)["ranks"]] == CYCLIC
    found = sorted(re.findall(r"^(\d) launched as (\d) on (\S+) got (\d)$", "\n".join(text), re.M))
    assert [int(received) for *_, received in found] == [RANKS - 1, *range(RANKS - 1)]
    hosts = [host for _, _, host, _ in found]
    assert hosts == [CYCLIC[int(launched)] for _, launched, *_ in found]
    assert hosts[::2] == hosts[1::2]
    native, by_rule, by_auto = (line for line in text if re.fullmatch("[0-9a-f]{16}", line))
    assert native == by_rule == by_auto
    assert all(served(tmp_path / "levels")[name] > 0 for name in ("broadcast", "allreduce"))
    # What `auto` may spend depends on how busy the machine is.
    lines = (tmp_path / "auto").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("ranktree: 5 ranks") for line in lines), lines


@EACH_INTERFACE
def test_optimize_in_a_batch_job(batch, command, rings_of, tmp_path, interface, mpi_name) -> None:
    launch = ["srun", f"--mpi={interface}", "-n", RANKS, *rings_of(mpi_name)]
    text = batch(command, "optimize", "-o", tmp_path / "opt", "--", *launch)
    assert (tmp_path / "opt" / "report.html").is_file(), text


def test_optimize_outside_a_job(slurm, command, rings, tmp_path) -> None:
    """Each ring is two ranks, which srun deals to two nodes; the plans that put them on one are verified and run."""
    launch = ["srun", "--mpi=pmix", "-m", "cyclic", "-n", RANKS, *rings, "--turns", 20]
    result = slurm(command, "optimize", "-o", tmp_path / "opt", "--runs", 1, "--json", "--", *launch)
    assert result.returncode == 0, result.stderr
    series = json.loads(result.stdout)["runs"]["series"]
    measured = {one["name"].partition(" for ")[0]: " ".join(one["command"]) for one in series}
    assert measured.keys() == {"before", "reordering", "plan"}
    assert "/ranktree-bind " in measured["plan"]
    plans = list((tmp_path / "opt").glob("plan.*.json"))
    assert plans
    for path in plans:
        hosts = [slot["host"] for slot in json.loads(path.read_text(encoding="utf-8"))["slots"]]
        assert hosts[::2] == hosts[1::2]


@pytest.mark.parametrize(
    ("check", "interface", "mpi_name"),
    [
        ([], "pmix", "openmpi"),
        ([], "pmi2", "mpich5"),
        (["--verify"], "pmix", "openmpi"),
        (["--verify-hosts"], "pmi2", "mpich5"),
    ],
)
def test_a_rank_that_cannot_be_placed_ends_the_step_at_once(
    slurm, command, make_plan, rings_of, check, interface, mpi_name
) -> None:
    """The other ranks would wait for it in MPI_Init."""
    plan = make_plan([("n0", [0]), ("n1", [0]), ("n2", [1000]), ("n3", [0])])
    launch = ["srun", "-t", MINUTES, f"--mpi={interface}", "-n", 4, *rings_of(mpi_name)]
    start = time.monotonic()
    result = slurm(command, "run", "--plan", plan, *check, "--", *launch)
    assert time.monotonic() - start < SECONDS
    assert result.returncode != 0
    assert result.stdout == ""
    assert result.stderr.count("ranktree: rank") == result.stderr.count("cannot bind to PUs 1000 on n2") == 1


@EACH_INTERFACE
def test_a_rank_that_cannot_be_placed_ends_the_step_in_a_batch_job(
    batch, command, make_plan, rings_of, interface, mpi_name
) -> None:
    """A plan for more PUs than nodes have, but not this one: Slurm's list binds it, and the wrapper where none fits."""
    alike = [("n0", [0]), *((host, [pu]) for host in ("n1", "n2", "n3") for pu in (0, 2))]
    others = [("n0", [0]), ("n1", [1]), ("n2", [1000]), ("n3", [0])]
    lines = []
    for slots in (alike, others):
        words = ["run", "--show", "--plan", make_plan(slots, name=f"{len(slots)}.json"), "--"]
        launch = ["srun", f"--mpi={interface}", "-n", len(slots), *rings_of(mpi_name)]
        lines.append(f"date +%s; {' '.join(map(str, [command, *words, *launch]))} 2>&1 || echo code $?")
    text = batch("; ".join([*lines, "date +%s"]), job=("-t", MINUTES, "-N", 4, "-n", 8))
    started, native, tried, wrapped, ended = re.split(r"^(\d+)\n", text, flags=re.M)[1:-1]
    assert max(int(tried) - int(started), int(ended) - int(tried)) < SECONDS
    assert all(re.search(r"^code [1-9]", part, re.M) and "rings:" not in part for part in (native, wrapped))
    assert "--cpu-bind=map_cpu:0,2 " in native
    assert native.count("srun: error: Application launch failed: Unable to satisfy cpu bind request") == 1
    assert "/ranktree-bind " in wrapped
    assert wrapped.count("ranktree: rank") == wrapped.count("cannot bind to PUs 1000 on n2") == 1


def test_a_pattern_is_placed_on_an_uneven_allocation(batch, command, build_folder, make_plan, rings, tmp_path) -> None:
    """Five ranks on scattered nodes, placed by their pattern and by a plan that Slurm's list would fit but for n3."""
    slots = [("n3", [0]), ("n2", [0]), ("n0", [0]), ("n2", [1]), ("n0", [1])]
    full = make_plan([*slots[:4], ("n3", [1])], name="full.json")
    launch = ["--", "srun", "--mpi=pmix"]
    ranks = [*launch, "-n", 5, build_folder / "lib" / "ranktree-ranks-openmpi"]
    lines = [
        [command, "trace", "-q", "-o", tmp_path / "app.npz", *launch, *rings, "--rings", 2],
        [command, "run", "--pattern", tmp_path / "app.npz", "--folder", tmp_path / "placed", "--verify", *ranks],
        [command, "run", "--plan", make_plan(slots), *ranks],
        ["!", command, "run", "--plan", full, *ranks, "2>&1"],
    ]
    text = batch(" && ".join(" ".join(map(str, line)) for line in lines), job=UNEVEN)
    assert read_trace(tmp_path / "app.npz").metadata["hosts"] == ["n0", "n0", "n2", "n2", "n3"]
    plan = json.loads((tmp_path / "placed" / "plan.json").read_text(encoding="utf-8"))
    assert Counter(slot["host"] for slot in plan["slots"]) == {"n0": 2, "n2": 2, "n3": 1}
    by_pattern, by_plan = (json.loads(line)["ranks"] for line in re.findall(r"^\{.*\}$", text, re.M))
    assert by_pattern == plan["slots"]  # as the kernel has them
    assert by_plan == [{"host": host, "pus": pus} for host, pus in slots]
    assert f"{full} has 2 slots on n3, of which the job has CPUs for 1: --pattern" in text


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
    printed = tmp_path / "printed"
    launch = ["srun", "--mpi=pmix", "-N", 3, "-n", 3, "-w", "n[0-2]", "-o", printed, program, "wait", 0]
    with ThreadPoolExecutor() as pool:
        running = pool.submit(slurm, command, "trace", "-o", tmp_path / "app.npz", "--", *launch)
        deadline = time.monotonic() + 60
        while not printed.exists() or "waiting" not in printed.read_text(encoding="utf-8"):
            assert time.monotonic() < deadline, running
            time.sleep(0.2)
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
