"""Manners of the command: first steps, help, completion, settings, versioned JSON, and messages that name the cause."""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree.cli import COMMON, VERBS
from ranktree.cli.main import load_verb
from ranktree.cli.options import Option, names_of, parameters_of
from ranktree.shared_files import ranks_without
from ranktree.shim import read_command

from tests.helpers.mpis import Mpi

ROOT = Path(__file__).resolve().parents[2]
HELP_SECONDS = 0.25


def test_the_command_alone_shows_five_examples(ranktree) -> None:
    result = ranktree()
    assert (result.returncode, result.stderr) == (0, "")
    assert len(COMMON) == 5
    for verb, example in COMMON.items():
        assert example in result.stdout
        assert VERBS[verb] in result.stdout


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["mpa"], "no such command: 'mpa' (did you mean map?)"),
        (["predict", "bcat", "--np", "8"], "no such collective: 'bcat' (did you mean bcast?)"),
        (["bench", "bcat"], "no such collective: 'bcat' (did you mean bcast?)"),
        (["tune", "--collectives", "bcat"], "no such collective: 'bcat' (did you mean bcast?)"),
        (["compare", "a.json"], "expected two files or a command, found 'a.json' alone"),
        (["map", "x.npz", "--metrc", "size"], "no such option: --metrc (did you mean --metric?)"),
    ],
)
def test_a_typing_error_names_the_nearest_word(ranktree, words: list[str], text: str) -> None:
    result = ranktree(*words)
    assert result.returncode == 2
    assert text in result.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_every_help_has_an_example_and_whole_lines(ranktree, verb: str) -> None:
    """Every option's text is there to its last word, however narrow the terminal is."""
    described = load_verb(verb)
    text = " ".join(ranktree(verb, "--help", env=os.environ | {"COLUMNS": "60"}).stdout.split())
    assert f"example: {' '.join(described.example.split())}" in text
    usage = text.partition("options:")[0]
    assert usage.count("[") == usage.count("]")
    for parameter in parameters_of(described.function):
        if isinstance(parameter.declared, Option):
            assert " ".join(parameter.declared.help.split()) in text


def test_help_takes_a_quarter_of_a_second(ranktree) -> None:
    """In processor time, the least of three: other work on the machine stretches it little."""

    def processor_seconds(words: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert ranktree(*words).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    for words in (["--help"], ["map", "--help"], ["run", "--help"]):
        assert min(processor_seconds(words) for _ in range(3)) < HELP_SECONDS


def completed(ranktree, *words: str) -> list[str]:
    """What bash offers for the last word."""
    script = ranktree("completion", "bash").stdout
    typed = " ".join(f"'{word}'" for word in words)
    line = f'{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _ranktree; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=True).stdout.split()


def test_bash_completes_commands_and_options(ranktree) -> None:
    assert completed(ranktree, "ranktree", "co") == ["compare", "convert", "completion"]
    assert completed(ranktree, "ranktree", "map", "--thr") == ["--threads-per-rank", "--threads"]
    assert completed(ranktree, "ranktree", "map", "ap") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_every_option(ranktree, shell: str) -> None:
    script = ranktree("completion", shell).stdout
    for verb in VERBS:
        for parameter in parameters_of(load_verb(verb).function):
            if isinstance(parameter.declared, Option):
                for name in names_of(parameter):
                    first = name.partition("/")[0]
                    assert (first if shell == "zsh" else f" {first.lstrip('-')} ") in script


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """A ring of eight ranks."""
    np.save(tmp_path / "ring.npy", np.roll(np.eye(8), 1, axis=1))
    return tmp_path / "ring.npy"


def test_flags_come_before_the_environment_before_the_file(ranktree, tmp_path: Path, ring: Path) -> None:
    settings = tmp_path / "ranktree.toml"
    settings.write_text('[map]\nmachine = "node:2 core:4"\nmetric = "msg"\njson = true\n', encoding="ascii")
    found = ranktree("map", ring, cwd=tmp_path)
    assert json.loads(found.stdout)["metric"] == "msg"
    assert json.loads(ranktree("map", ring, "--metric", "size", cwd=tmp_path).stdout)["metric"] == "size"
    settings.write_text('[bench]\nmpi = "of-the-file"\n', encoding="ascii")
    words = ("bench", "bcast", "--np", 2)
    assert "of-the-file" in ranktree(*words, cwd=tmp_path).stderr
    result = ranktree(*words, cwd=tmp_path, env=os.environ | {"RANKTREE_MPI": "of-the-environment"})
    assert "of-the-environment" in result.stderr
    home = tmp_path / "home" / "ranktree"
    home.mkdir(parents=True)
    settings.rename(home / "ranktree.toml")
    assert (
        "of-the-file" in ranktree(*words, cwd=tmp_path, env=os.environ | {"XDG_CONFIG_HOME": str(home.parent)}).stderr
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[mapp]\n", "'mapp' is not a command (did you mean map?)"),
        ("[map]\nmetrc = 1\n", "'metrc' is not an option of map (did you mean metric?)"),
        ("[map]\nseed = 'x'\n", "seed: expected a whole number, found 'x'"),
        ("[map]\njson = 'yes'\n", "json: expected true or false, found 'yes'"),
        ("map = 3\n", "map: expected a table of options, found 3"),
        ("[map\n", "ranktree.toml: "),
    ],
)
def test_wrong_settings_are_refused(ranktree, tmp_path: Path, ring: Path, text: str, expected: str) -> None:
    (tmp_path / "ranktree.toml").write_text(text, encoding="ascii")
    result = ranktree("map", ring, cwd=tmp_path)
    assert result.returncode in {1, 2}
    assert expected in result.stderr
    assert "ranktree.toml" in result.stderr


def test_json_has_a_format_and_a_version(ranktree, ring: Path) -> None:
    machine = ("--machine", "node:2 core:4")
    for words in (
        ("topo", "node:2 core:4"),
        ("map", ring, *machine),
        ("report", ring, *machine),
        ("predict", "bcast", "--np", 4, *machine),
        ("doctor",),
    ):
        document = json.loads(ranktree(*words, "--json").stdout)
        assert document["format"] == f"ranktree-{words[0]}"
        assert document["version"] == 1


def test_no_color_leaves_colours_out(command: str) -> None:
    """On a terminal, where the table would have some."""
    leader, follower = pty.openpty()
    words = [command, "predict", "bcast", "--np", "4", "--machine", "core:4", "--sizes", "1K"]
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm-256color"}
    subprocess.run(words, stdout=follower, env=environment, timeout=60, check=True)
    os.close(follower)
    text = os.read(leader, 65536).decode()
    os.close(leader)
    assert "binomial" in text
    assert not any(f"\x1b[{colour}" in text for colour in (*range(30, 50), *range(90, 108)))


@pytest.mark.launch
def test_a_trace_is_named_after_the_program(ranktree, mpi, tmp_path: Path) -> None:
    program = mpi.program("trace_p2p")
    result = ranktree("trace", "--", *mpi.launch(2, program), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / f"ranktree-{program.name}.npz").exists()


@pytest.mark.launch
def test_a_library_that_nodes_lack_is_the_cause(mpi, tmp_path: Path) -> None:
    command = read_command(mpi.launch(3, "true"))
    assert ranks_without(command, ROOT / "README.md") == []
    host = os.uname().nodename
    assert ranks_without(command, tmp_path / "none.so") == [(0, host), (1, host), (2, host)]


@pytest.mark.wheel
@pytest.mark.launch
def test_where_prints_the_version_that_runs(command: str) -> None:
    """A helper built with MPICH 4 serves a job of MPICH 5, which has the same binary interface."""
    launcher = ROOT / ".mpis/mpich5/bin/mpiexec"
    if not launcher.exists():
        pytest.skip(f"{launcher} is not installed")
    result = subprocess.run(
        [launcher, "-n", "2", command, "where"], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.stdout.startswith("2 ranks, MPICH 5."), result.stderr
    assert "(seen by a program of MPICH" in result.stdout.splitlines()[0] or "built" in result.stdout


def test_traced_hosts_that_the_machine_lacks_are_reported(ranktree, tmp_path: Path) -> None:
    """The plan is compared with the placement that ran, on the machine's nodes in order."""
    from ranktree import _core  # noqa: PLC0415

    senders = np.arange(4, dtype=np.int64)
    receivers = np.array([1, 0, 3, 2], dtype=np.int64)
    pattern = _core.Pattern.from_pairs(4, senders, receivers, np.ones(4), np.full(4, 100.0))
    pattern.metadata = {"hosts": ["cn12", "cn17", "cn12", "cn17"]}
    _core.save_pattern(str(tmp_path / "app.npz"), pattern)
    result = ranktree("map", tmp_path / "app.npz", "--machine", "node:2 core:2", "--json")
    assert result.stderr == (
        "ranktree: the hosts of the trace (cn12, cn17) are not hosts of the machine: the traced placement is that on "
        "its nodes in order (n0, n1)\n"
    )
    costs = {row["placement"]: row["total"] for row in json.loads(result.stdout)["costs"]}
    assert costs["traced"] == 1600
    assert costs["identity"] == costs["plan"] == 800
    result = ranktree("map", tmp_path / "app.npz", "--machine", "core:4", "--json")
    assert "do not fit on its nodes: the plan is compared with the current rank order" in result.stderr


def test_a_small_gain_is_nothing_worth_changing(ranktree, tmp_path: Path) -> None:
    """1 % of the bytes is on the wrong node."""
    matrix = np.zeros((4, 4))
    matrix[0, 1], matrix[2, 3], matrix[0, 2], matrix[1, 3] = 100, 100, 1, 1
    order = [0, 2, 1, 3]
    np.save(tmp_path / "large.npy", matrix[np.ix_(order, order)])
    machine = ("--machine", "node:2 core:2")
    assert (
        "fewer bytes between nodes than the current rank order"
        in ranktree("map", tmp_path / "large.npy", *machine).stdout
    )
    text = ranktree("map", tmp_path / "large.npy", *machine, "--worthwhile", 90).stdout
    assert "Nothing worth changing: the plan saves" in text
    assert "below 90 % a rerun is unlikely to show it." in text


def test_man_pages_are_made_of_the_same_texts(ranktree, tmp_path: Path) -> None:
    """groff accepts each page without a warning, and every option is on it."""
    assert ranktree("manual", "-o", tmp_path / "man1").returncode == 0
    assert {path.stem for path in (tmp_path / "man1").iterdir()} == {
        "ranktree",
        *(f"ranktree-{verb}" for verb in VERBS),
    }
    for verb in VERBS:
        page = tmp_path / "man1" / f"ranktree-{verb}.1"
        words = ["groff", "-man", "-ww", "-Tascii", "-rLL=1000n", str(page)]
        result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
        assert result.stderr == ""
        shown = re.sub(r".\x08", "", result.stdout)  # bold letters are struck twice
        for parameter in parameters_of(load_verb(verb).function):
            if isinstance(parameter.declared, Option):
                assert names_of(parameter)[0].partition("/")[0] in shown
                assert " ".join(parameter.declared.help.split())[:40] in " ".join(shown.split())


@pytest.mark.parametrize(
    ("stream", "words", "code", "text"),
    [
        (">/dev/full", "topo core:2", 1, "ranktree: standard output: No space left on device\n"),
        (">/dev/full", "tune --help", 1, "ranktree: standard output: No space left on device\n"),
        (">&-", "topo core:2", 0, ""),
        (">&-", "--version", 0, ""),
        ("2>&-", "topo core:", 1, ""),
    ],
)
def test_output_that_cannot_be_written_is_one_line(command: str, stream: str, words: str, code: int, text: str) -> None:
    line = f"{command} {words} {stream}"
    result = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (code, "", text)


def test_folders_that_cannot_be_entered_are_passed_over(ranktree, tmp_path: Path) -> None:
    """One whose name is too long fails like one of another user, who may be root here."""
    folder = f"/tmp/{'x' * 300}"
    for name in ("HOME", "XDG_CONFIG_HOME"):
        assert ranktree("topo", "core:2", env=os.environ | {name: folder}, cwd=tmp_path).returncode == 0
    result = ranktree("doctor", "--json", env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}, cwd=tmp_path)
    assert json.loads(result.stdout)["format"] == "ranktree-doctor"
    library = ranktree("trace", "--", "/bin/true", env=os.environ | {"LD_LIBRARY_PATH": folder}, cwd=tmp_path)
    assert "too long" not in library.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("simulate", "--time-limit", "-3"), "--time-limit: expected a number above 0, found -3"),
        (("compare", "--time-limit", "nan"), "--time-limit: expected a number above 0, found nan"),
        (("optimize", "--time-limit", "0"), "--time-limit: expected a number above 0, found 0"),
        (("optimize", "--seed", str(2**64)), f"--seed: expected at most {2**64 - 1}, found {2**64}"),
        (("simulate", "--overhead", "inf"), "--overhead: expected a finite number, found inf"),
        (("simulate", "--eager", str(2**80)), "--eager: expected at most "),
    ],
)
def test_numbers_beyond_their_bounds_are_wrong_usage(ranktree, words: tuple[str, ...], text: str) -> None:
    result = ranktree(*words, "--", "true")
    assert result.returncode == 2
    assert text in result.stderr


def test_hosts_that_are_no_names_are_named_with_their_source(ranktree, ring: Path, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_bytes(b"# \xe9t\xe9\nuser@n1:2 slots=2\n")
    plan = tmp_path / "plan.json"
    assert ranktree("map", ring, "--machine", "node:1 core:64", "--hostfile", hosts, "-o", plan).returncode == 0
    assert [host["name"] for host in json.loads(plan.read_text(encoding="ascii"))["hosts"]] == ["n1"]
    hosts.write_bytes(b"n\xe9\n")
    for words, source in ((("--hostfile", hosts), hosts), (("--hosts", "n\u00e9"), "--hosts")):
        result = ranktree("map", ring, "--machine", "node:1 core:64", *words)
        assert result.returncode == 1
        assert result.stderr.startswith(f"ranktree: {source}: expected the name of a host, found ")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_ended_bench_leaves_no_ranks(number: int, mpi: Mpi, command: str) -> None:
    seconds = f"60.{os.getpid()}"
    words = [command, "bench", "bcast", "--sizes", "8", "--seconds", seconds, "--", *mpi.launch(2)]
    with subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, start_new_session=True) as process:
        wait_until(lambda: count_running(f"--seconds\0{seconds}\0") >= 4)  # ours, the launcher's, two ranks
        process.send_signal(number)
        assert process.wait(timeout=60) == -number
    wait_until(lambda: count_running(f"--seconds\0{seconds}\0") == 0)


def wait_until(holds: Callable[[], bool]) -> None:
    """For a minute at most."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def count_running(words: str) -> int:
    """Processes with these words on their command lines."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += words.encode() in path.read_bytes()
        except OSError:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_the_signal_of_a_launcher_terminates_the_command(number: int, command: str, tmp_path: Path) -> None:
    """The launcher kills itself; its --version is Open MPI's."""
    launcher = tmp_path / "mpirun"
    kill = f"kill -{int(number)} $$"
    launcher.write_text(
        f"#!/bin/sh\n[ \"$1\" = --version ] && echo 'mpirun (Open MPI) 4.1.4' || {kill}\n", encoding="ascii"
    )
    launcher.chmod(0o755)
    words = [command, "run", "--collectives", "auto", "--no-collectives-cache", "--", launcher, "-n", "1", "/bin/true"]
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (-number, "")
