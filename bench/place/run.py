#!/usr/bin/env python3
"""Cost and user CPU seconds of the placement engine beside peers, on instances that are made here from seeds.

Peers are used where they are installed: METIS as the Python module pymetis (recursively along the tree, as is usual
for mapping), Scotch as the program scotch_gmap or gmap on one thread, its time with reading and writing. METIS keeps
balance only nearly: what is too much in a part is moved where it costs least, which is not counted as its time; where
Scotch does not keep it, the cell says so.
"""

import argparse
import csv
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from instances import CASES, made, read

try:
    import pymetis
except ImportError:
    pymetis = None

PRESETS = ("fast", "default", "strong")
SECONDS = 600
Graph = tuple[np.ndarray, np.ndarray, np.ndarray]
Result = tuple[float, float] | None


def cost(graph: Graph, tree: str, costs: str, leaf_of: np.ndarray) -> float:
    """Each pair once: its weight times the cost of the lowest level that both share."""
    starts, columns, weights = graph
    left, right = np.repeat(leaf_of, np.diff(starts)), leaf_of[columns]
    total, block, inside = 0.0, 1, np.zeros(left.size, bool)
    for arity, price in zip(tree.split(":"), costs.split(":"), strict=True):
        block *= int(arity)
        here = (left // block == right // block) & ~inside
        total += float(price) * float(weights[here].sum())
        inside |= here
    return total / 2


def engine(program: Path, path: Path, tree: str, costs: str, preset: str, seeds: list[int]) -> Result:
    """Medians over the seeds."""
    command = [str(program), str(path), tree, costs, preset, *map(str, seeds)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr.strip()}")
    rows = [tuple(map(float, line.split())) for line in result.stdout.splitlines()]
    return statistics.median(row[0] for row in rows), statistics.median(row[1] for row in rows)


def user_seconds(who: int = resource.RUSAGE_SELF) -> float:
    """Of this process, or of its children, so far."""
    return resource.getrusage(who).ru_utime


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
    local = np.full(starts.size - 1, -1)
    local[vertices] = np.arange(vertices.size)
    arcs = np.concatenate([np.arange(starts[vertex], starts[vertex + 1]) for vertex in vertices])
    rows = np.repeat(np.arange(vertices.size), starts[vertices + 1] - starts[vertices])
    keep = local[columns[arcs]] >= 0
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=vertices.size))])
    return ends, local[columns[arcs[keep]]].astype(np.int32), weights[arcs[keep]]


def metis(graph: Graph, arities: list[int], seed: int) -> tuple[np.ndarray, float]:
    """Leaves and seconds; arities outermost first."""
    count = graph[0].size - 1
    below = int(np.prod(arities[1:], dtype=int))
    if len(arities) == 1 or count <= 1:
        return np.arange(count), 0.0
    parts = min(arities[0], -(-count // below))
    part = np.zeros(count, int)
    seconds = 0.0
    if parts > 1:
        options = pymetis.Options(seed=seed, ufactor=1)
        begin = user_seconds()
        _, found = pymetis.part_graph(
            parts, pymetis.CSRAdjacency(graph[0], graph[1]), eweights=graph[2], recursive=True, options=options
        )
        seconds = user_seconds() - begin
        part = np.array(found)
        rebalance(graph, part, parts, below)
    leaf_of = np.empty(count, int)
    for index in range(parts):
        vertices = np.flatnonzero(part == index)
        if vertices.size == 0:
            continue
        leaves, spent = metis(piece(graph, vertices), arities[1:], seed)
        leaf_of[vertices] = index * below + leaves
        seconds += spent
    return leaf_of, seconds


def scotch(program: str, graph: Graph, tree: str, costs: str) -> tuple[np.ndarray, float]:
    """Leaves and seconds."""
    starts, columns, weights = graph
    arities, prices = tree.split(":")[::-1], costs.split(":")[::-1]
    with tempfile.TemporaryDirectory() as folder:
        source, target, mapping = (Path(folder) / name for name in ("g.grf", "t.tgt", "m.map"))
        with source.open("w") as file:
            file.write(f"0\n{starts.size - 1} {columns.size}\n0 010\n")
            for begin, end in zip(starts[:-1], starts[1:], strict=True):
                arcs = np.column_stack([weights[begin:end], columns[begin:end]]).ravel()
                file.write(f"{end - begin} {' '.join(map(str, arcs))}\n")
        levels = " ".join(f"{arity} {price}" for arity, price in zip(arities, prices, strict=True))
        target.write_text(f"tleaf {len(arities)} {levels}\n")
        begin = user_seconds(resource.RUSAGE_CHILDREN)
        command = [program, str(source), str(target), str(mapping)]
        subprocess.run(command, timeout=SECONDS, check=True, env=os.environ | {"SCOTCH_PTHREAD_NUMBER": "1"})
        seconds = user_seconds(resource.RUSAGE_CHILDREN) - begin
        pairs = np.loadtxt(mapping, dtype=int, skiprows=1)
    leaf_of = np.empty(starts.size - 1, int)
    leaf_of[pairs[:, 0]] = pairs[:, 1]
    return leaf_of, seconds


def measure(arguments: argparse.Namespace, tree: str, path: Path) -> dict[str, Result]:
    """Cost and seconds by method; None: more than one rank on a leaf."""
    costs = ":".join(arguments.costs.split(":")[: tree.count(":") + 1])
    graph = read(path)
    results: dict[str, Result] = {
        preset: engine(arguments.build / "bin" / "bench_place", path, tree, costs, preset, arguments.seeds)
        for preset in PRESETS
    }
    peers: dict[str, Callable[[int], tuple[np.ndarray, float]]] = {}
    if pymetis is not None:
        peers["metis"] = lambda seed: metis(graph, [int(word) for word in tree.split(":")[::-1]], seed)
    program = shutil.which("scotch_gmap") or shutil.which("gmap")
    if program is not None:
        peers["scotch"] = lambda _: scotch(program, graph, tree, costs)
    for name, run in peers.items():
        rows = [run(seed) for seed in (arguments.seeds if name == "metis" else [1])]
        if any(np.unique(leaf_of).size < leaf_of.size for leaf_of, _ in rows):
            results[name] = None
            continue
        found = [(cost(graph, tree, costs, leaf_of), seconds) for leaf_of, seconds in rows]
        results[name] = (statistics.median(row[0] for row in found), statistics.median(row[1] for row in found))
    return results


def main() -> None:
    """All instances, or those named; one line each, and a CSV file if wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="keep the instances here (default: a folder in the build)")
    parser.add_argument("--costs", default="1:10:100:1000", help="innermost first")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--csv", type=Path)
    parser.add_argument("instances", nargs="*", help=f"of {' '.join(CASES)}")
    arguments = parser.parse_args()
    rows = []
    for name, tree, path in made(arguments.data or arguments.build / "bench_place", arguments.instances or list(CASES)):
        results = measure(arguments, tree, path)
        best = min(result[0] for result in results.values() if result is not None)
        cells = []
        for method, result in results.items():
            cells.append(
                f"{method} " + ("unbalanced" if result is None else f"{result[0] / best:.3f} {result[1]:.3f}s")
            )
            if result is not None:
                rows.append((name, tree, arguments.costs, method, *result))
        print(f"{name:<16}" + "".join(f"{cell:<24}" for cell in cells), flush=True)
    if arguments.csv is not None:
        with arguments.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("instance", "tree", "costs", "method", "cost", "user_seconds"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
