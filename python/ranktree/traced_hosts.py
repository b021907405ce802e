"""The hosts of a trace on a machine that lacks them."""

from collections.abc import Sequence

import numpy as np

from ranktree import _core
from ranktree.allocation import shown
from ranktree.usable_machine import Notify


def fit_hosts(traffic: "_core.Pattern | np.ndarray", tree: _core.Tree, notify: Notify) -> None:
    """Reports traced hosts that the machine lacks, and takes them for its nodes in order, so that the plan is compared
    with what ran; where they do not fit in, with the current rank order.
    """
    if isinstance(traffic, np.ndarray):
        return
    traced = list(traffic.metadata["hosts"])
    nodes = free_slots(tree)
    absent = tuple(dict.fromkeys(host for host in traced if not any(_core.same_host(host, node) for node in nodes)))
    if not absent:
        return
    listed = f"the hosts of the trace ({shown(tuple(dict.fromkeys(traced)))}) are not hosts of the machine"
    names = nodes_in_order(traced, nodes)
    if names is None:
        notify(f"{listed}, and their ranks do not fit on its nodes: the plan is compared with the current rank order")
        return
    notify(f"{listed}: the traced placement is that on its nodes in order ({shown(tuple(dict.fromkeys(names)))})")
    traffic.metadata = traffic.metadata | {"hosts": names}


def free_slots(tree: _core.Tree) -> dict[str, int]:
    """How many slots of each node may be used, in tree order."""
    free: dict[str, int] = {}
    for leaf in range(tree.leaf_count):
        if tree.allowed(leaf):
            free[tree.host(leaf)] = free.get(tree.host(leaf), 0) + 1
    return free


def nodes_in_order(traced: Sequence[str], nodes: dict[str, int]) -> list[str] | None:
    """The node of each rank where the traced hosts are the machine's nodes in order; None where they do not fit."""
    hosts = list(dict.fromkeys(traced))
    if len(hosts) > len(nodes):
        return None
    node_of = dict(zip(hosts, nodes, strict=False))
    if any(traced.count(host) > nodes[node] for host, node in node_of.items()):
        return None
    return [node_of[host] for host in traced]
