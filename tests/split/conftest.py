"""Each MPI in turn, and the paper's examples."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.emulated_cluster import MiniCluster, cluster_up
from tests.helpers.faked_mpis import FakedMpi, needed_mpi
from tests.helpers.mpis import NAMES


@pytest.fixture(params=NAMES)
def mpi(request: pytest.FixtureRequest, build_folder: Path) -> FakedMpi:
    """Each MPI in turn; skipped where the build has none of that name."""
    return needed_mpi(request.param, build_folder)


@pytest.fixture(scope="session")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Four nodes that share this machine's PUs."""
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), "--nodes", 4, "--per-switch", 2) as made:
        yield made
