"""What is wrong with the places of ranks, and the flag of the launcher, by its version, that mends it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ranktree import _core
from ranktree.advice import BIND, LIMIT, mend
from ranktree.where.hosts import Host

Place = tuple[str, list[int]]
# Ranks dealt over the packages of a node.
PACKAGES = {
    "openmpi4": "--map-by socket --bind-to core",
    "openmpi5": "--map-by package --bind-to core",
    "mpich": "-bind-to core -map-by socket",
    "intel": "-genv I_MPI_PIN_DOMAIN core -genv I_MPI_PIN_ORDER scatter",
    "slurm": "--cpu-bind=cores --distribution=block:cyclic",
    "flux": "-o cpu-affinity=per-task",
    "aprun": "-S 1 -cc cpu",
    "pals": "--cpu-bind numa",
    "jsrun": "-K 1 -b rs",
}
# At most so many ranks a node; Slurm needs an option of its own to fill one node after the other.
A_NODE = {**LIMIT, "slurm": f"{LIMIT['slurm']} --distribution=block"}


def findings(places: Sequence[Place], hosts: Mapping[str, Host], launcher: str) -> list[dict[str, Any]]:
    """Unbound, overlapping, oversubscribed; then idle packages and overloaded nodes, which may use sound bindings."""
    found = occupancy(places, hosts, launcher)
    overloaded = overloaded_nodes(places, hosts, launcher)
    taken = {each["host"] for each in found}
    idle = [each for each in idle_packages(places, hosts, launcher) if each["host"] not in taken]
    return [*found, *overloaded, *idle]


def occupancy(places: Sequence[Place], hosts: Mapping[str, Host], launcher: str) -> list[dict[str, Any]]:
    """What one host's PUs and the ranks on them show."""
    cores = {name: host.open_cores() for name, host in hosts.items()}
    on_host = Counter(host for host, _ in places)
    family = "openmpi" if launcher.startswith("openmpi") else launcher
    found = []
    for trouble, host, ranks, pus in _core.check_occupancy(list(places), list(cores.items())):
        usable = cores.get(host, [])
        flag = mend(family, trouble, on_host[host], len(usable), sum(map(len, usable)))
        found.append({"trouble": trouble, "host": host, "ranks": ranks, "pus": pus, "flag": flag})
    return found


def overloaded_nodes(places: Sequence[Place], hosts: Mapping[str, Host], launcher: str) -> list[dict[str, Any]]:
    """Nodes with more ranks than cores while the other nodes of the launch have free cores for them."""
    ranks_of = by_host(places)
    cores_of = {name: len(hosts[name].open_cores()) if name in hosts else 0 for name in ranks_of}
    if not all(cores_of.values()) or sum(cores_of.values()) < len(places):
        return []
    each = -(-len(places) // len(ranks_of))
    family = "openmpi" if launcher.startswith("openmpi") else launcher
    flag = f"{A_NODE[family].format(count=each)} {BIND[family]}"
    return [
        {"trouble": "overloaded", "host": name, "ranks": ranks, "pus": pus_of(places, ranks), "flag": flag}
        for name, ranks in ranks_of.items()
        if len(ranks) > cores_of[name]
    ]


def idle_packages(places: Sequence[Place], hosts: Mapping[str, Host], launcher: str) -> list[dict[str, Any]]:
    """Packages of a node that no rank may use while another one holds several: half of its memory bandwidth is idle."""
    found = []
    for name, ranks in by_host(places).items():
        host = hosts.get(name)
        if host is None or len(host.packages) < 2 or len(ranks) < 2:
            continue
        usable = {pu for core in host.usable or host.cores for pu in core}
        used = set(pus_of(places, ranks))
        idle = [pus for pus in host.packages if usable & set(pus) and used.isdisjoint(pus)]
        if idle:
            pus = sorted(pu for package in idle for pu in package)
            flag = PACKAGES[launcher]
            found.append({"trouble": "idle package", "host": name, "ranks": ranks, "pus": pus, "flag": flag})
    return found


def by_host(places: Sequence[Place]) -> dict[str, list[int]]:
    """The ranks of each host, in order of first appearance."""
    ranks: dict[str, list[int]] = defaultdict(list)
    for rank, (host, _) in enumerate(places):
        ranks[host].append(rank)
    return dict(ranks)


def pus_of(places: Sequence[Place], ranks: Sequence[int]) -> list[int]:
    """The PUs that ranks may use, each once."""
    return sorted({pu for rank in ranks for pu in places[rank][1]})
