"""Ranks on a machine as the cost models see them: who meets whom on which level, and what a level costs."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from ranktree import _core

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LONGEST = 1 << 50  # bytes
MOST_SIZES = 200


@dataclass(frozen=True)
class Modelled:
    """A launch: its ranks in groups of groups, the names of the levels, and what is known of their links."""

    hierarchy: _core.Hierarchy
    names: list[str]
    parameters: _core.Parameters
    nodes_are_shared: bool  # some node has several ranks
    source: str  # of the links' costs


def sizes_of(text: str) -> list[int]:
    """`8,1K` or `1K:16M`, doubling."""
    sizes: list[int] = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        size, end = size_of(first), size_of(last if colon else first)
        if end < size or (size == 0 and end > 0):
            raise ValueError(f"sizes: expected the smaller one first, and above 0, found '{part}'")
        while size <= end:
            sizes.append(size)
            size = max(2 * size, 1)
            if len(sizes) > MOST_SIZES:
                raise ValueError(f"sizes: expected at most {MOST_SIZES}, found more")
    return sizes


def size_of(text: str) -> int:
    """`16M` in bytes."""
    found = re.fullmatch(r"(\d{1,16})([KMG]?)", text)
    if not found or int(found[1]) * UNITS[found[2]] > LONGEST:
        raise ValueError(f"sizes: expected bytes such as 8, 64K or 16M, found '{text}'")
    return int(found[1]) * UNITS[found[2]]


def size_text(size: int) -> str:
    """`16M` where it is even."""
    for unit in ("G", "M", "K"):
        if size and size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]}{unit}"
    return str(size)


def modelled(tree: _core.Tree, ranks: int, file: str | None, round_robin: bool = False) -> Modelled:
    """Ranks on the leaves of a machine, one after the other or node after node in turn.

    Costs come from a file of `ranktree calibrate`, else from the machine where it has latency and bandwidth on every
    level, else an ordinary cluster is assumed.
    """
    if ranks > tree.leaf_count:
        raise ValueError(f"--np: the machine has places for {tree.leaf_count} ranks, found {ranks}")
    above = ancestors(tree)
    order = numpy.arange(ranks)
    shared = ranks > 1
    nodes = tree.levels.index("Node") if "Node" in tree.levels else 0
    if nodes > len(above):  # each leaf is a node
        shared = False
    elif nodes > 0:
        if round_robin:
            order = in_turn(above[nodes - 1])[:ranks]
        shared = bool(numpy.unique(above[nodes - 1][order]).size < ranks)
    colours = [level[order] for level in above]
    levels = max(len(colours) + 1, 1)
    hierarchy = (
        _core.Hierarchy.from_colours([level.tolist() for level in colours]) if colours else _core.Hierarchy.flat(ranks)
    )
    parameters, source = parameters_of(tree, levels, nodes, file)
    return Modelled(hierarchy, level_names(tree), parameters, shared, source)


def ancestors(tree: _core.Tree) -> list[numpy.ndarray]:
    """For each level between root and leaves the object above each leaf; where a level is skipped, the one outside."""
    levels = len(tree.levels)
    above = [numpy.zeros(tree.leaf_count, dtype=int) for _ in range(levels)]
    for number in range(tree.object_count):
        about = tree.describe(number)
        first, leaves = about["first_leaf"], about["leaves"]
        for level in range(about["level"], levels):
            above[level][first : first + leaves] = number
    return above[1 : levels - 1]


def in_turn(nodes: numpy.ndarray) -> numpy.ndarray:
    """Leaves so that each node in turn gives one."""
    seen: dict[int, int] = {}
    turns = []
    for leaf, node in enumerate(nodes):
        turns.append((seen.get(node, 0), leaf))
        seen[node] = seen.get(node, 0) + 1
    return numpy.array([leaf for _, leaf in sorted(turns)])


def level_names(tree: _core.Tree) -> list[str]:
    """What two ranks that meet on each level do not share."""
    names = [level.lower() for level in tree.levels[1:]]
    return names or ["core"]


def parameters_of(tree: _core.Tree, levels: int, across: int, file: str | None) -> tuple[_core.Parameters, str]:
    """Measured, else the machine's own, else usual; and which in words."""
    if file is not None:
        measured = _core.load_parameters(file)
        return measured.parameters.matched(levels, across), source_of(file, measured, across > 0, across < levels)
    usual = _core.Parameters.usual(levels, across)
    try:
        latency, per_byte = (tree.with_metric(metric).costs[:levels] for metric in ("latency", "bandwidth"))
    except _core.Error:
        return usual, "usual ones, nothing was measured"
    return usual.with_links(list(zip(latency, per_byte, strict=True))), "the machine's latency and bandwidth"


def source_of(file: str, measured: _core.MeasuredParameters, between: bool, inside: bool) -> str:
    """Where a file's links were measured, and which of those that are needed were not."""
    text = file
    text += f", {measured.ranks} ranks on {measured.nodes} node(s)" if measured.ranks > 1 else ""
    text += f", {measured.mpi}" if measured.mpi else ""
    text += f", from {measured.machine} on" if measured.machine else ""
    names = [level["name"] for level in measured.parameters.levels]
    if between and "node" not in names:
        text += "; between nodes, where it measured nothing, usual ones"
    if inside and names[-1] == "node":
        text += "; inside nodes, where it measured nothing, usual ones"
    return text


def seconds_text(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def text_of(choice: str) -> str:
    """A choice as it is shown in a table: without the word that all of them have, equal levels once."""
    variant, _, rest = choice.partition(":")
    algorithms, _, fields = rest.partition(":")
    levels = "/".join(word for word, _ in itertools.groupby(algorithms.split("/")))
    words = [*([] if variant == "messages" else [variant]), levels, *fields.removeprefix("form=").split(":")]
    return " ".join(word for word in words if word)


def runs_of(keys: Sequence[object]) -> list[tuple[int, int]]:
    """First and last index of each run of equal keys."""
    runs: list[tuple[int, int]] = []
    for index, key in enumerate(keys):
        if runs and keys[runs[-1][0]] == key:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs
