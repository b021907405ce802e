"""What the tests of real launches share: plans made by hand, the MPIs of this machine, an emulated cluster."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tools" / "minicluster")]

from emulated import MiniCluster, cluster_up  # noqa: E402
from launch import MPICH, OPENMPI  # noqa: E402

HERE = socket.gethostname()
PUS = sorted(os.sched_getaffinity(0))
Seats = list[tuple[str, list[int]]]
# Prints where the rank that runs it is, from what the kernel says; exits with its argument.
WHERE = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-$SLURM_PROCID}}}
echo "rank $rank $(uname -n) $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$$/status)"
exit ${1:-0}
"""


def environment(**more: str) -> dict[str, str]:
    """This environment, with what lets Open MPI start as root."""
    return os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | more


def cluster_environment(family: str) -> dict[str, str]:
    """What makes an MPI's launcher on the head reach the nodes of an emulated cluster."""
    return environment(**(OPENMPI if family == "openmpi" else MPICH))


def places(output: str) -> dict[int, tuple[str, str]]:
    """rank -> (host, PUs) as `where` printed them."""
    words = [line.split() for line in output.splitlines() if line.startswith("rank ")]
    return {int(rank): (host, pus) for _, rank, host, pus in words}


def planned(seats: Seats) -> dict[int, tuple[str, str]]:
    """The same for seats of one PU or of PUs 0 and 1."""
    return {rank: (host, "0-1" if pus == [0, 1] else str(pus[0])) for rank, (host, pus) in enumerate(seats)}


@pytest.fixture
def make_plan(tmp_path: Path) -> Callable[..., Path]:
    """Writes a plan with the given seats, by hand and not through the code under test."""

    def make(seats: Seats, hosts: list[str] | None = None, name: str = "plan.json") -> Path:
        hosts = hosts or sorted({host for host, _ in seats})
        document = {
            "format": "ranktree-plan",
            "version": 1,
            "ranks": len(seats),
            "algorithm": "treematch",
            "metric": "size",
            "seed": 1,
            "gain": True,
            "levels": [{"kind": "Cluster", "cost": 4}, {"kind": "Node", "cost": 2}, {"kind": "PU", "cost": 0}],
            "hosts": [{"name": host, "pus": 1024} for host in hosts],
            "seats": [{"host": host, "pus": pus} for host, pus in seats],
            "costs": [],
        }
        path = tmp_path / name
        path.write_text(json.dumps(document), encoding="ascii")
        return path

    return make


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A program that tells where its rank is."""
    path = tmp_path / "where"
    path.write_text(WHERE, encoding="ascii")
    path.chmod(0o755)
    return path


@pytest.fixture(params=["openmpi", "mpich"])
def mpiexec(request: pytest.FixtureRequest) -> str:
    """The launcher of each of Debian's MPIs."""
    program = f"mpiexec.{request.param}"
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return program


@pytest.fixture(scope="module")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Four nodes that share this machine's PUs."""
    if len(PUS) < 2:
        pytest.skip("two PUs are needed to tell a binding from none")
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), "--nodes", 4, "--per-switch", 2) as made:
        yield made
