"""The machine as arrays over its slots (the leaves of its tree, from the left), which numpy can look up all at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ranktree import _core

NODE = "Node"


@dataclass(frozen=True)
class Shape:
    """Levels, and for each level the object above every slot; where a branch skips a level, the object outside it."""

    kinds: list[str]
    above: list[np.ndarray]  # by level, root first; the last one is the slots themselves
    level_of_object: np.ndarray
    names: dict[int, str]  # of objects that have one
    pus: list[list[int]]  # by slot
    numbers: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # of objects, -1 where none

    @property
    def slots(self) -> int:
        """How many slots the machine has."""
        return len(self.pus)

    @property
    def node_level(self) -> int | None:
        """The level of the nodes; None for a machine without them."""
        return self.kinds.index(NODE) if NODE in self.kinds else None

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes, in tree order; one nameless node where the machine has no such level."""
        if self.node_level is None:
            return [""]
        return [self.names.get(int(number), "") for number in self.node_objects]

    @property
    def node_objects(self) -> np.ndarray:
        """The node objects, in tree order."""
        above = self.above[self.node_level or 0]
        return above[np.flatnonzero(np.diff(above, prepend=-1))]

    @property
    def node_of_slot(self) -> np.ndarray:
        """Index into `nodes`, by slot."""
        above = self.above[self.node_level or 0]
        return np.cumsum(np.diff(above, prepend=above[:1]) != 0)

    def common_level(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The level on which the branches of two slots meet, for arrays of slots."""
        found = np.zeros(len(first), dtype=np.int64)
        for above in self.above[1:]:
            same = above[first] == above[second]
            found[same] = self.level_of_object[above[first[same]]]
        return found

    def meets(self) -> np.ndarray:
        """The level on which each slot meets the one before it (0 for the first): with `kinds`, the whole tree."""
        slots = np.arange(self.slots)
        return self.common_level(slots, np.maximum(slots - 1, 0)) * (slots > 0)


def of_tree(tree: _core.Tree) -> Shape:
    """The shape of a machine. O(objects x levels)."""
    kinds, slots = tree.levels, tree.leaf_count
    above = [np.zeros(slots, dtype=np.int64) for _ in kinds]
    levels = np.zeros(tree.object_count, dtype=np.int64)
    numbers = np.full(tree.object_count, -1, dtype=np.int64)
    names = {}
    for number in range(tree.object_count):
        about = tree.describe(number)
        first = about["first_leaf"]
        levels[number], numbers[number] = about["level"], about["os_index"]
        for level in range(about["level"], len(kinds)):
            above[level][first : first + about["leaves"]] = number
        if about["name"]:
            names[number] = about["name"]
    return Shape(kinds, above, levels, names, [tree.pus(leaf) for leaf in range(slots)], numbers)


def of_slots(slots: Sequence[tuple[str, list[int]]], hosts: Sequence[str]) -> tuple[Shape, np.ndarray]:
    """What a plan alone has of its machine: hosts, and the slots that its ranks use; and the slot of each rank."""
    place = {host: index for index, host in enumerate(hosts or [""])}
    keys = [(place.get(host, len(place)), tuple(pus), host) for host, pus in slots]
    used = sorted(set(keys))
    slot_of_key = {key: slot for slot, key in enumerate(used)}
    node_of_slot = np.array([key[0] for key in used], dtype=np.int64)
    nodes = 1 + len(place)
    count = len(used)
    above = [np.zeros(count, dtype=np.int64), 1 + node_of_slot, nodes + 1 + np.arange(count)]
    levels = np.concatenate([[0], np.full(nodes, 1), np.full(count, 2)]).astype(np.int64)
    names = {1 + key[0]: key[2] for key in used if key[2]}
    shape = Shape(["Cluster", NODE, "slot"], above, levels, names, [list(key[1]) for key in used])
    return shape, np.array([slot_of_key[key] for key in keys], dtype=np.int64)
