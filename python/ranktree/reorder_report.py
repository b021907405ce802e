"""What reordering would change, in lines for a reader: `ranktree run --reorder --dry-run`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from ranktree import _core
from ranktree.measures import METRICS
from ranktree.world import Reorder


def described(found: Mapping[str, Any], reorder: Reorder) -> list[str]:
    """The ranks that move, where their traffic meets before and after, and what it comes to."""
    ranks = found["ranks"]
    moved = sum(entry["new"] != rank for rank, entry in enumerate(ranks))
    if moved == 0:
        return [f"no gain: nothing would change ({found['reason'] or 'every rank stays'})"]
    owner = sorted(range(len(ranks)), key=lambda process: ranks[process]["new"])  # process by its new rank
    lines = [f"{moved} of {len(ranks)} ranks would move ({found['mode']})", ""]
    rows = [("rank", "now", "after")]
    rows += [(str(rank), place(ranks[rank]), place(ranks[owner[rank]])) for rank in range(len(ranks))]
    lines += aligned(rows)
    rows = [("level of two ranks", f"{METRICS[reorder.metric]} now", "after")]
    rows += traffic(reorder, [entry["chain"] for entry in ranks], owner)
    before, after = float(found["before"]), float(found["after"])
    saved = f"{100 * (1 - after / before):.1f} % less" if before > 0 else "0 % less"
    return [
        *lines,
        "",
        *aligned(rows),
        "",
        f"cost in {reorder.unit}: {before:g} -> {after:g}, {saved}",
    ]


def place(entry: Mapping[str, Any]) -> str:
    """`n2 PU 0-1`."""
    return f"{entry['host']} PU {_core.cpu_list(entry['pus'])}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, the numbers of the first to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join([row[0].rjust(widths[0]), *map(str.ljust, row[1:], widths[1:])]).rstrip() for row in rows]


def traffic(reorder: Reorder, chains: Sequence[Sequence[Any]], owner: Sequence[int]) -> list[tuple[str, str, str]]:
    """(level, amount now, amount after): the level is the lowest object that two processes share."""
    pattern = _core.load_pattern(str(reorder.pattern))[0]
    pattern = _core.expand_pattern(pattern, _core.natural_model(pattern))
    senders = numpy.repeat(numpy.arange(pattern.ranks), numpy.diff(pattern.indptr))
    receivers = numpy.asarray(pattern.indices)
    others = senders != receivers
    senders, receivers, amounts = senders[others], receivers[others], weights(pattern, reorder.metric)[others]
    names, level_of = shared_levels(chains)
    process = numpy.asarray(owner)
    sums = [
        numpy.bincount(level_of(first, second), weights=amounts, minlength=len(names))
        for first, second in ((senders, receivers), (process[senders], process[receivers]))
    ]
    return [
        (name, f"{now:,.0f}", f"{after:,.0f}") for name, now, after in zip(names, *sums, strict=True) if now or after
    ]


def weights(pattern: _core.Pattern, metric: str) -> numpy.ndarray:
    """One number for each pair."""
    messages, sizes = numpy.asarray(pattern.messages, dtype=float), numpy.asarray(pattern.bytes, dtype=float)
    if metric == "avg":
        average: numpy.ndarray = numpy.divide(sizes, messages, out=numpy.zeros_like(sizes), where=messages > 0)
        return average
    return sizes if metric == "size" else messages


def shared_levels(
    chains: Sequence[Sequence[Any]],
) -> tuple[list[str], Callable[[numpy.ndarray, numpy.ndarray], numpy.ndarray]]:
    """The levels' names from the outside in, and a function from two arrays of processes to the level they share."""
    depth = max(map(len, chains))
    prefixes = numpy.full((len(chains), depth + 1), -1)
    prefixes[:, 0] = 0
    known: dict[tuple[Any, ...], int] = {}
    names = ["Cluster"]
    number = {"Cluster": 0}
    level = numpy.zeros((len(chains), depth + 1), dtype=int)
    for process, chain in enumerate(chains):
        for index, (kind, _) in enumerate(chain):
            key = tuple(map(tuple, chain[: index + 1]))
            prefixes[process, index + 1] = known.setdefault(key, len(known))
            if kind not in number:
                number[kind] = len(names)
                names.append(kind)
            level[process, index + 1] = number[kind]

    def shared(first: numpy.ndarray, second: numpy.ndarray) -> numpy.ndarray:
        found = numpy.zeros(len(first), dtype=int)
        together = numpy.ones(len(first), dtype=bool)
        for index in range(1, depth + 1):
            together &= (prefixes[first, index] == prefixes[second, index]) & (prefixes[first, index] >= 0)
            found[together] = level[first[together], index]
        return found

    return names, shared
