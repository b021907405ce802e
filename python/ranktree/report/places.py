"""The machine's side of the document: traffic by level, the tree and its ranks, links, traffic between nodes."""

from typing import Any

import numpy as np

from ranktree import _core
from ranktree.measures import METRICS
from ranktree.report.arrays import packed
from ranktree.report.inputs import Inputs, has_costs_of
from ranktree.report.shape import Shape
from ranktree.report.traffic import Pairs, amount, plain

LABELS = {
    "identity": "rank order",
    "traced": "traced placement",
    "round-robin": "round robin over nodes",
    "plan": "plan",
}
OTHERS = ("identity", "round-robin")  # for comparison, behind the placements before and after
BETWEEN_NODES = ("Cluster", "Switch", "Network")
LARGEST_GAP = 1.0  # of a plan above its bound, as a share of the bound; larger ones mean nothing
TOP_LINKS = 30
MATRIX_NODES = 16  # more are listed by their heaviest pairs
TOP_NODE_PAIRS = 60
TOP_CROSSING = 60


def levels(inputs: Inputs) -> dict[str, Any] | None:
    """The plan's table: weight by level and total of every placement that was compared."""
    plan = inputs.plan
    if plan is None or not plan.costs:
        return None
    rows = {row.placement: row for row in plan.costs}
    before = "traced" if "traced" in rows else "identity"
    placements = [
        {
            "name": name,
            "label": "current rank order" if name == before == "identity" else LABELS[name],
            "weight": list(map(plain, rows[name].weight)),
            "total": rows[name].total,
        }
        for name in dict.fromkeys((before, "plan", *OTHERS))
        if name in rows
    ]
    hop_bytes = plan.metric == "size" and counts_hops(inputs, plan)
    return {
        "metric": plan.metric,
        "unit": METRICS[plan.metric],
        "cost_unit": "hop-bytes" if hop_bytes else f"{METRICS[plan.metric]} x cost",
        "kinds": plan.levels,
        "costs": plan.level_costs,
        "before": before if before in rows else None,
        "placements": placements,
        "bound": plan.bound,
        "gap": known_gap(plan),
    }


def counts_hops(inputs: Inputs, plan: "_core.Plan") -> bool:
    """Whether the plan's costs are hops. Its file has no name for them, but those of a tree are 2 a branching level."""
    if inputs.tree is not None:
        return inputs.request.cost == "hops" and has_costs_of(inputs.tree, plan)
    steps = np.diff([*plan.level_costs, 0.0])
    return bool(np.isin(steps, (0.0, -2.0)).all())


def known_gap(plan: "_core.Plan") -> float | None:
    """How far the plan may be from the best, as a share of its bound; None where the bound is less than half of it."""
    return plan.gap if plan.gap is not None and plan.gap <= LARGEST_GAP else None


def between_nodes(plan: "_core.Plan", placement: str) -> float:
    """The weight that meets above the nodes."""
    row = next(each for each in plan.costs if each.placement == placement)
    weights = zip(plan.levels, row.weight, strict=True)
    return sum(weight for level, weight in weights if level.startswith(BETWEEN_NODES))


def machine(inputs: Inputs, pairs: Pairs) -> dict[str, Any] | None:
    """The tree by its slots, and the slot of each rank in each placement."""
    shape = inputs.shape
    if shape is None:
        return None
    return {
        "source": inputs.request.source,
        "kinds": shape.kinds,
        "nodes": shape.nodes,
        "slots": shape.slots,
        "meets": packed(shape.meets(), "u1"),
        "pus": [_core.cpu_list(pus) for pus in shape.pus],
        "placements": [
            {
                "name": each.name,
                "label": each.label,
                "slot_of": packed(each.slot_of, "u4"),
                "leaving": packed(leaving(shape, each.slot_of, pairs), "f8"),
            }
            for each in inputs.placements
        ],
    }


def leaving(shape: Shape, slot_of: np.ndarray, pairs: Pairs) -> np.ndarray:
    """By slot: what its ranks exchange with other nodes, on one node across its highest level that branches."""
    senders, receivers = slot_of[pairs.senders], slot_of[pairs.receivers]
    weight = pairs.bytes if pairs.bytes.any() else pairs.messages
    level = shape.common_level(senders, receivers)
    limit = outer_levels(shape)
    out = level < limit
    both = np.bincount(senders[out], weights=weight[out], minlength=shape.slots)
    return both + np.bincount(receivers[out], weights=weight[out], minlength=shape.slots)


def outer_levels(shape: Shape) -> int:
    """Pairs that meet on a level below this number cross: between nodes, or on one node across its outermost parts."""
    if len(shape.nodes) > 1:
        return shape.node_level or 0
    return int(shape.meets()[1:].min(initial=len(shape.kinds) - 1)) + 1


def crossing(inputs: Inputs, pairs: Pairs) -> dict[str, list[dict[str, Any]]]:
    """For each placement the heaviest pairs of ranks, both directions together, that cross nodes."""
    shape = inputs.shape
    result: dict[str, list[dict[str, Any]]] = {}
    if shape is None:
        return result
    first, second, messages, sizes = undirected(pairs.senders, pairs.receivers, pairs, pairs.ranks)
    for placed in inputs.placements:
        level = shape.common_level(placed.slot_of[first], placed.slot_of[second])
        weight = sizes if sizes.any() else messages
        out = np.flatnonzero(level < outer_levels(shape))
        out = out[np.argsort(-weight[out], kind="stable")][:TOP_CROSSING]
        result[placed.name] = [
            {"ranks": [int(first[i]), int(second[i])], "level": int(level[i]), **amount(messages[i], sizes[i])}
            for i in out
        ]
    return result


def undirected(
    first: np.ndarray, second: np.ndarray, pairs: Pairs, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of different objects, both directions added: the lower one, the higher one, messages, bytes."""
    other = first != second
    low, high = np.minimum(first, second)[other], np.maximum(first, second)[other]
    keys, index = np.unique(low * count + high, return_inverse=True)
    messages = np.bincount(index, weights=pairs.messages[other], minlength=len(keys))
    sizes = np.bincount(index, weights=pairs.bytes[other], minlength=len(keys))
    return keys // count, keys % count, messages, sizes


def node_traffic(inputs: Inputs, pairs: Pairs) -> dict[str, Any] | None:
    """Traffic between nodes, both directions together; on large machines the heaviest pairs of nodes only."""
    shape = inputs.shape
    if shape is None or len(shape.nodes) < 2:
        return None
    tables = {placed.name: between(shape, placed.slot_of, pairs) for placed in inputs.placements}
    whole = len(shape.nodes) <= MATRIX_NODES
    return {
        "nodes": shape.nodes if whole else None,
        "complete": whole,
        "placements": [
            {
                "name": name,
                "pairs_of_nodes": len(rows),
                "messages": plain(sum(row["messages"] for row in rows)),
                "bytes": plain(sum(row["bytes"] for row in rows)),
                "heaviest": rows if whole else rows[:TOP_NODE_PAIRS],
            }
            for name, rows in tables.items()
        ],
    }


def between(shape: Shape, slot_of: np.ndarray, pairs: Pairs) -> list[dict[str, Any]]:
    """One row a pair of nodes that exchange anything, most bytes first."""
    node = shape.node_of_slot[slot_of]
    names = shape.nodes
    low, high, messages, sizes = undirected(node[pairs.senders], node[pairs.receivers], pairs, len(names))
    order = np.lexsort((low, -messages, -sizes))
    return [{"nodes": [names[low[i]], names[high[i]]], **amount(messages[i], sizes[i])} for i in order]


def links(inputs: Inputs, pairs: Pairs) -> list[dict[str, Any]]:
    """The most loaded links of the tree: what leaves and enters an object, both directions together."""
    if inputs.shape is None or not inputs.placements:
        return []
    loads = {placed.name: loads_of(inputs.shape, placed.slot_of, pairs) for placed in inputs.placements}
    weight = loads[inputs.placements[0].name][1] + loads[inputs.placements[-1].name][1]
    if not weight.any():
        weight = loads[inputs.placements[0].name][0] + loads[inputs.placements[-1].name][0]
    heaviest = np.argsort(-weight, kind="stable")[:TOP_LINKS]
    return [
        {
            "link": object_name(inputs.shape, int(number)),
            "level": inputs.shape.kinds[inputs.shape.level_of_object[number]],
            **{name: amount(messages[number], sizes[number]) for name, (messages, sizes) in loads.items()},
        }
        for number in heaviest
        if weight[number] > 0
    ]


def loads_of(shape: Shape, slot_of: np.ndarray, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Messages and bytes over the link between each object and the one outside it. Slots are left out."""
    count = len(shape.level_of_object)
    messages, sizes = np.zeros(count), np.zeros(count)
    for level, above in enumerate(shape.above[1:-1], start=1):
        ends = above[slot_of]
        first, second = ends[pairs.senders], ends[pairs.receivers]
        apart = first != second
        for end in (first[apart], second[apart]):
            own = shape.level_of_object[end] == level
            messages += np.bincount(end[own], weights=pairs.messages[apart][own], minlength=count)
            sizes += np.bincount(end[own], weights=pairs.bytes[apart][own], minlength=count)
    return messages, sizes


def object_name(shape: Shape, number: int) -> str:
    """`Node n3`, `n3 Package 1`."""
    level = int(shape.level_of_object[number])
    if number in shape.names:
        return f"{shape.kinds[level]} {shape.names[number]}"
    siblings = shape.above[level]
    slot = int(np.argmax(siblings == number))
    node = shape.nodes[shape.node_of_slot[slot]]
    return " ".join(word for word in (node, shape.kinds[level], ordinal(shape, number, level, slot)) if word)


def ordinal(shape: Shape, number: int, level: int, slot: int) -> str:
    """An object's number: the operating system's, else its place among its level's within the node."""
    if len(shape.numbers) and shape.numbers[number] >= 0:
        return str(shape.numbers[number])
    inside = shape.node_of_slot == shape.node_of_slot[slot]
    return str(int(np.searchsorted(np.unique(shape.above[level][inside]), number)))
