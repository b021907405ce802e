"""The data of the heat maps: exact pairs where they fit into the page, else sums over blocks of ranks."""

from typing import Any

import numpy as np

from ranktree.report.arrays import packed, size_of
from ranktree.report.inputs import Inputs
from ranktree.report.traffic import Pairs

BUDGET = 2_500_000  # characters of all heat maps together; the page is to stay below 5 MB
MOST_PAIRS = 2_000_000  # more are binned without trying


def heat_map(inputs: Inputs, pairs: Pairs) -> dict[str, Any]:
    """`bin` ranks a cell. With bin 1 the cells are pairs of ranks, else pairs of blocks in each placement's order."""
    if len(pairs) <= MOST_PAIRS:
        exact = {"bin": 1, "size": pairs.ranks, "maps": [cells("ranks", pairs.senders, pairs.receivers, pairs, 1)]}
        if size_of(exact) <= BUDGET:
            return exact
    width = 2
    while True:
        maps = [
            cells(name, position[pairs.senders], position[pairs.receivers], pairs, width)
            for name, position in positions(inputs, pairs.ranks)
        ]
        if size_of(maps) <= BUDGET or width >= pairs.ranks:
            return {"bin": width, "size": -(-pairs.ranks // width), "maps": maps}
        width *= 2


def positions(inputs: Inputs, ranks: int) -> list[tuple[str, np.ndarray]]:
    """For each placement, where every rank stands when ranks are sorted by slot."""
    found = [(placed.name, position_of(placed.slot_of)) for placed in inputs.placements]
    if inputs.before is None:
        found.insert(0, ("ranks", np.arange(ranks)))
    return found


def position_of(slot_of: np.ndarray) -> np.ndarray:
    """The inverse of the order of the slots; ranks that share a slot stay in rank order."""
    position = np.empty(len(slot_of), dtype=np.int64)
    position[np.argsort(slot_of, kind="stable")] = np.arange(len(slot_of))
    return position


def cells(name: str, rows: np.ndarray, columns: np.ndarray, pairs: Pairs, width: int) -> dict[str, Any]:
    """Sums over blocks of `width` x `width`: how many pairs, messages and bytes each cell holds."""
    side = -(-pairs.ranks // width)
    keys, index = np.unique((rows // width) * side + columns // width, return_inverse=True)
    sums = {
        "messages": packed(np.bincount(index, weights=pairs.messages, minlength=len(keys)), "f8"),
        "bytes": packed(np.bincount(index, weights=pairs.bytes, minlength=len(keys)), "f8"),
    }
    if width > 1:
        sums["pairs"] = packed(np.bincount(index, minlength=len(keys)), "u4")
    starts = np.searchsorted(keys, np.arange(side + 1) * side)
    return {"order": name, "starts": packed(starts, "u4"), "columns": packed(keys % side, "u4"), **sums}
