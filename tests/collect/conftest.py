"""Fixtures of the tests of collectives."""

from collections.abc import Callable
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parent / "preload"


@pytest.fixture(scope="session")
def made(compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Compiles a source of tests/collect/preload with an MPI's own wrapper."""
    return lambda mpi, source, *options: compiled(mpi, SOURCES / source, "-O1", *options)


@pytest.fixture(autouse=True)
def _without_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions of earlier runs are none of a test's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
