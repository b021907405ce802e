"""Ranks whose place is given: `--pin rank=PU` on the command line, a dictionary from Python."""

import numbers
from collections.abc import Mapping
from typing import Any

from ranktree import _core

EXPECTED = "expected RANK=PU or RANK=HOST:PU"


def parsed(word: str) -> tuple[int, str]:
    """(rank, place), ValueError where it is no such thing."""
    rank, equals, place = word.partition("=")
    if not (rank.isdecimal() and equals and place.rpartition(":")[2].isdecimal()):
        raise ValueError(f"{EXPECTED}, found '{word}'")
    return int(rank), place


def leaf_of(tree: _core.Tree, place: str, what: str) -> int:
    """The place that owns a PU: `12` where there is one host, `HOST:12` anywhere."""
    host, colon, number = place.rpartition(":")
    if not number.isdecimal():
        raise ValueError(f"{what}: expected PU or HOST:PU, found '{place}'")
    leaves = range(tree.leaf_count)
    found = [i for i in leaves if int(number) in tree.pus(i) and (not colon or tree.host(i) == host)]
    if not found:
        raise ValueError(f"{what}: the machine has no such PU")
    if len(found) > 1:
        raise ValueError(f"{what}: {len(found)} hosts have PU {number}: write HOST:{number}")
    return found[0]


def pins_of(tree: _core.Tree, pins: Mapping[Any, Any] | None) -> list[tuple[int, int]]:
    """(rank, leaf) pairs of {rank: leaf, or the name of a PU}."""
    if pins is not None and not isinstance(pins, Mapping):
        raise ValueError(f"pins: expected a dictionary, found {pins!r}")
    result = []
    for rank, place in (pins or {}).items():
        if isinstance(rank, bool) or not isinstance(rank, numbers.Integral):
            raise ValueError(f"pins: expected ranks, found {rank!r}")
        if isinstance(place, str):
            leaf = leaf_of(tree, place, f"pins[{rank}]: '{place}'")
        elif isinstance(place, numbers.Integral) and not isinstance(place, bool):
            leaf = int(place)
        else:
            raise ValueError(f"pins[{rank}]: expected a leaf or a text such as 'n7:0', found {place!r}")
        if not (-(2**31) <= int(rank) < 2**31 and -(2**31) <= leaf < 2**31):
            raise ValueError(f"pins[{rank}]: expected numbers below 2^31, found {leaf}")
        result.append((int(rank), leaf))
    return result
