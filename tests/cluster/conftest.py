"""An emulated cluster for tests; where it cannot be made, tests are skipped with the reason."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.emulated_cluster import MiniCluster


@pytest.fixture(scope="session")
def minicluster(build_folder: Path) -> Path:
    """The command, on machines where clusters can be made."""
    program = build_folder / "bin" / "minicluster"
    result = subprocess.run([str(program), "available"], capture_output=True, text=True, timeout=60, check=False)
    if result.returncode == 77:
        pytest.skip(result.stdout.strip())
    assert result.returncode == 0, result.stderr
    return program


@pytest.fixture(scope="session")
def make_cluster(minicluster: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., MiniCluster]]:
    """Makes clusters with the given options of `up`; all are removed at the end."""
    made = []

    def make(*options: object) -> MiniCluster:
        cluster = MiniCluster(minicluster, tmp_path_factory.mktemp("cluster") / "state")
        made.append(cluster)
        cluster.need("up", *options)
        return cluster

    yield make
    for cluster in made:
        cluster.call("down")


@pytest.fixture(scope="session")
def cluster(make_cluster: Callable[..., MiniCluster]) -> MiniCluster:
    """Four nodes on two switches that show four cores each."""
    return make_cluster("--nodes", 4, "--per-switch", 2, "--rate", 400, "--latency", 200, "--cpus", 4)
