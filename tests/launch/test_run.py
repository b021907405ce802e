"""`ranktree run` with the MPIs of this machine on this machine: real binding, exit codes, signals, refusals."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.launches import HERE, PUS, environment, places, planned

two_pus = pytest.mark.skipif(PUS[:2] != [0, 1], reason="PUs 0 and 1 are needed to distinguish a binding from none")
CROSSED = [(HERE, [1]), (HERE, [0])]
# Seconds, and a mark: tests of another checkout may run at the same time.
SLEPT = f"600.{os.getpid()}"
ODD = [(HERE, [1]), (HERE, [0, 1]), (HERE, [0])]


@two_pus
@pytest.mark.parametrize("slots", [CROSSED, ODD], ids=["crossed", "odd-and-shared"])
@pytest.mark.parametrize("verify", [[], ["--verify"]], ids=["plain", "verified"])
def test_every_rank_is_bound_as_planned(ranktree, make_plan, where, mpiexec, slots, verify) -> None:
    command = [mpiexec, "-n", len(slots), where]
    result = ranktree("run", "--plan", make_plan(slots), *verify, "--", *command, env=environment(), cwd=where.parent)
    assert result.returncode == 0, result.stderr
    assert places(result.stdout) == planned(slots)
    assert not list(where.parent.glob(".ranktree-*")), "the launcher's files are removed"


@two_pus
@pytest.mark.parametrize("host", [HERE, ""], ids=["named", "unnamed"])
def test_hydra_binds_the_ranks_of_one_host_itself(ranktree, make_plan, where, host) -> None:
    if shutil.which("mpiexec.mpich") is None:
        pytest.skip("mpiexec.mpich is not installed")
    plan = make_plan([(host, pus) for _, pus in ODD], [host])
    command = ["mpiexec.mpich", "-n", len(ODD), where]
    result = ranktree("run", "--plan", plan, "--show", "--", *command, env=environment(), cwd=where.parent)
    assert result.returncode == 0, result.stderr
    assert places(result.stdout) == planned(ODD)
    assert "-bind-to user:1,0+1,0" in result.stderr
    assert "ranktree-bind" not in result.stderr


def test_files_of_the_user_are_not_replaced(ranktree, make_plan, where, mpiexec, tmp_path) -> None:
    """A folder of files may be given again; what ranktree has not written there stays."""
    words = ["run", "--plan", make_plan(CROSSED), "--folder", tmp_path / "files", "--", mpiexec, "-n", 2, where]
    for _ in range(2):
        result = ranktree(*words, env=environment(), cwd=where.parent)
        assert result.returncode == 0, result.stderr
    (tmp_path / "files/.ranktree-files").unlink()
    for path in (tmp_path / "files").iterdir():
        path.write_text(f"the user's {path.name}\n", encoding="ascii")
    before = {path.name: path.read_bytes() for path in (tmp_path / "files").iterdir()}
    result = ranktree(*words, env=environment(), cwd=where.parent)
    assert result.returncode == 1
    assert "exists already, and no `ranktree run --folder` wrote it: name another one" in result.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "files").iterdir()} == before


@two_pus
def test_the_programs_output_alone_goes_to_the_users_files(ranktree, make_plan, where, tmp_path) -> None:
    """What finds out where ranks are must be read by ranktree itself."""
    if shutil.which("mpiexec.mpich") is None:
        pytest.skip("mpiexec.mpich is not installed")
    command = ["mpiexec.mpich", "-outfile-pattern", tmp_path / "out-%r", "-n", 2, where]
    plan = make_plan([(HERE, pus) for _, pus in CROSSED], [HERE])
    result = ranktree("run", "--plan", plan, "--verify", "--", *command, env=environment(), cwd=where.parent)
    assert result.returncode == 0, result.stderr
    assert "the wrapper binds" not in result.stderr
    written = "".join(path.read_text(encoding="utf-8") for path in sorted(tmp_path.glob("out-*")))
    assert places(written) == planned(CROSSED)
    assert result.stdout == ""


@two_pus
def test_the_wrapper_binds_where_hydra_leaves_ranks_unbound(ranktree, make_plan, where, tmp_path) -> None:
    """As Hydra of MPICH 4 does, without a message, where a host lacks a PU or its cgroup excludes it."""
    if shutil.which("mpiexec.mpich") is None:
        pytest.skip("mpiexec.mpich is not installed")
    unbound = tmp_path / "mpiexec"
    unbound.write_text(
        """#!/bin/sh\nexec mpiexec.mpich $(echo "$*" | sed 's/-bind-to user:[^ ]*//')\n""",
        encoding="ascii",
    )
    unbound.chmod(0o755)
    words = ["run", "--plan", make_plan(CROSSED), "--", unbound, "-n", 2, where]
    result = ranktree(*words, env=environment(), cwd=where.parent)
    assert result.returncode == 0, result.stderr
    assert places(result.stdout) == planned(CROSSED)
    reason = f"rank 0: planned {HERE} PU 1, found {HERE} PU 0-"
    assert result.stderr.startswith(f"ranktree: the wrapper binds the ranks, {unbound} does not by itself: {reason}")


@two_pus
def test_a_trial_launch_that_never_ends_is_ended(ranktree, make_plan, where, tmp_path) -> None:
    """When all ranks have answered."""
    if shutil.which("mpiexec.mpich") is None:
        pytest.skip("mpiexec.mpich is not installed")
    hanging = tmp_path / "mpiexec"
    trial = 'case "$*" in *ranktree-probe) mpiexec.mpich "$@"; exec sleep 600 ;; esac'
    hanging.write_text(f'#!/bin/sh\n{trial}\nexec mpiexec.mpich "$@"\n', encoding="ascii")
    hanging.chmod(0o755)
    words = ["run", "--plan", make_plan(CROSSED), "--", hanging, "-n", 2, where]
    result = ranktree(*words, env=environment(), cwd=where.parent, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    assert places(result.stdout) == planned(CROSSED)


@two_pus
@pytest.mark.parametrize("check", [[], ["--verify"]], ids=["plain", "verified"])
def test_the_program_gets_the_standard_input(command, make_plan, tmp_path, mpiexec, check) -> None:
    """Not the launches before it."""
    program = ["sh", "-c", "[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} != 0 ] || cat"]
    words = [command, "run", "--plan", make_plan(CROSSED), *check, "--", mpiexec, "-n", "2", *program]
    result = subprocess.run(
        words, input="text", env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stdout) == (0, "text"), result.stderr


@two_pus
def test_a_plan_without_host_names_binds_here(ranktree, make_plan, where, mpiexec) -> None:
    plan = make_plan([("", [1]), ("", [0])], [""])
    command = [mpiexec, "-n", 2, where]
    result = ranktree("run", "--plan", plan, "--verify", "--", *command, env=environment(), cwd=where.parent)
    assert result.returncode == 0, result.stderr
    assert places(result.stdout) == planned(CROSSED)


@two_pus
@pytest.mark.parametrize("check", [[], ["--verify"]], ids=["plain", "verified"])
def test_a_program_is_found_in_the_folder_where_the_ranks_start(
    ranktree, make_plan, where, mpiexec, tmp_path, check
) -> None:
    (tmp_path / "elsewhere").mkdir()
    command = [mpiexec, "-n", 2, "-wdir", where.parent, f"./{where.name}"]
    words = ["run", "--plan", make_plan(CROSSED), *check, "--", *command]
    result = ranktree(*words, env=environment(), cwd=tmp_path / "elsewhere")
    assert result.returncode == 0, result.stderr
    assert places(result.stdout) == planned(CROSSED)


@two_pus
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_an_mpi_program_keeps_the_binding(ranktree, make_plan, build_folder, tmp_path, family) -> None:
    helper = build_folder / "lib" / f"ranktree-ranks-{family}"
    if not helper.exists():
        pytest.skip(f"{helper.name} is not built")
    command = [f"mpiexec.{family}", "-n", 2, helper]
    result = ranktree("run", "--plan", make_plan(CROSSED), "--", *command, env=environment(), cwd=tmp_path)
    assert f'"ranks":[{{"host":"{HERE}","pus":[1]}},{{"host":"{HERE}","pus":[0]}}]' in result.stdout


@two_pus
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_verify_sees_the_launchers_numbers_though_ranks_are_reordered(
    ranktree, make_plan, build_folder, tmp_path, family
) -> None:
    helper = build_folder / "lib" / f"ranktree-ranks-{family}"
    if not helper.exists():
        pytest.skip(f"{helper.name} is not built")
    pairs = tmp_path / "pairs.mtx"  # 0 and 1 talk, 2 and 3, on different PUs by the plan
    rows = "".join(f"{i} {j} 1000000\n" for i, j in ((1, 2), (2, 1), (3, 4), (4, 3)))
    pairs.write_text(f"%%MatrixMarket matrix coordinate integer general\n4 4 4\n{rows}", encoding="ascii")
    plan = make_plan([(HERE, [0]), (HERE, [1]), (HERE, [0]), (HERE, [1])])
    launch = [f"mpiexec.{family}", *(["--oversubscribe"] if family == "openmpi" else []), "-n", 4, helper]
    result = ranktree(
        "run", "--plan", plan, "--verify", "--reorder", pairs, "--", *launch, env=environment(), cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    found = [rank["pus"] for rank in json.loads(result.stdout[result.stdout.index("{") :])["ranks"]]
    assert found[0] == found[1] != found[2] == found[3]


@two_pus
def test_the_callers_options_stay(ranktree, make_plan, where, tmp_path) -> None:
    if shutil.which("mpiexec.openmpi") is None:
        pytest.skip("mpiexec.openmpi is not installed")
    program = "echo $MARK $OMPI_MCA_mpi_yield_when_idle; grep Cpus_allowed_list /proc/$$/status"
    options = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "-x", "MARK=seen"]
    command = ["env", "A=1", "mpiexec.openmpi", *options, "-np", "2", "sh", "-c", program]
    result = ranktree("run", "--plan", make_plan(CROSSED), "--", *command, env=environment(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("seen 1") == 2
    assert sorted(line.split()[1] for line in result.stdout.splitlines() if "Cpus" in line) == ["0", "1"]


@two_pus
def test_the_dashes_before_the_launcher_may_be_left_out(ranktree, make_plan, where, mpiexec) -> None:
    command = ["--plan", make_plan(CROSSED), mpiexec, "-n", 2, where]
    result = ranktree("run", *command, env=environment(), cwd=where.parent)
    assert places(result.stdout) == planned(CROSSED)


@two_pus
def test_the_exit_code_is_the_programs(ranktree, make_plan, where, mpiexec) -> None:
    command = [mpiexec, "-n", 2, where, "7"]
    result = ranktree("run", "--plan", make_plan(CROSSED), "--", *command, env=environment(), cwd=where.parent)
    assert result.returncode == 7


@two_pus
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_launcher(command, make_plan, tmp_path, mpiexec, number) -> None:
    words = [command, "run", "--plan", make_plan(CROSSED), "--", mpiexec, "-n", 2, "sleep", SLEPT]
    process = subprocess.Popen(list(map(str, words)), env=environment(), cwd=tmp_path, start_new_session=True)
    deadline = time.monotonic() + 120
    while count_sleepers() < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert count_sleepers() == 2
    process.send_signal(number)
    # Hydra 4.0 ends with 0 or with a code after SIGINT, as it happens.
    assert process.wait(timeout=60) != 0 or mpiexec == "mpiexec.mpich"
    while count_sleepers() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert count_sleepers() == 0
    assert not list(tmp_path.glob(".ranktree-*"))


@two_pus
def test_two_signals_at_once_reach_a_placed_launcher(ranktree, command, tmp_path, mpiexec) -> None:
    """As Slurm ends a job: SIGCONT, SIGTERM. numpy's threads must receive neither."""
    pattern = tmp_path / "pair.csv"
    pattern.write_text("# ranks=2\nsrc,dst,messages,bytes\n0,1,1,8\n", encoding="ascii")
    words = [command, "run", "--pattern", pattern, "--", mpiexec, "-n", 2, "sleep", SLEPT]
    for _ in range(3):
        process = subprocess.Popen(list(map(str, words)), env=environment(), cwd=tmp_path, start_new_session=True)
        deadline = time.monotonic() + 120
        while count_sleepers() < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert count_sleepers() == 2
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        while count_sleepers() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert count_sleepers() == 0
        assert not list(tmp_path.glob(".ranktree-*"))


def count_sleepers() -> int:
    """Running processes of `sleep` that tests of this process started."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += path.read_bytes() == f"sleep\0{SLEPT}\0".encode()
        except OSError:
            continue
    return found


@two_pus
def test_the_wrapper_fails_with_3_on_the_wrong_host(ranktree, make_plan, where, mpiexec, tmp_path) -> None:
    plan = make_plan([(HERE, [1]), ("elsewhere", [0])])
    emitted = ranktree("emit", plan, "-l", "generic", "-o", tmp_path / "out", "--", where)
    assert emitted.returncode == 0, emitted.stderr
    wrapper = tmp_path / "out" / "ranktree-bind"
    result = subprocess.run(
        [mpiexec, "-n", "2", wrapper, where], env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 3
    assert f"ranktree: rank 1: expected host elsewhere, found {HERE}" in result.stderr


@two_pus
def test_a_rank_that_cannot_be_placed_ends_the_run_at_once(ranktree, make_plan, mpiexec, tmp_path) -> None:
    """The other ranks would run for minutes; in an MPI program they would wait in MPI_Init."""
    plan = make_plan([(HERE, [0]), (HERE, [1000])])
    emitted = ranktree("emit", plan, "-l", "generic", "-o", tmp_path / "out")
    assert emitted.returncode == 0, emitted.stderr
    wrapper = tmp_path / "out" / "ranktree-bind"
    words = [mpiexec, "-n", "2", wrapper, "sleep", "100"]
    result = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=30, check=False)
    assert result.returncode == 3
    assert result.stderr.count("ranktree: rank 1: cannot bind to PUs 1000") == 1
    if mpiexec == "mpiexec.mpich":
        assert result.stderr.count("\n") == 1


def test_pus_that_this_node_does_not_have_are_refused_before_the_launch(
    ranktree, make_plan, where, mpiexec, tmp_path
) -> None:
    """Launchers report them in many lines, or not at all."""
    plan = make_plan([(HERE, [PUS[0]]), (HERE, [1000])])
    for check in ([], ["--verify"]):
        result = ranktree("run", "--plan", plan, *check, "--", mpiexec, "-n", 2, where, env=environment(), cwd=tmp_path)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr.startswith(f"ranktree: {plan}: rank 1 is on PU 1000 of {HERE}, which has PUs ")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("own", [[], ["-K"], ["-K0"], ["--kill-on-bad-exit=0"]])
def test_srun_ends_the_step_with_its_first_failed_rank(ranktree, make_plan, tmp_path, monkeypatch, own) -> None:
    """Slurm does not do so by itself; what the command has is kept."""
    srun = tmp_path / "bin/srun"
    srun.parent.mkdir()
    srun.write_text('#!/bin/sh\necho "$@"\n', encoding="ascii")
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{srun.parent}:{os.environ['PATH']}")
    result = ranktree("run", "--plan", make_plan(CROSSED), "--", "srun", *own, "-n", 2, "true", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    words = [word for word in result.stdout.split() if word.startswith(("-K", "--kill"))]
    assert words == (own or ["--kill-on-bad-exit=1"])


def test_a_step_of_several_components_is_refused(ranktree, make_plan, tmp_path, monkeypatch) -> None:
    srun = tmp_path / "bin/srun"
    srun.parent.mkdir()
    srun.write_text("#!/bin/sh\n", encoding="ascii")
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{srun.parent}:{os.environ['PATH']}")
    plan = make_plan(CROSSED)
    for group, code in (("0,1", 1), ("0-1", 1), ("0", 0)):
        words = ["srun", f"--het-group={group}", "-n", 2, "true"]
        result = ranktree("run", "--plan", plan, "--", *words, cwd=tmp_path)
        assert result.returncode == code
        reason = f"ranktree: srun: several components of a job (--het-group={group}) are not supported\n"
        assert result.stderr == (reason if code else "")


@pytest.mark.parametrize(
    ("pus", "rank", "reason"),
    [
        ("0", "1", "has no line for this rank"),
        ("0", "", "no launcher's rank variable is set"),
        ("1000", "0", "cannot bind to PUs 1000"),
        (f"{PUS[0]},1000", "0", f"expected PUs {PUS[0]},1000 on {HERE}, bound to {PUS[0]}"),
    ],
)
def test_the_wrapper_checks_itself(ranktree, make_plan, tmp_path, pus, rank, reason) -> None:
    plan = make_plan([(HERE, [int(number) for number in pus.split(",")])])
    assert ranktree("emit", plan, "-l", "generic", "-o", tmp_path / "out").returncode == 0
    result = subprocess.run(
        [tmp_path / "out" / "ranktree-bind", "true"],
        env={"PATH": "/usr/bin:/bin", "PMI_RANK": rank},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 3
    assert reason in result.stderr


@two_pus
def test_verify_names_ranks_and_does_not_run(ranktree, make_plan, tmp_path) -> None:
    """A launcher that ignores the plan and the wrapper: it starts the ranks, but binds each to PU 0."""
    if shutil.which("mpiexec.mpich") is None:
        pytest.skip("mpiexec.mpich is not installed")
    liar = tmp_path / "mpiexec"
    liar.write_text(
        '#!/bin/sh\ncase "$*" in *--version*) exec mpiexec.mpich --version ;; esac\n'
        'while [ "$1" != -bind-to ]; do shift; done\nshift 2\n[ "${1##*/}" = ranktree-bind ] && shift\n'
        'exec mpiexec.mpich -n 2 taskset -c 0 "$@"\n',
        encoding="ascii",
    )
    liar.chmod(0o755)
    result = ranktree(
        "run",
        "--plan",
        make_plan(CROSSED),
        "--verify",
        "--",
        liar,
        "touch",
        tmp_path / "ran",
        env=environment(),
        cwd=tmp_path,
    )
    assert result.returncode == 1
    difference = f"rank 0: planned {HERE} PU 1, found {HERE} PU 0\n"
    assert result.stderr == (
        f"ranktree: the wrapper binds the ranks, {liar} does not by itself: {difference}"
        f"ranktree: 1 of 2 ranks are not where the plan has them:\n  {difference}"
    )
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["mpiexec.openmpi", "-n", "3", "true"], "'-n 3' contradicts the plan, which places 2 ranks"),
        (["mpiexec.mpich", "-np", "1", "true"], "'-np 1' contradicts the plan, which places 2 ranks"),
        (["mpiexec.openmpi", "--map-by", "node", "true"], "'--map-by node' places or binds ranks"),
        (["mpiexec.openmpi", "--bind-to=core", "true"], "'--bind-to=core' places or binds ranks"),
        (["mpiexec.openmpi", "--mca", "rmaps_base_mapping_policy", "node", "true"], "places or binds ranks"),
        (["mpiexec.mpich", "-bind-to", "core", "true"], "'-bind-to core' places or binds ranks"),
        (["mpiexec.mpich", "-hosts", "a,b:2", "true"], f"plan.json is for {HERE}; the launcher's command has a, b"),
        (["mpiexec.mpich", "-n", "2"], "the command names no program"),
        (["mpiexec.mpich", "-n"], "option -n needs 1 more words"),
        (["mpiexec.openmpi", "-n", "1", "true", ":", "-n", "1", "true"], "several programs in one command"),
        (["mpiexec.mpich", "-n", "2", "./nosuch"], "'./nosuch', after '2', is no program here"),
        (["python3", "app.py"], "no launcher (mpirun, mpiexec, srun, flux run, aprun, jsrun) in the command"),
        (["mpiexec.nosuch", "-n", "2", "true"], "mpiexec.nosuch: no such launcher"),
    ],
)
def test_contradictions_are_refused(ranktree, make_plan, tmp_path, words, reason) -> None:
    if shutil.which(words[0]) is None and words[0] in {"mpiexec.openmpi", "mpiexec.mpich"}:
        pytest.skip(f"{words[0]} is not installed")
    plan = make_plan([(HERE, [0]), (HERE, [1])])
    result = ranktree("run", "--plan", plan, "--", *words, env=environment(), cwd=tmp_path)
    assert result.returncode == 1
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
