"""The machine of a launch, made of its ranks' hosts: a machine file (docs/reference/formats/machine.md)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ranktree.where.findings import Place
from ranktree.where.hosts import Host, touched

Core = tuple[int, list[int]]  # its number and its PUs


def cores_a_rank(places: Sequence[Place], hosts: Mapping[str, Host]) -> int:
    """How many cores every rank has for itself, as ranks of several threads have; 1 where some share a core."""
    cores = [[(name, core) for core in touched(pus, dict(enumerate(hosts[name].cores)))] for name, pus in places]
    sharers = Counter(core for own in cores for core in own)
    return max(1, min(map(len, cores))) if max(sharers.values(), default=0) == 1 else 1


class Part(NamedTuple):
    """What holds several cores of a host: a package, a NUMA node or a cache, which has no number."""

    kind: str
    number: int | None
    pus: frozenset[int]


def machine_of(hosts: Mapping[str, Host]) -> dict[str, Any]:
    """All hosts side by side; equal ones share a shape. Only cores that the job may use are places."""
    shapes: dict[str, Any] = {}
    names: dict[str, str] = {}
    listed = []
    for host in hosts.values():
        shape = shape_of(host)
        name = names.setdefault(repr(shape), f"shape{len(names)}")
        shapes[name] = shape
        listed.append({"names": host.name, "shape": name})
    return {"format": "ranktree-machine", "version": 1, "shapes": shapes, "network": {"hosts": listed}}


def shape_of(host: Host) -> dict[str, Any]:
    """Packages, NUMA nodes and shared caches, nested as they hold each other, and in them cores."""
    usable = {pu for core in host.usable for pu in core}
    cores = [(number, core) for number, core in enumerate(host.cores) if usable & set(core)]
    if not cores:
        raise ValueError(f"{host.name}: found no core that the job may use")
    return {"children": children_of(cores, parts_of(host), usable)}


def parts_of(host: Host) -> list[Part]:
    """The parts of a host that hold more than a core, each inside or beside the others, the largest first."""
    whole = {pu for core in host.cores for pu in core}
    packages = host.packages or [sorted(whole)]
    parts = [Part("Package", number, frozenset(pus)) for number, pus in enumerate(packages)]
    parts += [Part("NUMANode", number, frozenset(pus)) for number, pus in host.numa.items() if set(pus) < whole]
    cores = {frozenset(core) for core in host.cores}
    caches = sorted(host.caches, key=lambda cache: -cache[0])
    parts += [Part(f"L{level}", None, frozenset(pus)) for level, pus in caches if frozenset(pus) not in cores]
    nested: list[Part] = []
    for part in sorted(parts, key=lambda part: -len(part.pus)):  # stable: the order above where they are equal
        if all(part.pus <= outer.pus or part.pus.isdisjoint(outer.pus) for outer in nested):
            nested.append(part)
    return nested


def children_of(cores: list[Core], parts: list[Part], usable: set[int]) -> list[dict[str, Any]]:
    """The objects that hold the cores, in the order of the cores."""
    found: list[dict[str, Any]] = []
    while cores:
        number, core = cores[0]
        position = next((index for index, part in enumerate(parts) if core[0] in part.pus), None)
        if position is None:
            found.append({"kind": "Core", "os_index": number, "pus": [pu for pu in core if pu in usable]})
            cores = cores[1:]
            continue
        part = parts[position]
        inside = [core for core in cores if core[1][0] in part.pus]
        cores = [core for core in cores if core[1][0] not in part.pus]
        below = [one for one in parts[position + 1 :] if one.pus <= part.pus]
        named = {} if part.number is None else {"os_index": part.number}
        found.append({"kind": part.kind, **named, "children": children_of(inside, below, usable)})
    return found
