"""Who exchanges how much with whom: totals, shares by class and by call, heaviest pairs, message sizes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ranktree import _core
from ranktree.report.inputs import Inputs

CLASSES = {
    "p2p": "point-to-point",
    "neighbor": "neighbourhood collectives",
    "collective": "collectives",
    "rma": "one-sided",
}
TOP_PAIRS = 50
MOST_COMMUNICATORS = 50
MOST_EXPONENT = 64
# docs/how-to/trace.md measures what one traced message takes beside an untraced one, on Open MPI 4.1 and MPICH 4.0.
NANOSECONDS_A_MESSAGE = 5.4


class Pairs:
    """Directed pairs of ranks as parallel arrays."""

    def __init__(self, pattern: "_core.Pattern") -> None:
        """All classes together, senders ascending."""
        self.ranks = pattern.ranks
        self.senders = np.repeat(np.arange(pattern.ranks), np.diff(pattern.indptr))
        self.receivers = np.asarray(pattern.indices, dtype=np.int64)
        self.messages = np.asarray(pattern.messages)
        self.bytes = np.asarray(pattern.bytes)

    def __len__(self) -> int:
        """How many pairs."""
        return len(self.receivers)


def totals(inputs: Inputs, pairs: Pairs) -> dict[str, Any]:
    """Sums over everything, and the share of each class."""
    own = pairs.senders == pairs.receivers
    classes = []
    for name, label in CLASSES.items():
        messages, amounts = inputs.traffic.traffic(name)
        if messages.any() or amounts.any():
            classes.append({"name": name, "label": label, **amount(messages.sum(), amounts.sum())})
    return {
        "pairs": len(pairs),
        **amount(pairs.messages.sum(), pairs.bytes.sum()),
        "to_itself": amount(pairs.messages[own].sum(), pairs.bytes[own].sum()),
        "classes": classes,
        "collectives_model": inputs.model if inputs.recorded.collectives else None,
    }


def amount(messages: float, size: float) -> dict[str, float]:
    """Messages and bytes; whole numbers stay whole in JSON."""
    return {"messages": plain(messages), "bytes": plain(size)}


def plain(value: float) -> float:
    """An int where the value is one."""
    return int(value) if float(value).is_integer() else float(value)


def top_pairs(inputs: Inputs, pairs: Pairs) -> list[dict[str, Any]]:
    """The heaviest directed pairs, and where they meet in each placement."""
    weight = pairs.bytes if pairs.bytes.any() else pairs.messages
    other = np.flatnonzero(pairs.senders != pairs.receivers)
    heaviest = other[np.lexsort((other, -weight[other]))][:TOP_PAIRS]
    senders, receivers = pairs.senders[heaviest], pairs.receivers[heaviest]
    rows: list[dict[str, Any]] = [
        {"from": int(a), "to": int(b), **amount(pairs.messages[i], pairs.bytes[i])}
        for a, b, i in zip(senders, receivers, heaviest, strict=True)
    ]
    for key, placed in (("before", inputs.before), ("after", inputs.after)):
        if placed is not None and inputs.shape is not None:
            levels = inputs.shape.common_level(placed.slot_of[senders], placed.slot_of[receivers])
            for row, level in zip(rows, levels.tolist(), strict=True):
                row[key] = level
    return rows


def message_sizes(inputs: Inputs, pairs: Pairs) -> list[dict[str, Any]]:
    """Histograms by power of two: what the pattern holds of sizes, named for what they count."""
    found = []
    sent = [(row["bucket"] - 1, row["messages"]) for row in inputs.recorded.sent]
    if sent:
        label = "point-to-point messages by their size"
        found.append({"counts": "messages", "label": label, "buckets": histogram(sent)})
    moved = not sent and (pairs.messages > 0) & (pairs.senders != pairs.receivers)
    if np.any(moved) and pairs.bytes.any():
        mean = pairs.bytes[moved] / pairs.messages[moved]
        found.append(
            {
                "counts": "messages",
                "label": "messages by the mean size of their pair",
                "buckets": histogram(zip(exponents(mean), pairs.messages[moved], strict=True)),
            }
        )
    calls = [(call["bucket"] - 1, call["calls"]) for call in inputs.recorded.collectives]
    if calls:
        label = "collective calls by the size of their message at one rank"
        found.append({"counts": "calls", "label": label, "buckets": histogram(calls)})
    return found


def exponents(sizes: np.ndarray) -> np.ndarray:
    """floor(log2(size)), -1 below one byte."""
    return np.where(sizes >= 1, np.floor(np.log2(np.maximum(sizes, 1))), -1).astype(np.int64)


def histogram(items: Iterable[tuple[int, float]]) -> list[dict[str, Any]]:
    """Sums by exponent, without gaps: sizes in from..to (exclusive), the first bucket 0..1 for empty messages."""
    sums: dict[int, float] = defaultdict(float)
    for exponent, count in items:
        sums[min(int(exponent), MOST_EXPONENT)] += float(count)
    first, last = min(sums), max(sums)
    return [
        {"from": 2**power if power >= 0 else 0, "to": 2 ** (power + 1), "count": plain(sums.get(power, 0.0))}
        for power in range(first, last + 1)
    ]


def calls(inputs: Inputs) -> list[dict[str, Any]]:
    """Collective calls by operation, most bytes first. Counts are sums over the ranks, as in the pattern file."""
    return grouped(inputs, "operation")


def communicators(inputs: Inputs) -> list[dict[str, Any]]:
    """Collective calls by communicator, most bytes first."""
    rows = grouped(inputs, "communicator")[:MOST_COMMUNICATORS]
    for row in rows:
        add_members(row, inputs.recorded.communicators)
    return rows


def sends(inputs: Inputs) -> dict[str, list[dict[str, Any]]]:
    """Point-to-point messages by call and by communicator, most bytes first; -1: a communicator of unknown members."""
    by_call = summed(inputs.recorded.sent, "call", "messages")
    by_communicator = summed(inputs.recorded.sent, "communicator", "messages")[:MOST_COMMUNICATORS]
    for row in by_communicator:
        add_members(row, inputs.recorded.communicators)
    return {"calls": by_call, "communicators": by_communicator}


def add_members(row: dict[str, Any], groups: Sequence[tuple[list[int], list[int]]]) -> None:
    """How many ranks the row's communicator has, and which."""
    members, remote = groups[row["communicator"]] if row["communicator"] >= 0 else ([], [])
    row["ranks"] = len(members) + len(remote)
    row["members"] = _core.cpu_list(sorted({*members, *remote}))


def grouped(inputs: Inputs, key: str) -> list[dict[str, Any]]:
    """Calls and bytes of the collective calls with equal `key`."""
    return summed(inputs.recorded.collectives, key, "calls")


def summed(rows: Iterable[Mapping[str, Any]], key: str, counted: str) -> list[dict[str, Any]]:
    """What is counted, and the bytes, of the rows with equal `key`, most bytes first."""
    sums: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        sums[row[key]][0] += row[counted]
        sums[row[key]][1] += row["bytes"]
    ordered = sorted(sums.items(), key=lambda item: (-item[1][1], -item[1][0], item[0]))
    return [{key: name, counted: plain(count), "bytes": plain(size)} for name, (count, size) in ordered]


def not_attributed(inputs: Inputs) -> list[dict[str, Any]]:
    """Calls that moved data but are in no pair, most frequent first."""
    counts = inputs.recorded.metadata["unattributed"]
    return [{"call": call, "count": plain(count)} for call, count in sorted(counts.items(), key=lambda each: -each[1])]


def tracing(inputs: Inputs) -> dict[str, Any] | None:
    """What recording took, where this pattern was traced: an estimate from the messages of the busiest rank."""
    metadata = inputs.recorded.metadata
    if "trace" not in metadata["source"]:
        return None
    starts = np.asarray(inputs.recorded.indptr)
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(inputs.recorded.messages))])
    busiest = float((sums[starts[1:]] - sums[starts[:-1]]).max(initial=0.0))
    return {
        "nanoseconds_a_message": NANOSECONDS_A_MESSAGE,
        "messages_of_the_busiest_rank": plain(busiest),
        "seconds_at_the_busiest_rank": busiest * NANOSECONDS_A_MESSAGE * 1e-9,
    }
