"""Nonblocking collectives of unmodified programs, as requests of the MPI that a thread of ranktree completes."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.collect_log import served
from tests.helpers.collect_programs import SECONDS
from tests.helpers.mpis import Mpi

RULES = {
    "messages": (
        "bcast=messages:binomial:groups=1 reduce=messages:binomial:groups=1 "
        "allreduce=messages:recursive-doubling:groups=1"
    ),
    "pipelines": "bcast=messages:pipeline:groups=1:segment=8K reduce=shared:binomial allreduce=messages:ring:groups=1",
    "shared": "shared:binomial",
    "auto": "auto",
}
CHAIN = "bcast=messages:chain:groups=1"

Program = Callable[..., Path]
Start = Callable[..., str]


@pytest.fixture
def start(
    ranktree: Callable[..., subprocess.CompletedProcess[str]], mpi: Mpi, native: Callable[..., str], monkeypatch
) -> Start:
    """Runs a program by itself, or under `ranktree run --collectives` with RANKTREE_COLL_NONBLOCKING."""

    def run(ranks: int, program: list[object], wanted: str | None = None, nonblocking: str = "thread", log=None) -> str:
        if wanted is None:
            return native(mpi, ranks, *program)
        command = mpi.launch(ranks, *program)
        monkeypatch.setenv("RANKTREE_COLL_NONBLOCKING", nonblocking)
        options = () if log is None else ("--collectives-log", log)
        result = ranktree("run", "--collectives", wanted, *options, "--", *command, timeout=SECONDS)
        monkeypatch.delenv("RANKTREE_COLL_NONBLOCKING")
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run


@pytest.mark.parametrize(("rule", "ranks"), [("messages", 2), ("messages", 3), ("pipelines", 3), ("shared", 3)])
def test_results_are_the_mpis(start: Start, made: Program, mpi: Mpi, tmp_path: Path, rule: str, ranks: int) -> None:
    program = [made(mpi.name, "nonblocking.c"), "random", 7, 60]
    log = tmp_path / "log"
    assert start(ranks, program, RULES[rule], log=log) == start(ranks, program)
    assert all(served(log)[name] > 20 for name in ("broadcast", "reduce", "allreduce")), log.read_text()


def test_many_ranks_on_few_processors(start: Start, made: Program, mpi: Mpi) -> None:
    known_bugs.skip(mpi, "waiting-ranks-spin")
    program = [made(mpi.name, "nonblocking.c"), "random", 11, 40]
    assert start(7, program, RULES["messages"]) == start(7, program)


def test_auto_decides_in_blocking_calls(start: Start, made: Program, mpi: Mpi) -> None:
    program = [made(mpi.name, "nonblocking.c"), "random", 5, 150]
    assert start(2, program, "auto") == start(2, program)


@pytest.mark.parametrize("binding", [1, 2, 3])
def test_fortran(start: Start, made: Program, mpi: Mpi, tmp_path: Path, binding: int) -> None:
    options = (f"-DBINDING={binding}", "-fallow-argument-mismatch", "-w")
    program = [made(mpi.name, "nonblocking.F90", *options)]
    log = tmp_path / "log"
    assert start(3, program, RULES["messages"], log=log) == start(3, program)
    assert served(log) == {"broadcast": 40, "reduce": 40, "allreduce": 80} | {
        name: 0 for name in served(log) if name not in {"broadcast", "reduce", "allreduce"}
    }


@pytest.mark.parametrize("rule", [CHAIN, "bcast=shared:binomial"])
def test_a_rank_that_receives_passes_on_its_part(start: Start, made: Program, mpi: Mpi, rule: str) -> None:
    program = [made(mpi.name, "nonblocking.c"), "waits"]
    assert start(3, program, rule) == start(3, program)


def test_a_rank_that_computes_passes_on_its_part(start: Start, made: Program, mpi: Mpi) -> None:
    """No other variant does: with native calls the last rank may wait as long as the sleeping one sleeps."""
    printed = start(3, [made(mpi.name, "nonblocking.c"), "sleeps", 3], CHAIN)
    assert "late" not in printed
    assert len(printed.splitlines()) == 1


@pytest.mark.parametrize("rule", ["messages", "shared"])
def test_what_is_freed_ends_by_itself(start: Start, made: Program, mpi: Mpi, rule: str) -> None:
    ranks = 2 if known_bugs.spins(mpi) else 3
    program = [made(mpi.name, "nonblocking.c"), "frees"]
    assert start(ranks, program, RULES[rule]) == start(ranks, [*program, "wait"])


def test_errors_have_the_mpis_class(start: Start, made: Program, mpi: Mpi) -> None:
    """Those that are not concerned go on, and so does the communicator."""
    assert len(start(3, [made(mpi.name, "nonblocking.c"), "short"], RULES["messages"]).splitlines()) == 1


def test_reductions_with_user_operations_stay_native(start: Start, made: Program, mpi: Mpi, tmp_path: Path) -> None:
    program = [made(mpi.name, "nonblocking.c"), "own"]
    log = tmp_path / "log"
    assert start(3, program, RULES["messages"], log=log) == start(3, program)
    text = log.read_text(encoding="utf-8")
    assert text.count("operations of the program's own stay native") == 1
    assert not any(served(log).values())


@pytest.mark.parametrize(("nonblocking", "threads"), [("thread", 1), ("", 0), ("native", 0), ("fast", 0)])
def test_there_is_no_thread_without_the_setting(
    start: Start, made: Program, mpi: Mpi, tmp_path: Path, nonblocking: str, threads: int
) -> None:
    log = tmp_path / "log"
    program = [made(mpi.name, "nonblocking.c"), "level"]
    plain = start(2, program).splitlines()[0]
    found = start(2, program, RULES["messages"], nonblocking, log).splitlines()[0]
    assert plain.endswith("threads 0")
    assert found == ("level 1 threads 1" if threads else plain)
    logged = log.read_text(encoding="utf-8").count("RANKTREE_COLL_NONBLOCKING: expected thread or native")
    assert logged == (1 if nonblocking == "fast" else 0)


def test_without_the_setting_calls_are_the_mpis(start: Start, made: Program, mpi: Mpi, tmp_path: Path) -> None:
    program = [made(mpi.name, "nonblocking.F90", "-DBINDING=2", "-fallow-argument-mismatch", "-w")]
    log = tmp_path / "log"
    assert start(3, program, RULES["messages"], "", log) == start(3, program)
    assert not any(served(log).values())


def test_tracing_comes_first(start: Start, made: Program, mpi: Mpi, tmp_path: Path, monkeypatch, ranktree) -> None:
    """The thread's messages are not the program's."""
    log = tmp_path / "log"
    for name, value in {"COLL": RULES["messages"], "COLL_LOG": str(log), "COLL_NONBLOCKING": "thread"}.items():
        monkeypatch.setenv(f"RANKTREE_{name}", value)
    command = mpi.launch(2, made(mpi.name, "nonblocking.c"), "level")
    result = ranktree("trace", "-o", tmp_path / "traced.npz", "--", *command, timeout=SECONDS)
    assert result.returncode == 0, result.stderr
    assert "threads 0" in result.stdout
    assert "would be recorded as the program's" in log.read_text(encoding="utf-8")


def test_ranks_with_different_settings_stay_native(made: Program, mpi: Mpi, build_folder: Path) -> None:
    library = build_folder / f"lib/libranktree_collect_{mpi.name}.so"
    variables = [f"LD_PRELOAD={library}", f"RANKTREE_COLL={RULES['messages']}", "RANKTREE_COLL_LOG=stderr"]
    program = made(mpi.name, "nonblocking.c")
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    script = f"[ {rank} = 1 ] || export RANKTREE_COLL_NONBLOCKING=thread; exec {program} random 3 10"
    found = subprocess.run(
        mpi.launch(3, "env", *variables, "sh", "-c", script),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert "another rank cannot have them served" in found.stderr
