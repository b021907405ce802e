"""The parts of a host that bindings are named by, from what the kernel lists."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ranktree import _core
from ranktree.verify import numbers

MARK = "ranktree-host "


@dataclass
class Host:
    """PUs of each package, NUMA node, core and cache (with its level); `usable`: of the cores that the job may use.

    `in_doubt`: the job may use more, but nothing shows which.
    """

    name: str
    packages: list[list[int]] = field(default_factory=list)
    numa: dict[int, list[int]] = field(default_factory=dict)
    cores: list[list[int]] = field(default_factory=list)
    caches: list[tuple[int, list[int]]] = field(default_factory=list)
    usable: list[list[int]] = field(default_factory=list)
    in_doubt: bool = False

    def open_cores(self) -> list[list[int]]:
        """The cores that a rank may use which nothing binds."""
        return self.cores if self.in_doubt else self.usable or self.cores

    def order_cores(self) -> None:
        """Numbers the cores as hwloc does: package by package, in each NUMA node by NUMA node."""
        package = {pu: index for index, pus in enumerate(self.packages) for pu in pus}
        node = {pu: min(pus) for pus in self.numa.values() for pu in pus}
        self.cores.sort(key=lambda core: (package.get(core[0], 0), node.get(core[0], 0), core[0]))


def hosts_in(text: str) -> dict[str, Host]:
    """The hosts that host.sh printed, by name."""
    found: dict[str, Host] = {}
    for line in text.splitlines():
        _, mark, rest = line.partition(MARK)
        name, _, described = rest.partition(" ")
        kind, _, listed = described.partition(" ")
        if not mark or kind not in {"packages", "cores", "numa", "caches"}:
            continue
        host = found.setdefault(name, Host(name))
        words = (word.partition("=") for word in listed.split())
        pairs = [(int(number), numbers(pus)) for number, sign, pus in words if sign]
        if kind == "numa":
            host.numa = dict(pairs)
        elif kind == "caches":
            host.caches = sorted(pairs)
        else:
            setattr(host, kind, sorted(numbers(word) for word in listed.split()))
    for host in found.values():
        host.order_cores()
    return found


def binding(pus: Sequence[int], host: Host) -> str:
    """The largest objects of hwloc that a set of PUs is made of: `Package L#1`, `Core L#2-3`, `PU P#5`."""
    chosen = set(pus)
    everything = {pu for core in host.open_cores() for pu in core}
    if everything and chosen >= everything:
        return "Node"
    for kind, objects in (
        ("Package L#", dict(enumerate(host.packages))),
        ("NUMANode P#", host.numa),
        ("Core L#", dict(enumerate(host.cores))),
    ):
        inside = sorted(number for number, one in objects.items() if one and set(one) <= chosen)
        if inside and {pu for index in inside for pu in objects[index]} == chosen:
            return kind + _core.cpu_list(inside)
    return "PU P#" + _core.cpu_list(sorted(chosen))


def touched(pus: Sequence[int], objects: dict[int, list[int]]) -> list[int]:
    """The numbers of the objects that share a PU with a set."""
    chosen = set(pus)
    return [number for number, own in sorted(objects.items()) if not chosen.isdisjoint(own)]
