"""The library without `ranktree trace`: beside other tools, in irregular jobs, linked statically."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.trace_files import read_trace

SOURCES = Path(__file__).parent / "preload"
RING = {("p2p", 0, 1): (10, 1000), ("p2p", 1, 2): (10, 1000), ("p2p", 2, 0): (10, 1000)}
WORLD_BARRIERS = {("Barrier", -1, 0, (0, 1, 2), ()): (6, 0)}


@pytest.fixture
def library(mpi, build_folder: Path) -> Path:
    """The preload library of this MPI."""
    return build_folder / f"lib/libranktree_preload_{mpi.name}.so"


@pytest.fixture
def made(mpi, compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Compiles a source of this folder with the MPI's compiler wrapper."""
    return lambda source, *options: compiled(mpi.name, SOURCES / source, *options)


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The output of the library; both launchers below pass the variable on."""
    path = tmp_path / "app.npz"
    monkeypatch.setenv("RANKTREE_TRACE", str(path))
    return path


def preloaded(mpi, ranks: int, libraries: list[Path], *program: object) -> subprocess.CompletedProcess[str]:
    """Starts a program with libraries in front of it, in that order."""
    command = mpi.launch(ranks, "env", "LD_PRELOAD=" + ":".join(map(str, libraries)), *program)
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def parts_of(output: Path) -> Path:
    """The folder of the parts of a trace."""
    return output.with_name(output.name + ".parts")


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to], ids=["symbolic", "hard"])
def test_a_link_in_place_of_a_part_is_not_followed(link, mpi, library, made, output, tmp_path):
    """Another user has made the folder first; the trace is complete all the same."""
    victim = tmp_path / "victim"
    victim.write_text("kept\n", encoding="ascii")
    parts_of(output).mkdir()
    link(parts_of(output) / "rank-1-0.part", victim)
    result = preloaded(mpi, 3, [library], made("ring.c"))
    assert result.returncode == 0
    assert victim.read_text(encoding="ascii") == "kept\n"
    assert read_trace(output).record.pairs == RING


def test_the_library_alone_writes_the_trace(mpi, library, made, output):
    result = preloaded(mpi, 3, [library], made("ring.c"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    trace = read_trace(output)
    assert trace.record.pairs == RING
    assert trace.record.calls == WORLD_BARRIERS
    assert not parts_of(output).exists()


def test_refused_calls_leave_the_trace_readable(mpi, made, traced):
    """Both made it unreadable. A wrong root is not counted; a count below 0 is a call or a message of no bytes."""
    known_bugs.skip(mpi, "no-argument-checks")
    trace = traced(3, made("refused.c"))
    world = (0, 1, 2)
    assert trace.record.calls == {
        ("Bcast", 2, 3, world, ()): (3, 12),
        ("Reduce_scatter", -1, 0, world, ()): (3, 0),
    }
    assert trace.record.pairs == {("rma", rank, 2): (1, 0) for rank in world}


def test_a_tool_behind_ranktree_works_and_its_calls_are_not_the_programs(mpi, library, made, output):
    tool = made("tool.c", "-shared", "-fPIC")
    result = preloaded(mpi, 3, [library, tool], made("ring.c"))
    assert result.stderr.count("tool saw 2") == 3
    assert read_trace(output).record.pairs == RING
    assert read_trace(output).record.calls == WORLD_BARRIERS


def test_ranktree_works_behind_another_tool(mpi, library, made, output):
    tool = made("tool.c", "-shared", "-fPIC")
    result = preloaded(mpi, 3, [tool, library], made("ring.c"))
    assert result.stderr.count("tool saw 2") == 3
    assert read_trace(output).record.pairs == RING


def test_a_job_with_one_untraced_process_succeeds(mpi, library, made, output, monkeypatch, ranktree):
    monkeypatch.setenv("RANKTREE_PATIENCE", "2")
    result = preloaded(mpi, 3, [library], SOURCES / "some_untraced", made("ring.c"))
    assert result.returncode == 0
    assert not output.exists()
    assert ranktree("trace", "--recover", output).returncode == 0
    trace = read_trace(output)
    assert trace.metadata["complete"] is False
    assert trace.metadata["missing"] == [1]
    assert trace.record.pairs == {key: amount for key, amount in RING.items() if key[1] != 1}


def test_when_the_file_cannot_be_written_the_program_succeeds_and_parts_stay(mpi, library, made, output):
    output.mkdir()  # a folder of that name prevents it
    result = preloaded(mpi, 3, [library], made("ring.c"))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert len(list(parts_of(output).iterdir())) == 3
    assert parts_of(output).stat().st_mode & 0o777 == 0o700


def test_without_parts_a_regular_exit_still_writes_the_trace(mpi, library, made, output):
    parts_of(output).write_text("not a folder", encoding="utf-8")
    assert preloaded(mpi, 3, [library], made("ring.c")).returncode == 0
    assert read_trace(output).record.pairs == RING


@pytest.mark.parametrize(("foreign", "mode"), [(False, 0o777), (False, 0o770), (True, 0o700)])
def test_parts_are_not_left_where_others_may_write(mpi, library, made, output, monkeypatch, foreign, mode):
    """A folder that was there before; the file cannot be written, so that parts would stay."""
    if foreign and os.geteuid() != 0:
        pytest.skip("only root makes folders of another user")
    parts_of(output).mkdir()
    parts_of(output).chmod(mode)
    if foreign:
        os.chown(parts_of(output), 65534, -1)
    output.mkdir()
    monkeypatch.setenv("RANKTREE_VERBOSE", "1")
    result = preloaded(mpi, 3, [library], made("ring.c"))
    assert result.returncode == 0
    assert list(parts_of(output).iterdir()) == []
    refusal = f"ranktree: {parts_of(output)}: expected a folder of this user alone; a crash will lose the records"
    assert result.stderr.count(refusal) == 3
    assert f"ranktree: {output}: not written\n" in result.stderr


def test_nothing_is_written_without_the_variable(mpi, library, made, output, monkeypatch):
    monkeypatch.delenv("RANKTREE_TRACE")
    assert preloaded(mpi, 3, [library], made("ring.c")).returncode == 0
    assert list(output.parent.glob("app.npz*")) == []


@pytest.mark.parametrize("split", [False, True])
def test_a_program_of_sessions_runs_untraced(mpi, library, made, output, monkeypatch, split):
    """As under `ranktree run --split`."""
    known_bugs.skip(mpi, "no-sessions")
    monkeypatch.delenv("RANKTREE_TRACE")
    if split:
        monkeypatch.setenv("RANKTREE_SPLIT", "1")
    result = preloaded(mpi, 3, [library], made("session.c"))
    assert result.returncode == 0, result.stderr
    assert list(output.parent.glob("app.npz*")) == []


def test_a_program_of_sessions_leaves_finished_parts(mpi, library, made, output, ranktree):
    known_bugs.skip(mpi, "no-sessions")
    assert preloaded(mpi, 3, [library], made("session.c")).returncode == 0
    assert ranktree("trace", "--recover", output).returncode == 0
    trace = read_trace(output)
    assert trace.metadata["complete"] is True
    assert trace.record.pairs == {("p2p", i, (i + 1) % 3): (1, 4) for i in range(3)}
    assert trace.record.calls == {("Barrier", -1, 0, (0, 1, 2), ()): (3, 0)}


def test_after_the_last_session_the_world_is_recorded(mpi, library, made, output):
    known_bugs.skip(mpi, "no-sessions")
    known_bugs.skip(mpi, "second-session-crashes")
    assert preloaded(mpi, 3, [library], made("session.c"), "world").returncode == 0
    trace = read_trace(output)
    assert trace.metadata["complete"] is True
    assert trace.record.pairs == {("p2p", i, (i + 1) % 3): (2, 8) for i in range(3)}


def test_parts_of_a_rank_from_an_earlier_run_do_not_stay_among_new_ones(mpi, library, made, output):
    """Its rank 1 had two threads, and crashed; this one cannot write its file, so that its parts stay."""
    parts_of(output).mkdir(mode=0o700)
    for thread in range(2):
        (parts_of(output) / f"rank-1-{thread}.part").write_text("earlier", encoding="ascii")
    output.mkdir()
    assert preloaded(mpi, 3, [library], made("ring.c")).returncode == 0
    assert sorted(path.name for path in parts_of(output).iterdir()) == [f"rank-{rank}-0.part" for rank in range(3)]


def test_the_archive_traces_a_program_it_is_linked_into(mpi, made, output, build_folder):
    archive = build_folder / f"lib/libranktree_trace_{mpi.name}.a"
    if not archive.exists():
        pytest.skip("built with -DRANKTREE_STATIC_TRACE=ON only")
    program = made("ring.c", archive, "-lz", "-lstdc++", "-lm")
    assert preloaded(mpi, 3, [], program).returncode == 0
    assert read_trace(output).record.pairs == RING
