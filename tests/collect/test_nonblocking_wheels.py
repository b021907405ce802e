"""Nonblocking collectives that a thread completes, on the MPIs of PyPI's wheels: results, progress and errors."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.collect_log import served
from tests.helpers.faked_mpis import QUIET, FakedMpi, finish, needed_mpi

RANKS = 2  # waiting ranks of MPICH and Intel MPI spin
SECONDS = 90
RULES = {
    "messages": "bcast=messages:binomial reduce=messages:binomial allreduce=messages:recursive-doubling",
    "shared": "shared:binomial",
}
NO_THREADS = "the MPI does not give MPI_THREAD_MULTIPLE"

Run = Callable[..., list[str]]


@pytest.fixture(params=["openmpi5", "mpich5", "mpiabi1", "intelmpi2021"])
def wheel(request: pytest.FixtureRequest, build_folder: Path) -> FakedMpi:
    """Each of the wheels' MPIs."""
    return needed_mpi(request.param, build_folder)


@pytest.fixture
def run(wheel: FakedMpi, made: Callable[..., Path], build_folder: Path, tmp_path: Path) -> Run:
    """What nonblocking.c prints by itself, or preloaded by a rule; skipped where the MPI cannot have the thread."""
    program = made(wheel.name, "nonblocking.c")
    library = build_folder / "lib" / f"libranktree_collect_{wheel.name}.so"
    log = tmp_path / "log"

    def start(*words: object, rule: str | None = None) -> list[str]:
        settings = {
            "LD_PRELOAD": library,
            "RANKTREE_COLL": rule,
            "RANKTREE_COLL_LOG": log,
            "RANKTREE_COLL_NONBLOCKING": "thread",
        }
        pairs = [f"{name}={value}" for name, value in settings.items()] if rule else []
        command = [*wheel.launch(RANKS), "/usr/bin/env", *pairs, str(program), *map(str, words)]
        result = finish(command, {**os.environ, **QUIET[wheel.family]}, SECONDS)
        assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
        if log.exists() and NO_THREADS in log.read_text(encoding="utf-8"):
            pytest.skip(f"{wheel.name}: {NO_THREADS}")
        return [line for line in result.stdout.splitlines() if line]

    return start


@pytest.mark.parametrize("rule", RULES)
def test_results_are_the_mpis(run: Run, tmp_path: Path, rule: str) -> None:
    assert run("random", 7, 40, rule=RULES[rule]) == run("random", 7, 40)
    found = served(tmp_path / "log")
    assert all(found[name] > 10 for name in ("broadcast", "reduce", "allreduce")), found


def test_there_is_a_thread(run: Run) -> None:
    """Or the test is skipped with the reason."""
    assert run("level", rule=RULES["messages"])[0].endswith("threads 1")


def test_a_rank_that_receives_passes_on_its_part(run: Run) -> None:
    chain = "bcast=messages:chain"
    assert run("waits", rule=chain) == run("waits")


def test_errors_have_the_mpis_class(run: Run) -> None:
    assert len(run("short", rule=RULES["messages"])) == 1
