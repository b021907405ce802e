"""The machine of a launch, made of its ranks' hosts: a machine file (docs/reference/formats/machine.md)."""

from collections.abc import Mapping
from typing import Any

from ranktree.where.hosts import Host


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
    """Packages, in them NUMA nodes where a package has several, in them cores."""
    usable = {pu for core in host.usable for pu in core}
    cores = [(number, core) for number, core in enumerate(host.cores) if usable & set(core)]
    if not cores:
        raise ValueError(f"{host.name}: found no core that the job may use")
    packages = host.packages or [sorted(pu for _, core in cores for pu in core)]
    children = []
    for number, package in enumerate(packages):
        inside = [(index, core) for index, core in cores if core[0] in package]
        if inside:
            children.append(
                {"kind": "Package", "os_index": number, "children": below_package(host, package, inside, usable)}
            )
    return {"children": children}


def below_package(
    host: Host, package: list[int], cores: list[tuple[int, list[int]]], usable: set[int]
) -> list[dict[str, Any]]:
    """The cores of a package, in NUMA nodes where it has more than one."""
    nodes = {number: pus for number, pus in sorted(host.numa.items()) if set(pus) < set(package)}
    if len(nodes) < 2:
        return [leaf(index, core, usable) for index, core in cores]
    found = []
    for number, pus in nodes.items():
        inside = [leaf(index, core, usable) for index, core in cores if core[0] in pus]
        if inside:
            found.append({"kind": "NUMANode", "os_index": number, "children": inside})
    return found


def leaf(index: int, core: list[int], usable: set[int]) -> dict[str, Any]:
    """A core with the PUs that the job may use."""
    return {"kind": "Core", "os_index": index, "pus": [pu for pu in core if pu in usable]}
