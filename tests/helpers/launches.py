"""How tests look at real launches: this machine, the environment of a launcher, where its ranks are."""

import os
import socket

from tests.helpers.emulated_cluster import MPICH, OPENMPI

HERE = socket.gethostname()
PUS = sorted(os.sched_getaffinity(0))
Slots = list[tuple[str, list[int]]]


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


def planned(slots: Slots) -> dict[int, tuple[str, str]]:
    """The same for slots of one PU or of PUs 0 and 1."""
    return {rank: (host, "0-1" if pus == [0, 1] else str(pus[0])) for rank, (host, pus) in enumerate(slots)}
