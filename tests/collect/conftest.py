"""Fixtures of the tests of collectives."""

from collections.abc import Callable
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parent / "preload"


@pytest.fixture(scope="session")
def made(compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Compiles a source of tests/collect/preload with an MPI's own wrapper."""
    return lambda mpi, source, *options: compiled(mpi, SOURCES / source, "-O1", *options)
