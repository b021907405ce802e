"""Fixtures of the tests of collectives."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.collect_programs import SECONDS
from tests.helpers.mpis import Mpi, yielding

SOURCES = Path(__file__).resolve().parent / "preload"


@pytest.fixture
def awake(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting ranks yield but never sleep: naps would be noise in the times that trials compare."""
    monkeypatch.setenv("LD_PRELOAD", ":".join(yielding(mpi.build, ["yield"])))


@pytest.fixture
def require_gigabytes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Skips a test that needs more memory than the kernel reports as available. Where glibc can, malloc takes huge
    pages: with small ones a third of the time of such tests goes into page faults.
    """
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")

    def need(count: int) -> None:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        if next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) < count << 20:
            pytest.skip(f"needs {count} GB of memory")

    return need


@pytest.fixture(scope="session")
def made(compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Compiles a source of tests/collect/preload with an MPI's own wrapper."""
    return lambda mpi, source, *options: compiled(mpi, SOURCES / source, "-O1", *options)


@pytest.fixture(scope="session")
def native() -> Callable[..., str]:
    """What a program prints without ranktree, with native collectives; each is run once for all tests."""
    known: dict[tuple[str, ...], str] = {}

    def output(mpi: Mpi, ranks: int, *program: object) -> str:
        key = (mpi.name, str(ranks), *map(str, program))
        if key not in known:
            words = mpi.launch(ranks, *program)
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
            known[key] = done.stdout
        return known[key]

    return output


@pytest.fixture(autouse=True)
def _without_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions of earlier runs are none of a test's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
