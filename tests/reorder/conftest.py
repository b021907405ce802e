"""What the tests of programs in another order share: programs of world/, an emulated cluster."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.emulated_cluster import MiniCluster, cluster_up

HERE = Path(__file__).resolve().parent

C_OPTIONS = ["-O1", "-Wall", "-Wextra", "-Wno-stringop-overflow", "-Wno-stringop-overread"]


@pytest.fixture(scope="module")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Four nodes that share this machine's PUs."""
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), "--nodes", 4, "--per-switch", 2) as made:
        yield made


@pytest.fixture(scope="session")
def made(compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Compiles a source of tests/reorder/world with an MPI's own wrapper."""
    return lambda mpi, source, *options: compiled(mpi, HERE / "world" / source, *(options or C_OPTIONS))


@pytest.fixture
def forced(mpi, made) -> Path:
    """A library that gives the order requested in place of a computed one."""
    return made(mpi.name, "forced_order.c", "-shared", "-fPIC")
