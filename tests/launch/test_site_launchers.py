"""`flux run`, `aprun`, `jsrun` and PALS's `mpiexec` by their documented forms: stand-ins print the words they get."""

import os
import shlex
from pathlib import Path

import pytest
from ranktree.handing_on import slurm_export
from ranktree.launcher import hosts_named, program_file, read_words, take_apart
from ranktree.launcher_options import COUNTS
from ranktree.rewrite import VARIABLES, kept_options, visible

SLOTS = [("n0", [1]), ("n1", [1]), ("n0", [0]), ("n1", [0])]
PALS = "opt/cray/pals/1.4/bin/mpiexec"
STARTERS = {"flux": "bin/flux run", "aprun": "bin/aprun", "jsrun": "bin/jsrun", "pals": PALS}
PLACED = {
    "flux": "run --label-io -N2 -n 4 --requires=hosts:n0,n1 --taskmap=manual:[[0,1,1,1],[1,1,1,1],[0,1,1,1],[1,1,1,1]]"
    " -o cpu-affinity=map:1;0 true 7",
    "aprun": "-b -e A=1 -n 4 -N 2 -cc 0:1 true 7",
    "jsrun": "-X 1 --erf_input {d}/erf true 7",
    "pals": "--label -n 4 --ppn 2 --hosts n0,n1 --cpu-bind list:0:1 true 7",
}
OPTIONS = {
    "flux": "-N2 -n4 --label-io -o cpu-affinity=off",
    "aprun": "-n 4 -b -e A=1 -cc none",
    "jsrun": "-p4 -X 1 -b none",
    "pals": "-np 4 --label --hosts n0,n1 --cpu-bind none",
}


@pytest.fixture
def starters(tmp_path: Path) -> dict[str, list[str]]:
    """The words that start each launcher's stand-in."""
    for words in STARTERS.values():
        path = tmp_path / words.split()[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        said = f'[ "$1" = --version ] || echo "$@" >>{tmp_path}/words\necho "$MPICH_RANK_REORDER_FILE"\n'
        path.write_text(f"#!/bin/sh\n{said}", encoding="ascii")
        path.chmod(0o755)
    return {name: [str(tmp_path / words.split()[0]), *words.split()[1:]] for name, words in STARTERS.items()}


@pytest.mark.parametrize("name", STARTERS)
def test_a_command_follows_the_plan(ranktree, starters, make_plan, tmp_path, name) -> None:
    words = [*starters[name], *OPTIONS[name].split(), "true", "7"]
    result = ranktree("run", "--plan", make_plan(SLOTS), "--folder", tmp_path / "files", "--", *words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "words").read_text().split() == PLACED[name].format(d=tmp_path / "files").split()
    expected = tmp_path / "files/MPICH_RANK_ORDER" if name in {"aprun", "pals"} else None
    assert result.stdout.strip() == (str(expected) if expected else "")
    if expected:
        assert expected.read_text(encoding="ascii") == "# n0\n2,0\n# n1\n3,1\n"


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("flux", "-n 3", "'-n 3' contradicts the plan, which places 4 ranks"),
        ("flux", "--taskmap=cyclic", "'--taskmap=cyclic' places or binds ranks"),
        ("flux", "-o cpu-affinity=per-task", "'-o cpu-affinity=per-task' places or binds ranks"),
        ("flux", "-c2", "'-c2' places or binds ranks"),
        ("aprun", "-n 4 -N 1", "'-N 1' places or binds ranks"),
        ("aprun", "-cc 0,1", "'-cc 0,1' places or binds ranks"),
        ("jsrun", "-n2 -a2", "'-n2' places or binds ranks"),
        ("jsrun", "--erf_input x", "'--erf_input x' places or binds ranks"),
        ("pals", "--ppn 4", "'--ppn 4' places or binds ranks"),
        ("pals", "--hosts n0,n7", "plan.json is for n0, n1; the launcher's command has n0, n7"),
        ("jsrun", "-f", "option -f needs 1 more words"),
    ],
)
def test_contradictions_are_refused(ranktree, starters, make_plan, tmp_path, name, options, reason) -> None:
    words = [*starters[name], *options.split(), *([] if "more words" in reason else ["true"])]
    result = ranktree("run", "--plan", make_plan(SLOTS), "--", *words, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "words").exists()


@pytest.mark.parametrize(
    ("name", "option", "dashes"),
    [
        ("flux", "--env", []),
        ("flux", "--env", ["--"]),
        ("aprun", "-e", []),
        ("jsrun", "--env", []),
        ("pals", "--env", []),
    ],
)
def test_the_ranks_get_the_library(
    ranktree, starters, build_folder, tmp_path, name, option, dashes, monkeypatch
) -> None:
    """By the launcher's option, behind a preload of the command's own."""
    program = build_folder / "bin" / "rings_mpich"
    if not program.exists():
        pytest.skip("rings_mpich is not built")
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    words = [*starters[name], option, "LD_PRELOAD=own.so", *dashes, program]
    ranktree("trace", "-o", tmp_path / "a.npz", "--", *words, cwd=tmp_path)
    found = next(line.split() for line in (tmp_path / "words").read_text().splitlines() if line.endswith(str(program)))
    pairs = [found[i + 1] for i, word in enumerate(found) if word == option]
    preloads = [pair for pair in pairs if pair.startswith("LD_PRELOAD=")]
    assert [pair.partition(":")[0] for pair in preloads] == ["LD_PRELOAD=own.so"]
    assert preloads[0].endswith("/libranktree_preload_mpich.so")
    assert any(pair.startswith("RANKTREE_TRACE=") for pair in pairs)


def test_every_part_gets_the_library(ranktree, starters, build_folder, tmp_path, monkeypatch) -> None:
    """The second part by its own option: the first one's is not its preload."""
    program = build_folder / "bin" / "rings_mpich"
    if not program.exists():
        pytest.skip("rings_mpich is not built")
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    parts = ["--env", "LD_PRELOAD=own.so", program, ":", "-n", "2", program]
    ranktree("trace", "-o", tmp_path / "a.npz", "--", *starters["pals"], *parts, cwd=tmp_path)
    found = next(line for line in (tmp_path / "words").read_text().splitlines() if " : " in line)
    preloads = [word for word in found.split() if word.startswith("LD_PRELOAD=")]
    assert [Path(word.rpartition("/")[2]).name for word in preloads] == ["libranktree_preload_mpich.so"] * 2
    assert [word.startswith("LD_PRELOAD=own.so:") for word in preloads] == [True, False]


def test_a_plan_of_intels_has_no_options_of_one_part() -> None:
    """Its file has a line a rank, and they would hold for the first."""
    slots = [("n0", [0]), ("n0", [1])]
    for option in ("-env A B", "-env A=B", "-wdir /tmp"):
        command = read_words(shlex.split(f"mpirun -n 2 {option} ./a"), "intel", ())
        with pytest.raises(ValueError, match=rf"'{option}' is of one part of a command, and a plan has many: write -g"):
            kept_options(command, slots)
    command = read_words(shlex.split("mpirun -n 2 -gwdir /tmp -genv A=B sh"), "intel", ())
    assert kept_options(command, slots) == ["-gwdir", "/tmp", "-genv", "A=B"]
    assert program_file("intel", command.options, "./a") == Path("/tmp/a")


@pytest.mark.parametrize(
    ("family", "words", "count", "program"),
    [
        ("flux", "flux run -n4 -c 2 --exclusive -t5m -vv ./a -n 9", "4", "./a"),
        ("flux", "flux run --ntasks=8 --requires hosts:n0 -- ./a", "8", "./a"),
        ("aprun", "aprun -n 16 -N 8 -cc 0-1:2-3 -ss -L 12,13 ./a", "16", "./a"),
        ("aprun", "aprun --pes 16 -b ./a", "16", "./a"),
        ("jsrun", "jsrun -p 6 -r6 -c7 -g1 -bpacked:7 -d packed --smpiargs=-gpu ./a", "6", "./a"),
        ("slurm", "srun -n 4 --nice --x11 --bcast=/tmp/a ./a", "4", "./a"),
        ("slurm", "srun --compress --ntasks 4 --bcast -- ./a", "4", "./a"),
        ("mpich", "mpiexec -genv A=1 -n 4 -env B 2 ./a", "4", "./a"),
        ("mpich", "mpiexec -machines a,b -localhost a -n 4 -env A=1 ./a b=c", "4", "./a"),
        ("intel", "mpirun -rr -hostlist a,b -gwdir /tmp -n 4 ./a", "4", "./a"),
        ("pals", "mpiexec -n 8 --ppn 4 -d 2 --env A=B --envall --line-buffer --mem-bind list:0:1 ./a", "8", "./a"),
    ],
)
def test_documented_options_are_understood(family, words, count, program) -> None:
    command = read_words(shlex.split(words), family, ())
    assert command.program[0] == program
    assert [option.values for option in command.options if option.name in COUNTS[family]] == [(count,)]


@pytest.mark.parametrize(
    ("family", "words", "hosts"),
    [
        ("slurm", "srun -w n[0-1],m3 ./a", ["n0", "n1", "m3"]),
        ("slurm", "srun --nodelist={d}/nodes ./a", ["n0", "n1", "n2"]),
        ("slurm", "srun -F {d}/nodes ./a", ["n0", "n1", "n2"]),
        ("openmpi", "mpirun --host localhost:4,n1,n1 ./a", [os.uname().nodename, "n1"]),
        ("mpich", "mpiexec -machines 127.0.0.1 ./a", [os.uname().nodename]),
        ("mpich", "mpiexec -f {d}/hosts ./a", ["n0", "n1"]),
        ("slurm", "srun -n 4 ./a", None),
    ],
)
def test_hosts_of_the_command_are_known(tmp_path, family, words, hosts) -> None:
    (tmp_path / "nodes").write_text("n[0-1]\nn2\n", encoding="ascii")
    (tmp_path / "hosts").write_text("n0:2\nn1\nn0\n", encoding="ascii")
    assert hosts_named(read_words(shlex.split(words.format(d=tmp_path)), family, ())) == hosts


def test_flux_without_run_is_no_launch(ranktree, starters, make_plan, tmp_path) -> None:
    words = [*starters["flux"][:1], "submit", "-n4", "true"]
    result = ranktree("run", "--plan", make_plan(SLOTS), "--", *words, cwd=tmp_path)
    assert result.returncode == 1
    assert "no launcher (mpirun, mpiexec, srun, flux run, aprun, jsrun) in the command" in result.stderr


def test_pals_is_known_by_its_folder(starters) -> None:
    assert take_apart([*starters["pals"], "-n", "2", "true"]).family == "pals"


@pytest.mark.parametrize("name", ["aprun", "pals"])
def test_emit_writes_the_same_words(ranktree, starters, make_plan, tmp_path, name) -> None:
    emitted = ranktree("emit", make_plan(SLOTS), "-l", name, "-o", tmp_path / "files", "--", "true", "7")
    assert emitted.returncode == 0, emitted.stderr
    starter = Path(STARTERS[name]).name
    words = [*starters[name], *OPTIONS[name].split(), "true", "7"]
    ran = ranktree("run", "--plan", make_plan(SLOTS), "--folder", tmp_path / "files", "--", *words, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    placement = emitted.stdout.split(f" {starter} ")[1].strip()
    assert (tmp_path / "words").read_text().strip().endswith(placement)
    assert os.access(tmp_path / "files" / "MPICH_RANK_ORDER", os.R_OK)


def test_a_launcher_is_identified_behind_what_starts_it(tmp_path: Path) -> None:
    """`env` and containers may find another one of the same name."""
    other = tmp_path / "mpirun"
    other.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 9.8.7'\n", encoding="ascii")
    other.chmod(0o755)
    command = take_apart(["env", f"PATH={tmp_path}:{os.environ['PATH']}", "mpirun", "-n", "2", "true"])
    assert (command.family, command.version) == ("openmpi", (9, 8, 7))


@pytest.mark.parametrize("option", ["--exact", "--exclusive", "--threads-per-core=1"])
def test_slurms_options_that_leave_a_step_fewer_cpus_give_way_to_the_plan(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    command = read_words(["srun", option, "--label", "-n", "4", "./a"], "slurm", ())
    assert kept_options(command, SLOTS) == ["--label"]
    monkeypatch.delenv("SLURM_JOB_ID")
    assert (option in kept_options(command, SLOTS)) == (option == "--exclusive"), "outside a job: whole nodes"
    assert all(VARIABLES.match(name) for name in ("SRUN_CPUS_PER_TASK", "SLURM_EXACT", "SLURM_EXCLUSIVE"))


@pytest.mark.parametrize(
    ("family", "line", "seen"),
    [
        ("slurm", "srun -o out --error=err --label -n 4 ./a", ["--label"]),
        ("openmpi", "mpirun --output file=out,tag --tag-output -n 4 ./a", ["--tag-output"]),
        ("openmpi", "mpirun --output tag -n 4 ./a", ["--output", "tag"]),
        ("flux", "flux run --output=out -o output.stderr.path=err -o verbose -n 4 ./a", ["-o", "verbose"]),
        ("jsrun", "jsrun --stdio_stdout out -k err -p 4 ./a", []),
    ],
)
def test_helpers_are_launched_without_the_users_output_files(family: str, line: str, seen: list[str]) -> None:
    command = visible(read_words(line.split(), family, (5, 0, 0)))
    assert [word for option in command.options if option.name not in COUNTS[family] for word in option.words] == seen


@pytest.mark.parametrize(
    ("variables", "exported"),
    [
        ({}, "ALL"),
        ({"SLURM_EXPORT_ENV": "NONE"}, ""),
        ({"SLURM_EXPORT_ENV": "NONE", "SRUN_EXPORT_ENV": "ALL"}, "ALL"),
    ],
)
def test_sruns_own_variable_decides_what_is_exported(
    variables: dict[str, str], exported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLURM_EXPORT_ENV", "SRUN_EXPORT_ENV"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (word,) = slurm_export(0, [], {"A": "1"}, None)
    assert word == f"--export={exported + ',' if exported else ''}A=1"
