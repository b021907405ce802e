"""Each property of collectives once on Open MPI 5, MPICH 5, the standard ABI and Intel MPI.

Debian's MPIs have all cases, in the other files.
Three ranks: waiting ranks of MPICH and Intel MPI spin.
"""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.collect_programs import SECONDS
from tests.helpers.mpis import WHEELS, Mpi, needed_mpi

RANKS = 3
MESSAGES = "messages:binomial:groups=1"


@pytest.fixture(params=WHEELS)
def mpi(request: pytest.FixtureRequest, mpi_builds: dict, build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """Each of the wheels' MPIs."""
    return needed_mpi(request.param, mpi_builds, build_folder, monkeypatch)


@pytest.fixture
def run(mpi: Mpi, tmp_path: Path) -> Callable[..., str]:
    """What a test program prints under a rule; it must exit with 0."""

    def start(name: str, *arguments: object, rule: str = "native", ranks: int = RANKS) -> str:
        environment = {**os.environ, "RANKTREE_COLL": rule, "RANKTREE_COLL_LOG": str(tmp_path / "log")}
        words = mpi.launch(ranks, mpi.program(name), *arguments)
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return start


def test_random_calls(run: Callable) -> None:
    """Any collective, datatype, operation, root, count, algorithm, form and grouping."""
    assert int(re.match(r"ok (\d+)", run("collect_random", 3, 150))[1]) > 100


@pytest.mark.parametrize("rule", [MESSAGES, "levels:groups=2", "shared:binomial"])
def test_public_calls(run: Callable, rule: str) -> None:
    """Blocking, nonblocking and persistent calls, and their errors."""
    assert run("collect_calls", 5, rule=rule).startswith("ok")


@pytest.mark.parametrize("rule", [f"reduce={MESSAGES};allreduce=messages:ring:groups=1", "shared:binomial"])
def test_every_operation_on_every_type(run: Callable, tmp_path: Path, rule: str) -> None:
    """The predefined ones of C and Fortran; two ranks, for there are 300 pairs of a type and an operation."""
    kinds = int(run("collect_operations", rule=rule, ranks=2).split()[1]) // 4
    assert kinds > 250
    log = (tmp_path / "log").read_text(encoding="utf-8")
    for collective in ("reduce", "allreduce"):
        assert re.search(rf": {collective} \S+: (messages|shared):\S+ \| by rule", log), log


def test_shared_memory_gives_the_results_of_the_mpi(run: Callable) -> None:
    """Every collective, root, datatype, operation and size in random order, one by one and several at a time."""
    output = run("shared_check", "shared:binomial", RANKS, 40)
    assert re.search(r"\d+ operations, 0 wrong results", output), output


def test_more_data_than_the_buffer_holds_is_an_error(run: Callable) -> None:
    """MPI's error class, nothing written beyond the buffer, and later calls are right."""
    assert run("shared_truncated") == "ok\n"
