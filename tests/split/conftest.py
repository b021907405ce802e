"""Each MPI in turn, and the paper's examples."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster"), str(HERE.parents[1] / "tools" / "minicluster")]

from emulated import MiniCluster, cluster_up  # noqa: E402
from fakes import NAMES, Mpi, needed_mpi  # noqa: E402


@pytest.fixture(params=NAMES)
def mpi(request: pytest.FixtureRequest, build_folder: Path) -> Mpi:
    """Each MPI in turn; skipped where the build has none of that name."""
    return needed_mpi(request.param, build_folder)


@pytest.fixture(scope="session")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Four nodes that share this machine's PUs."""
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), "--nodes", 4, "--per-switch", 2) as made:
        yield made
