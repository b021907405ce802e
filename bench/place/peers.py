#!/usr/bin/env python3
"""Other programs that place ranks, from the libraries that Debian and PyPI have, in a process of their own:

    python peers.py METHOD INSTANCE TREE COSTS SEED...

prints a line a seed: cost, CPU seconds of the library alone (user and system), peak memory of the process in MB (with
the instance), "ok" or "unbalanced" (a leaf got more than one rank). METIS (libmetis5) keeps balance only nearly: along
the tree, what is too much in a part is moved where it costs least, which is not counted as its time.
"""

import os
import resource
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from graphs import read

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from ranktree import peer_libraries as libraries
from ranktree.peer_libraries import SCOTCH_BALANCE, SCOTCH_QUALITY, Graph, Placed

LARGEST_SUM = 2**30  # of all weights: METIS's and KaHIP's whole numbers have 32 bits


def whole(values: np.ndarray) -> np.ndarray:
    """32 bits each, and the sum, scaled where they are larger, none to less than 1."""
    scale = min(LARGEST_SUM / max(values.sum(), 1), 1)
    return values.astype(np.int32) if scale == 1 else np.maximum(np.rint(values * scale), 1).astype(np.int32)


def scaled(graph: Graph) -> Graph:
    """In the form that all the libraries take."""
    return graph[0].astype(np.int32), np.ascontiguousarray(graph[1], np.int32), whole(graph[2])


def cost(graph: Graph, tree: str, costs: str, leaf_of: np.ndarray) -> float:
    """Each pair once: its weight times the cost of the lowest level that both share."""
    starts, columns, weights = graph
    arities = [int(word) for word in tree.split(":")]
    prices = [float(word) for word in costs.split(":")]
    total = 0.0
    for begin in range(0, len(leaf_of), 1024):
        arcs = slice(starts[begin], starts[min(begin + 1024, len(leaf_of))])
        left = np.repeat(leaf_of[begin : begin + 1024], np.diff(starts[begin : begin + 1025]))
        right = leaf_of[columns[arcs]]
        inside = left == right
        for block, price in zip(np.cumprod(arities), prices, strict=True):
            here = (left // block == right // block) & ~inside
            total += price * float(weights[arcs][here].sum())
            inside |= here
    return total / 2


def numbers(text: str) -> np.ndarray:
    """Of the levels, root first."""
    return np.array([int(word) for word in text.split(":")[::-1]])


def subtrees(arities: np.ndarray) -> libraries.Subtrees:
    """Level by level, the root first; the leaves are the slots."""
    counts = np.cumprod([1, *arities])
    tables = []
    for level, count in enumerate(counts):
        index, arity = np.arange(count), arities[level] if level < arities.size else 0
        below = np.full(count, counts[-1] // count)
        first_child = counts[: level + 1].sum() + index * arity
        tables.append((first_child, np.full(count, arity), below, index * below))
    return libraries.Subtrees(*(np.concatenate(each) for each in zip(*tables, strict=True)))


def metis(graph: Graph, tree: str, _: str, seed: int) -> Placed:
    """Along the tree, from the root."""
    return libraries.along(subtrees(numbers(tree)), graph, partial(libraries.metis_divide, seed=seed))


def metis_flat(graph: Graph, tree: str, _: str, seed: int) -> Placed:
    """All leaves at once: METIS numbers the parts along its own bisections."""
    return libraries.metis_divide(graph, np.ones(numbers(tree).prod(), int), seed)


def kahip(graph: Graph, tree: str, costs: str, seed: int) -> Placed:
    """Eco."""
    return libraries.kahip(graph, numbers(tree), numbers(costs), seed)


def scotch(graph: Graph, tree: str, costs: str, seed: int, flags: int = 0, imbalance: float = 0.01) -> Placed:
    """The default strategy; 0.01 is what gmap allows."""
    return libraries.scotch(graph, numbers(tree), numbers(costs), seed, flags, imbalance)


def identity(graph: Graph, *_: object) -> Placed:
    """Rank i on leaf i."""
    return np.arange(graph[0].size - 1), 0.0


METHODS: dict[str, Callable[[Graph, str, str, int], Placed]] = {
    "identity": identity,
    "metis": metis,
    "metis-flat": metis_flat,
    "scotch": scotch,
    "scotch-quality": partial(scotch, flags=SCOTCH_QUALITY),
    "scotch-balanced": partial(scotch, flags=SCOTCH_QUALITY | SCOTCH_BALANCE, imbalance=0),
    "kahip": kahip,
}


def installed(method: str) -> bool:
    """Whether its library is found."""
    needs = {
        "metis": libraries.metis_library,
        "scotch": libraries.scotch_library,
        "kahip": libraries.kahip_library,
    }
    try:
        needs.get(method.partition("-")[0], lambda: None)()
    except libraries.Refusal:
        return False
    return True


def main(method: str, instance: str, tree: str, costs: str, *seeds: str) -> None:
    """All seeds in one process."""
    os.environ["SCOTCH_PTHREAD_NUMBER"] = "1"
    graph = read(Path(instance))
    given = scaled(graph) if method.startswith(("metis", "kahip")) else graph
    for seed in map(int, seeds):
        leaf_of, seconds = METHODS[method](given, tree, costs, seed)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        status = "ok" if np.unique(leaf_of).size == leaf_of.size else "unbalanced"
        print(cost(graph, tree, costs, leaf_of), seconds, memory, status, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
