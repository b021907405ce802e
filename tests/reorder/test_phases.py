"""The example `phases`: a pattern that changes midway is followed, and that pays."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.emulated_cluster import MiniCluster, cluster_up
from tests.helpers.faked_mpis import AS_ROOT, QUIET, FakedMpi, RunResult, finish, needed_mpi
from tests.helpers.mpis import NAMES

RANKS = 16
BYTES = 65536


@pytest.fixture(scope="module")
def slow_cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Four nodes of four emulated cores, whose links are slower than the nodes."""
    options = ["--nodes", 4, "--per-switch", 4, "--rate", 200, "--latency", 200, "--cpus", 4]
    with cluster_up(build_folder, tmp_path_factory.mktemp("phases"), *options) as made:
        yield made


def phases(mpi: FakedMpi, cluster: MiniCluster, folder: Path, *options: object) -> dict:
    """One recorded run with four consecutive ranks a node."""
    lines = [f"rank {rank}=n{rank // 4} slot={rank % 4}\n" for rank in range(RANKS)]
    rankfile = folder / "packed"
    rankfile.write_text("".join(lines), encoding="ascii")
    library = mpi.build / "lib" / "libranktree_preload_openmpi.so"
    words = ["--hostfile", cluster.state / "hostfile", "-np", RANKS, "--rankfile", rankfile]
    words += ["-x", "RANKTREE_TRACE=-", "-x", f"LD_PRELOAD={library}", mpi.build / "bin" / "phases_openmpi"]
    words += ["--rows", 4, "--bytes", BYTES, "--state", BYTES, "--iterations", 10, *options, "--json"]
    result = cluster.call("mpirun", *words, timeout=120, env=os.environ | AS_ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def pays(followed: dict) -> bool:
    """Whether iterations take less time once the columns are in nodes."""
    columns = followed["phases"][1]
    return columns["seconds_after"] < columns["seconds_before"]


def test_columns_come_into_nodes_when_they_are_the_rings(
    build_folder: Path, slow_cluster: MiniCluster, tmp_path: Path
) -> None:
    """Rows sit in nodes and stay; each column crosses nodes and is moved into one, in far less time than it saves."""
    mpi = needed_mpi("openmpi", build_folder)
    followed = phases(mpi, slow_cluster, tmp_path)
    if not pays(followed):  # other work may have stretched the iterations inside nodes
        followed = phases(mpi, slow_cluster, tmp_path)
    rows, columns = followed["phases"]
    assert (rows["moved"], rows["node_bytes_before"], rows["node_bytes_after"]) == (0, 0, 0)
    # Every rank sends to both neighbours in its column, which are on other nodes.
    assert columns["node_bytes_before"] == RANKS * 2 * BYTES
    assert columns["node_bytes_after"] == 0
    assert columns["moved"] >= RANKS - 4
    assert pays(followed)
    fixed = phases(mpi, slow_cluster, tmp_path, "--fixed")
    assert [phase["moved"] for phase in fixed["phases"]] == [0, 0]
    assert fixed["phases"][1]["node_bytes_after"] == RANKS * 2 * BYTES


def run_here(mpi: FakedMpi, ranks: int, *options: object) -> RunResult:
    """A run on this machine alone."""
    variables = {**os.environ, **QUIET[mpi.family], **mpi.yielding_variables}
    program = mpi.build / "bin" / f"phases_{mpi.name}"
    return finish([*mpi.launch(ranks), str(program), *map(str, options)], variables, 60)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ranks", [1, 3])
def test_without_records_it_runs_on_and_reports_the_reason(build_folder: Path, name: str, ranks: int) -> None:
    result = run_here(needed_mpi(name, build_folder), ranks, "--rows", 2, "--bytes", 300, "--iterations", 2, "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    for phase in json.loads(result.stdout)["phases"]:
        assert phase["moved"] == 0
        assert "ranktree trace" in phase["message"]
