"""The machine that ranks are placed on: what the user names, without the hosts that the launch may not use."""

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ranktree import _core
from ranktree.allocation import Allocation, shown

Notify = Callable[[str], None]


def is_described(machine: str | None, network: str | None) -> bool:
    """Whether the machine is words such as `node:4 core:8`, whose hosts have made-up names."""
    if network is not None or machine in {None, "", "live"}:
        return False
    return not machine.endswith(".json") and ".xml" not in machine and not Path(machine).exists()


def usable_slots(tree: _core.Tree) -> int:
    """How many slots ranks may be placed on."""
    return sum(tree.allowed(leaf) for leaf in range(tree.leaf_count))


def is_oversubscribed(tree: _core.Tree, ranks: int) -> bool:
    """Whether ranks have to share slots, as a plan of `ranktree map --oversubscribe` may have them."""
    return ranks > usable_slots(tree)


def usable_machine(
    machine: str | None, network: str | None, allowed: Allocation | None, notify: Notify
) -> tuple[_core.Tree, bool]:
    """The tree, and whether its hosts have made-up names. ValueError names hosts that the machine does not have."""
    described = is_described(machine, network)
    tree = _core.load_machine(machine or "live", network)
    if allowed is None or (described and not allowed.named):
        return tree, described
    nodes = nodes_of(tree)
    if network is None and len(nodes) == 1 and (described or machine in {None, "", "live"} or ".xml" in machine):
        return alike(machine or "live", tree, nodes, allowed, notify), False
    if described:
        return renamed(tree, nodes, allowed), False
    return restricted(tree, nodes, allowed, notify), False


def nodes_of(tree: _core.Tree) -> dict[str, list[int]]:
    """The leaves of each host, in tree order."""
    nodes: dict[str, list[int]] = {}
    for leaf in range(tree.leaf_count):
        nodes.setdefault(tree.host(leaf), []).append(leaf)
    return nodes


def alike(
    machine: str, tree: _core.Tree, nodes: dict[str, list[int]], allowed: Allocation, notify: Notify
) -> _core.Tree:
    """Every host of the allocation is taken to be like the one node that is known."""
    if len(allowed.hosts) == 1 and allowed.holds(next(iter(nodes))):
        return tree
    if machine == "live" or ".xml" in machine:
        node = "this node (--machine names others)" if machine == "live" else f"the node of {machine}"
        notify(f"{allowed.source}: each of {shown(allowed.hosts)} is taken to be like {node}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hosts"
        path.write_text("".join(f"{host} allocation\n" for host in allowed.hosts), encoding="ascii")
        return _core.load_machine(machine, str(path))


def renamed(tree: _core.Tree, nodes: dict[str, list[int]], allowed: Allocation) -> _core.Tree:
    """The described nodes by the names of the allocation's hosts, in order."""
    if len(nodes) != len(allowed.hosts):
        raise ValueError(
            f"{allowed.source}: expected {len(nodes)} hosts, as many as described, found {len(allowed.hosts)}"
        )
    names = iter(allowed.hosts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.json"
        _core.save_machine(str(path), tree)
        document = json.loads(path.read_text(encoding="utf-8"))
        for part in parts(document["network"]):
            if "hosts" in part:
                part["hosts"] = [
                    {**each, "names": next(names)}
                    for each in part["hosts"]
                    for _ in _core.expand_hostlist(each["names"], "machine")
                ]
        path.write_text(json.dumps(document), encoding="utf-8")
        return _core.load_machine(str(path))


def parts(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A network and the switches in it, in tree order."""
    yield part
    for inside in part.get("switches", []):
        yield from parts(inside)


def restricted(tree: _core.Tree, nodes: dict[str, list[int]], allowed: Allocation, notify: Notify) -> _core.Tree:
    """Only the leaves of the allocation's hosts may be used. A job elsewhere leaves the machine as it is."""
    machine = Allocation(tuple(name for name in nodes if name), "the machine")
    position = {host: machine.position(host) for host in allowed.hosts}
    absent = [host for host, at in position.items() if at is None]
    used = [machine.hosts[at] for at in position.values() if at is not None]
    if not used and not allowed.named:
        notify(f"{allowed.source}: {shown(allowed.hosts)} are not in the machine: all of its hosts are used")
        return tree
    if absent:
        raise ValueError(f"{allowed.source}: the machine ({shown(tuple(nodes))}) has no host {shown(tuple(absent))}")
    leaves = [leaf for name in used for leaf in nodes[name] if tree.allowed(leaf)]
    return tree.with_allowed(sorted(leaves))


def launchable(plan: _core.Plan, path: str) -> _core.Plan:
    """A plan whose hosts a launcher can reach; the only host of a described machine is this node."""
    if not plan.described:
        return plan
    if len(plan.hosts) > 1:
        raise ValueError(
            f"{path}: the machine was described in words and has no real hosts: give `ranktree map` --hosts, or the "
            "machine file of `ranktree topo -o` there"
        )
    return _core.plan_on_this_node(plan)
