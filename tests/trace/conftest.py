"""Traced runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.mpis import DEBIAN, WHEELS, Mpi, needed_mpi
from tests.helpers.trace_files import Trace, read_trace


@pytest.fixture(params=(*DEBIAN, *WHEELS))
def mpi(request: pytest.FixtureRequest, mpi_builds: dict, build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """Each MPI in turn; skipped where the build is without it."""
    return needed_mpi(request.param, mpi_builds, build_folder, monkeypatch)


@pytest.fixture
def expect_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which programs write their expected traffic."""
    folder = tmp_path / "expected"
    folder.mkdir()
    monkeypatch.setenv("EXPECT_FOLDER", str(folder))
    return folder


@pytest.fixture
def traced(ranktree: Callable, mpi, tmp_path: Path) -> Callable:
    """Runs a program under `ranktree trace` and reads the file; the run must succeed."""

    def run(ranks: int, program: Path, *arguments: object) -> Trace:
        path = tmp_path / "app.npz"
        result = ranktree("trace", "-o", path, "--", *mpi.launch(ranks, program, *arguments))
        if result.returncode == 77:
            pytest.skip(f"{mpi.name} gives no MPI_THREAD_MULTIPLE")
        assert result.returncode == 0, result.stderr
        assert sorted(entry.name for entry in tmp_path.glob("app.npz*")) == ["app.npz"]
        trace = read_trace(path)
        assert len(trace.metadata["hosts"]) in {0, ranks}
        assert trace.metadata["complete"] is True
        assert trace.metadata["ranks"] == ranks
        return trace

    return run
