"""Programs that abort, are killed, never begin or never exit: the known part is kept and marked as partial."""

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.trace_files import check, read_expected, read_trace

RANKS = 3


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "app.npz"


@pytest.fixture
def run(ranktree, mpi, output):
    """Runs `ends HOW CODE` under trace."""

    def start(how: str, code: int = 0, ranks: int = RANKS):
        words = ("trace", "-o", output, *mpi.launch(ranks, mpi.program("trace_ends"), how, code))
        try:
            return ranktree(*words)
        except subprocess.TimeoutExpired:
            if not known_bugs.has(mpi, "launcher-hangs-after-abort"):
                raise
            return ranktree(*words)

    return start


@pytest.mark.parametrize("how", ("abort", "kill", "segv"))
def test_a_dying_rank_loses_nothing(how, run, output, expect_folder):
    result = run(how, 5)
    assert result.returncode != 0
    trace = read_trace(output)
    assert trace.metadata["complete"] is False
    assert trace.metadata["missing"] == []
    assert "partial" in result.stderr
    check(trace, read_expected(expect_folder))
    assert not output.with_name("app.npz.parts").exists()


def test_the_code_of_mpi_abort_is_passed_through(mpi, run):
    code = run("abort", 5).returncode
    assert code == 5 or (code == -signal.SIGPIPE and known_bugs.has(mpi, "launcher-dies-after-abort"))


def test_ranks_that_never_finalize_leave_a_partial_trace(run, output, expect_folder):
    run("exit", 0)
    trace = read_trace(output)
    assert trace.metadata["complete"] is False
    check(trace, read_expected(expect_folder))


def test_the_exit_code_of_a_good_run_is_passed_through(run, output):
    assert run("well", 7).returncode == 7
    assert read_trace(output).metadata["complete"] is True


def run_without(run, code: int) -> subprocess.CompletedProcess:
    """Runs without MPI_Init; runs again where MPICH 4.0's launcher crashed, which writes to ranks that have exited."""
    result = run("without", code)
    return run("without", code) if result.returncode == -signal.SIGPIPE else result


def test_a_program_without_mpi_calls_makes_no_trace(run, output):
    result = run_without(run, 0)
    assert result.returncode == 1
    assert re.search(r"^ranktree: .*app\.npz: no trace was made: no rank came through MPI_Init$", result.stderr, re.M)
    assert list(output.parent.glob("app.npz*")) == []


def test_the_code_of_a_program_without_mpi_calls_wins(run):
    assert run_without(run, 9).returncode == 9


def test_an_older_file_stays_when_no_new_one_is_made(run, output):
    output.write_bytes(b"older")
    assert run_without(run, 0).returncode == 1
    assert output.read_bytes() == b"older"


def test_an_older_file_is_replaced(run, output):
    output.write_bytes(b"older")
    assert run("well").returncode == 0
    assert read_trace(output).metadata["ranks"] == RANKS


def interrupted(words: list) -> tuple[int, str]:
    """Exit code and stderr of a command that gets a SIGTERM while its program waits."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGTERM)
        _, text = process.communicate(timeout=60)
    return process.returncode, text


def test_signals_reach_the_launcher_whose_exit_code_is_returned(command, mpi, output, expect_folder):
    words = mpi.launch(RANKS, mpi.program("trace_ends"), "wait")
    untraced, _ = interrupted(words)
    code, text = interrupted([command, "trace", "-o", output, "--", *words])
    # Hydra exits with the signal's number or with 0, depending on which of its processes exits first.
    assert code == untraced or (
        known_bugs.has(mpi, "kill-gives-any-exit-code") and {code, untraced} == {0, signal.SIGTERM}
    )
    assert "partial" in text
    check(read_trace(output), read_expected(expect_folder))


def test_recover_makes_the_file_of_a_killed_trace(command, ranktree, mpi, output, expect_folder):
    words = [command, "trace", "-o", output, "--", *mpi.launch(RANKS, mpi.program("trace_ends"), "wait")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "waiting\n"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        process.wait(timeout=60)
        subprocess.run(["kill", *children], check=True)
        while any(Path(f"/proc/{child}").exists() for child in children):
            time.sleep(0.1)
    parts = output.with_name("app.npz.parts")
    assert parts.is_dir()
    refused = ranktree("trace", "-o", output, *mpi.launch(1, mpi.program("trace_ends")))
    assert refused.returncode == 1
    assert "app.npz.parts: left by another run" in refused.stderr
    text = output.with_suffix(".txt")
    refused = ranktree("trace", "--recover", output, "-o", text)
    assert refused.returncode == 2
    assert f"{text}: expected a name with the ending .npz" in refused.stderr
    assert parts.is_dir()
    assert not text.exists()
    result = ranktree("trace", "--recover", output)
    assert result.returncode == 0, result.stderr
    assert "partial" in result.stderr
    assert not parts.exists()
    assert "incomplete: not every rank came through MPI_Finalize" in ranktree("report", output).stdout
    check(read_trace(output), read_expected(expect_folder))


def test_recover_without_parts_is_refused(ranktree, output):
    result = ranktree("trace", "--recover", output)
    assert result.returncode == 1
    assert "nothing to recover" in result.stderr
