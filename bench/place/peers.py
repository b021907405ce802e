#!/usr/bin/env python3
"""Other programs that place ranks, from the libraries that Debian and PyPI have, in a process of their own:

    python peers.py METHOD INSTANCE TREE COSTS SEED...

prints a line a seed: cost, CPU seconds of the library alone (user and system), peak memory of the process in MB (with
the instance), "ok" or "unbalanced" (a leaf got more than one rank). METIS (libmetis5) keeps balance only nearly: along
the tree, what is too much in a part is moved where it costs least, which is not counted as its time.
"""

import ctypes
import importlib.util
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from instances import read

LARGEST_SUM = 2**30  # of all weights: METIS's and KaHIP's whole numbers have 32 bits
KAHIP_ECO = 1
KAHIP_MULTISECTION = 0
SCOTCH_QUALITY = 1
SCOTCH_BALANCE = 4
Graph = tuple[np.ndarray, np.ndarray, np.ndarray]


def at(array: np.ndarray) -> ctypes.c_void_p:
    """Where its numbers are."""
    return ctypes.c_void_p(array.ctypes.data)


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


def rebalance(graph: Graph, part: np.ndarray, parts: int, most: int) -> None:
    """Moves the vertices that cost least out of parts that hold more than `most`."""
    starts, columns, weights = graph
    sizes = np.bincount(part, minlength=parts)
    for source in np.flatnonzero(sizes > most):
        while sizes[source] > most:
            best = None
            for vertex in np.flatnonzero(part == source):
                row = slice(starts[vertex], starts[vertex + 1])
                ties = np.bincount(part[columns[row]], weights[row], minlength=parts)
                ties[sizes >= most] = -np.inf
                target = int(ties.argmax())
                gain = ties[target] - weights[row][part[columns[row]] == source].sum()
                if best is None or gain > best[0]:
                    best = (gain, vertex, target)
            part[best[1]] = best[2]
            sizes[source] -= 1
            sizes[best[2]] += 1


def piece(graph: Graph, vertices: np.ndarray) -> Graph:
    """The graph between some vertices."""
    starts, columns, weights = graph
    local = np.full(starts.size - 1, -1, np.int32)
    local[vertices] = np.arange(vertices.size)
    degrees = starts[vertices + 1] - starts[vertices]
    before = np.concatenate([[0], np.cumsum(degrees)[:-1]])
    arcs = np.repeat(starts[vertices] - before, degrees) + np.arange(degrees.sum())
    keep = local[columns[arcs]] >= 0
    rows = np.repeat(np.arange(vertices.size), degrees)
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=vertices.size))])
    return ends.astype(np.int32), local[columns[arcs[keep]]], weights[arcs[keep]]


def bisect(graph: Graph, parts: int, seed: int) -> tuple[np.ndarray, float]:
    """METIS_PartGraphRecursive into equal parts, as nearly as it can: parts and seconds."""
    library = ctypes.CDLL("libmetis.so.5")
    options = np.full(40, -1, np.int32)
    options[8] = seed  # METIS_OPTION_SEED
    options[16] = 1  # METIS_OPTION_UFACTOR: 0.1 %
    part = np.zeros(graph[0].size - 1, np.int32)
    numbers = [ctypes.c_int32(each) for each in (part.size, 1, parts, 0)]
    ranks, constraints, wanted, found = map(ctypes.byref, numbers)
    starts, columns, weights = map(at, graph)
    begin = time.process_time()
    status = library.METIS_PartGraphRecursive(
        ranks, constraints, starts, columns, None, None, weights, wanted, None, None, at(options), found, at(part)
    )
    seconds = time.process_time() - begin
    if status != 1:
        raise RuntimeError(f"METIS_PartGraphRecursive: expected 1, found {status}")
    return part, seconds


def metis_flat(graph: Graph, tree: str, _: str, seed: int) -> tuple[np.ndarray, float]:
    """All leaves at once: METIS numbers the parts along its own bisections."""
    return bisect(graph, int(np.prod([int(word) for word in tree.split(":")])), seed)


def metis(graph: Graph, tree: str, _: str, seed: int) -> tuple[np.ndarray, float]:
    """Along the tree, from the root."""
    return along([int(word) for word in tree.split(":")[::-1]], graph, seed)


def along(arities: list[int], graph: Graph, seed: int) -> tuple[np.ndarray, float]:
    """Arities outermost first."""
    count = graph[0].size - 1
    below = int(np.prod(arities[1:], dtype=int))
    if len(arities) == 1 or count <= 1:
        return np.arange(count), 0.0
    parts = min(arities[0], -(-count // below))
    part, seconds = np.zeros(count, np.int32), 0.0
    if parts > 1:
        part, seconds = bisect(graph, parts, seed)
        rebalance(graph, part, parts, below)
    leaf_of = np.empty(count, int)
    for index in np.unique(part):
        vertices = np.flatnonzero(part == index)
        leaves, spent = along(arities[1:], piece(graph, vertices), seed)
        leaf_of[vertices] = index * below + leaves
        seconds += spent
    return leaf_of, seconds


def kahip_library() -> Path | None:
    """The C library that the wheel carries."""
    spec = importlib.util.find_spec("kahip")
    if spec is None or spec.origin is None:
        return None
    found = (base / "lib/libkahip.so" for base in Path(spec.origin).parents)
    beside = (base / "libkahip.so" for base in Path(spec.origin).parents if base.name == "lib")
    return next((path for path in (*found, *beside) if path.exists()), None)


def kahip(graph: Graph, tree: str, costs: str, seed: int) -> tuple[np.ndarray, float]:
    """Process mapping, eco, global multisection, no imbalance asked for."""
    arities, prices = (np.array([int(word) for word in text.split(":")], np.int32) for text in (tree, costs))
    ranks = graph[0].size - 1
    part, ones = np.zeros(ranks, np.int32), np.ones(ranks, np.int32)
    starts, columns, weights = map(at, graph)
    count, cut, objective, imbalance = ctypes.c_int(ranks), ctypes.c_int(), ctypes.c_int(), ctypes.c_double(0)
    library = ctypes.CDLL(str(kahip_library()))
    begin = time.process_time()
    library.process_mapping(
        ctypes.byref(count),
        at(ones),
        starts,
        weights,
        columns,
        at(arities),
        at(prices),
        ctypes.c_int(len(arities)),
        ctypes.c_int(KAHIP_ECO),
        ctypes.c_int(KAHIP_MULTISECTION),
        ctypes.byref(imbalance),
        ctypes.c_bool(True),
        ctypes.c_int(seed),
        ctypes.byref(cut),
        ctypes.byref(objective),
        at(part),
    )
    return part, time.process_time() - begin


def scotch_library(wide: bool = False) -> ctypes.CDLL:
    """Its error functions are a library of their own; its whole numbers have 32 bits, or 64."""
    folder = "/usr/lib/x86_64-linux-gnu/scotch-int64/" if wide else ""
    ctypes.CDLL(f"{folder}libscotcherr-7.0.so", ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(f"{folder}libscotch-7.0.so")


def scotch(graph: Graph, tree: str, costs: str, seed: int, flags: int = 0, imbalance: float = 0.01) -> tuple:
    """SCOTCH_graphMap on a tree-leaf architecture, one thread; 0.01 is what gmap allows.

    It sums weights times costs in its whole numbers: where 32 bits may not hold that, those of 64 bits are used.
    """
    prices = [int(word) for word in costs.split(":")[::-1]]
    wide = int(graph[2].sum(dtype=np.int64)) * max(prices) >= 2**31
    library, number = scotch_library(wide), ctypes.c_int64 if wide else ctypes.c_int32
    tables = [tree.split(":")[::-1], prices, *graph]
    arities, prices, starts, columns, weights = (np.ascontiguousarray(each, number) for each in tables)
    mesh, machine, strategy = (
        ctypes.create_string_buffer(getattr(library, f"SCOTCH_{name}Sizeof")()) for name in ("graph", "arch", "strat")
    )
    leaf_of = np.empty(starts.size - 1, number)
    ends = ctypes.c_void_p(starts.ctypes.data + starts.itemsize)
    ranks, arcs, levels, parts = map(number, (leaf_of.size, columns.size, arities.size, int(arities.prod())))
    lists = (at(starts), ends, None, None, arcs, at(columns), at(weights))
    steps = [
        lambda: library.SCOTCH_graphInit(mesh),
        lambda: library.SCOTCH_graphBuild(mesh, number(0), ranks, *lists),
        lambda: library.SCOTCH_archInit(machine),
        lambda: library.SCOTCH_archTleaf(machine, levels, at(arities), at(prices)),
        lambda: library.SCOTCH_stratInit(strategy),
        lambda: library.SCOTCH_stratGraphMapBuild(strategy, number(flags), parts, ctypes.c_double(imbalance)),
        lambda: library.SCOTCH_graphMap(mesh, machine, strategy, at(leaf_of)),
    ]
    library.SCOTCH_randomSeed(number(seed))
    library.SCOTCH_randomReset()
    begin = time.process_time()
    for position, step in enumerate(steps):
        if step() != 0:
            raise RuntimeError(f"Scotch failed at step {position}")
    return leaf_of.astype(np.int64), time.process_time() - begin


def scotch_quality(graph: Graph, tree: str, costs: str, seed: int) -> tuple[np.ndarray, float]:
    """The strategy for quality."""
    return scotch(graph, tree, costs, seed, SCOTCH_QUALITY)


def scotch_balanced(graph: Graph, tree: str, costs: str, seed: int) -> tuple[np.ndarray, float]:
    """The strategy for quality and balance, no imbalance allowed."""
    return scotch(graph, tree, costs, seed, SCOTCH_QUALITY | SCOTCH_BALANCE, 0)


def identity(graph: Graph, *_: object) -> tuple[np.ndarray, float]:
    """Rank i on leaf i."""
    return np.arange(graph[0].size - 1), 0.0


METHODS: dict[str, Callable[[Graph, str, str, int], tuple[np.ndarray, float]]] = {
    "identity": identity,
    "metis": metis,
    "metis-flat": metis_flat,
    "scotch": scotch,
    "scotch-quality": scotch_quality,
    "scotch-balanced": scotch_balanced,
    "kahip": kahip,
}


def installed(method: str) -> bool:
    """Whether its library is found."""
    try:
        if method.startswith("metis"):
            ctypes.CDLL("libmetis.so.5")
        if method.startswith("scotch"):
            scotch_library()
    except OSError:
        return False
    return method != "kahip" or kahip_library() is not None


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
