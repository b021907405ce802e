"""What would shorten the modelled time of a placement, with the fraction that each saves by the same model."""

from collections import Counter
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any

import numpy as np

from ranktree import _core
from ranktree.report.inputs import Inputs
from ranktree.report.places import outer_levels
from ranktree.report.traffic import Pairs
from ranktree.report.verdict import percent
from ranktree.usable_machine import is_oversubscribed

Model = tuple[str, str | None]  # objective and parameters, as `_core.limit_of` takes them
TIME: Model = ("time", None)
MOST_PAIRS = 20_000  # with more, the search by time would take longer than the rest of the report
LEAST_BY_NODES = 0.05  # what another number of ranks a node has to save: the program has to be launched anew for it
SERVED = "collective"  # the class of calls that `run --collectives` can serve


@dataclass(frozen=True)
class Parts:
    """The two parts of a placement's modelled seconds: each is proportional to what would have to shrink."""

    latency: float  # to the number of messages
    transfer: float  # to the bytes, and to the inverse of all bandwidths


def parts_of(tree: _core.Tree, traffic: _core.Pattern, slots: np.ndarray, seconds: float, model: Model = TIME) -> Parts:
    """Transfer is the rest of the seconds."""
    latency = _core.latency_seconds(tree, traffic, slots, model)
    return Parts(latency, max(seconds - latency, 0.0))


def remedies(
    inputs: Inputs, rows: list[dict[str, Any]], row: dict[str, Any], slot_of: np.ndarray
) -> list[dict[str, Any]]:
    """Of one row of `limits`, without what saves too little; first what leaves the program as it is."""
    if inputs.tree is None:
        return []
    parts = parts_of(inputs.tree, inputs.traffic, slot_of.astype(np.int32), row["seconds"])
    placements = [other_placement(row, other) for other in rows if other is not row]
    if row is rows[-1]:
        placements += [by_time(inputs, inputs.tree, row), *by_nodes(inputs, inputs.tree, row, slot_of)]
    program = [fewer_messages(parts, row["seconds"]), fewer_bytes(parts, row["seconds"])]
    worthwhile = max(inputs.request.worthwhile, 1e-9)
    return [
        *most_first(placements, worthwhile),
        *collectives(inputs, slot_of),
        *most_first(program, worthwhile),
    ]


def most_first(found: list[dict[str, Any]], worthwhile: float) -> list[dict[str, Any]]:
    """Those that save enough, what saves most first."""
    kept = [each for each in found if each["saves"] >= worthwhile]
    return sorted(kept, key=lambda each: -each["saves"])


def other_placement(row: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The placement that the report compares with, or the plan."""
    saves = 1 - other["seconds"] / row["seconds"]
    return remedy("placement", saves, f"By the {other['label']} the modelled time is {percent(saves)} shorter.")


def by_time(inputs: Inputs, tree: _core.Tree, row: dict[str, Any]) -> dict[str, Any]:
    """A placement by seconds in place of bytes. Saves nothing where none is found, or the search takes too long."""
    saves = 0.0
    if inputs.plan is not None and inputs.plan.algorithm != "time" and len(inputs.traffic.indices) <= MOST_PAIRS:
        shared = is_oversubscribed(tree, inputs.traffic.ranks)
        seconds = seconds_by_time(tree, inputs.traffic, None, seed=inputs.request.seed, oversubscribe=shared)
        saves = 1 - seconds / row["seconds"]
    return other_objective(saves)


def by_nodes(inputs: Inputs, tree: _core.Tree, row: dict[str, Any], slot_of: np.ndarray) -> list[dict[str, Any]]:
    """Another number of ranks a node. None where ranks share slots, or the searches take too long."""
    if len(inputs.traffic.indices) > MOST_PAIRS or is_oversubscribed(tree, inputs.traffic.ranks):
        return []
    return other_ranks_a_node(tree, inputs.traffic, slot_of, row["seconds"], seed=inputs.request.seed)


def other_ranks_a_node(  # noqa: PLR0913  what is placed, as it is now, by which model, and how it is searched
    tree: _core.Tree,
    traffic: _core.Pattern,
    slot_of: np.ndarray,
    seconds: float,
    model: Model = TIME,
    **search: Any,
) -> list[dict[str, Any]]:
    """The best plan with a power of two of ranks on each of the first nodes, if it saves LEAST_BY_NODES."""
    slots: dict[str, list[int]] = {}
    for leaf in range(tree.leaf_count):
        if tree.allowed(leaf):
            slots.setdefault(tree.host(leaf), []).append(leaf)
    used = Counter(tree.host(int(leaf)) for leaf in slot_of)
    best = None
    for ranks in takewhile(lambda each: each <= max(map(len, slots.values())), (2**i for i in count())):
        leaves = even_slots(list(slots.values()), ranks, traffic.ranks)
        nodes = len({tree.host(leaf) for leaf in leaves})
        if nodes == len(used) or len(leaves) < traffic.ranks:
            continue
        found = seconds_by(model, tree.with_allowed(leaves), traffic, **search)
        best = min(filter(None, (best, (found, ranks, nodes))))
    if best is None or best[0] > (1 - LEAST_BY_NODES) * seconds:
        return []
    saves = 1 - best[0] / seconds
    change = f"at most {best[1]} ranks a node on {best[2]} nodes, in place of {max(used.values())} on {len(used)}"
    return [remedy("ranks_a_node", saves, f"With {change}, the modelled time is {percent(saves)} shorter.")]


def even_slots(nodes: list[list[int]], ranks: int, wanted: int) -> list[int]:
    """So many slots of each node, spread over it, on as few nodes as hold what is wanted."""
    leaves: list[int] = []
    for slots in nodes:
        if len(leaves) >= wanted:
            break
        taken = min(ranks, len(slots))
        leaves += [slots[i * len(slots) // taken] for i in range(taken)]
    return leaves


def seconds_by_time(tree: _core.Tree, traffic: _core.Pattern, parameters: str | None, **options: Any) -> float:
    """The modelled seconds of a plan by time. Options are those of `_core.make_plan`."""
    return seconds_by(("time", parameters), tree, traffic, **options)


def seconds_by(model: Model, tree: _core.Tree, traffic: _core.Pattern, **options: Any) -> float:
    """The same by a model's objective."""
    _, limits = _core.plan_by_objective(tree, traffic, model, **options)
    (seconds,) = [float(each["seconds"]) for each in limits if each["placement"] == "plan"]
    return seconds


def other_objective(saves: float) -> dict[str, Any]:
    """A plan by seconds."""
    sentence = f"By a plan of `ranktree map --objective time` the modelled time is {percent(saves)} shorter."
    return remedy("objective", saves, sentence)


def fewer_messages(parts: Parts, seconds: float) -> dict[str, Any]:
    """The same bytes in half as many messages."""
    share, saves = parts.latency / seconds, parts.latency / seconds / 2
    half = f"half as many messages for the same bytes save {percent(saves)}"
    return remedy("messages", saves, f"Latency of messages is {percent(share)} of this time: {half}.")


def fewer_bytes(parts: Parts, seconds: float) -> dict[str, Any]:
    """Half the bytes take as long as the same bytes on links of twice the bandwidth."""
    share, saves = parts.transfer / seconds, parts.transfer / seconds / 2
    half = f"half as many bytes, or links of twice the bandwidth, save {percent(saves)}"
    return remedy("bytes", saves, f"Transfer of bytes is {percent(share)} of this time: {half}.")


def collectives(inputs: Inputs, slot_of: np.ndarray) -> list[dict[str, Any]]:
    """The collective calls in what crosses nodes."""
    if inputs.shape is None or len(inputs.shape.nodes) < 2:
        return []
    pairs = Pairs(inputs.traffic)
    crosses = inputs.shape.common_level(slot_of[pairs.senders], slot_of[pairs.receivers]) < outer_levels(inputs.shape)
    return served(inputs.traffic, crosses, inputs.request.worthwhile)


def served(traffic: _core.Pattern, crosses: np.ndarray, worthwhile: float) -> list[dict[str, Any]]:
    """The share of collective calls in the pairs that cross nodes. The model does not know what other variants save."""
    index, unit = (1, "bytes") if np.any(traffic.bytes) else (0, "messages")
    whole = np.asarray((traffic.messages, traffic.bytes)[index])[crosses].sum()
    part = traffic.traffic(SERVED)[index][crosses].sum()
    if part <= worthwhile * whole:
        return []
    share = f"Collective calls are {percent(part / whole)} of the {unit} between nodes"
    measure = "`ranktree run --collectives auto` measures whether hierarchical variants are faster"
    return [remedy("collectives", None, f"{share}: {measure}.")]


def remedy(action: str, saves: float | None, sentence: str) -> dict[str, Any]:
    """A row of `would_help`."""
    return {"action": action, "saves": saves, "sentence": sentence}
