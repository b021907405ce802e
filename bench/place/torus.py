#!/usr/bin/env python3
"""The engine beside Scotch on networks that are no trees, one rank a node:

    python torus.py [--seeds 3] [--quick] [-o torus.csv]

prints a table: for each pattern and network, what every preset and every strategy of Scotch's gmap (Debian: `scotch`)
costs in hop-bytes, counted by us, median of the seeds, the best of them, and CPU seconds: the engine's alone, Scotch's
with reading its files. "unbalanced": a node got more than one rank with every seed. Needs `ranktree` and scipy.
"""

import argparse
import csv
import itertools
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import ranktree
from scipy.sparse import coo_matrix, csr_matrix

PRESETS = ("fast", "default", "strong")
SCOTCH = {"scotch": [], "scotch-quality": ["-cq"], "scotch-balanced": ["-b0", "-cqb"]}
LIMIT = 300  # seconds a run of Scotch may take


@dataclass(frozen=True)
class Instance:
    """A pattern, renumbered at random, and the network it is placed on."""

    name: str
    graph: csr_matrix
    sizes: tuple[int, ...]
    wrap: bool
    optimum: float | None = None


def grid(sizes: tuple[int, ...], wrap: bool, box: bool = False) -> csr_matrix:
    """Neighbours exchange 1000 bytes a face; with `box` also 30 an edge and 1 a corner."""
    index = np.arange(np.prod(sizes)).reshape(sizes)
    rows, columns, weights = [], [], []
    for step in itertools.product((-1, 0, 1), repeat=len(sizes)):
        reach = sum(map(abs, step))
        if reach == 0 or step < (0,) * len(sizes) or (reach > 1 and not box):
            continue
        shifted = np.roll(index, step, axis=tuple(range(len(sizes))))
        inside = np.ones(sizes, bool)
        for axis, (amount, size) in enumerate(zip(step, sizes, strict=True)):
            if wrap or amount == 0:
                continue
            border = [slice(None)] * len(sizes)
            border[axis] = 0 if amount == 1 else size - 1
            inside[tuple(border)] = False
        rows.append(shifted[inside])
        columns.append(index[inside])
        weights.append(np.full(int(inside.sum()), (1000, 30, 1)[reach - 1]))
    rows, columns, weights = map(np.concatenate, (rows, columns, weights))
    return coo_matrix((weights, (rows, columns)), shape=(index.size, index.size)).tocsr()


def geometric(count: int, seed: int) -> csr_matrix:
    """Points in a square that exchange 1 with those near them, about 8 each."""
    points = np.random.default_rng(seed).random((count, 2))
    near = ((points[:, None] - points[None]) ** 2).sum(axis=2) < 8 / (np.pi * count)
    return csr_matrix(np.triu(near, 1).astype(np.int64))


def sparse(count: int, degree: int, seed: int) -> csr_matrix:
    """No structure: about so many partners each."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, count, (count * degree // 2, 2))
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    weights = random.integers(1, 100, len(ends))
    return coo_matrix((weights, (ends[:, 0], ends[:, 1])), shape=(count, count)).tocsr()


def renumbered(graph: csr_matrix, seed: int) -> csr_matrix:
    """Rank i becomes another."""
    order = np.random.default_rng(seed).permutation(graph.shape[0])
    pairs = graph.tocoo()
    return coo_matrix((pairs.data, (order[pairs.row], order[pairs.col])), shape=graph.shape).tocsr()


def instances(short: bool) -> Iterator[Instance]:
    """Grids that tile, grids that must be folded, halos with corners, and patterns without a grid."""
    cube, slab, flat = (8, 8, 8), (4, 8, 16), (16, 16)
    for name, sizes, wrap, network, closed in (
        ("grid 8x8x8", cube, False, cube, True),
        ("torus 8x8x8", cube, True, cube, True),
        ("grid 8x8x8", cube, False, cube, False),
        ("grid 16x8x4", (16, 8, 4), False, slab, True),
        ("grid 16x16", flat, False, flat, True),
    ):
        graph = renumbered(grid(sizes, wrap), 1)
        yield Instance(name, graph, network, closed, float(graph.sum()))
    yield Instance("torus 4x4x32", renumbered(grid((4, 4, 32), True), 2), cube, True)
    yield Instance("grid 32x16", renumbered(grid((32, 16), False), 3), cube, True)
    yield Instance("grid 7x7x7", renumbered(grid((7, 7, 7), False), 4), (7, 7, 7), True, 1000.0 * 3 * 7 * 7 * 6)
    yield Instance("halo 8x8x8, 26 partners", renumbered(grid(cube, True, True), 5), cube, True)
    yield Instance("geometric 512", geometric(512, 6), cube, True)
    yield Instance("random 512, degree 8", sparse(512, 8, 7), cube, True)
    if short:
        return
    yield Instance("torus 16x16x16", renumbered(grid((16,) * 3, True), 8), (16,) * 3, True, 3000.0 * 16**3)
    yield Instance("geometric 4096", geometric(4096, 9), (16,) * 3, True)
    yield Instance("grid 64x64", renumbered(grid((64, 64), False), 10), (16,) * 3, True)


def positions(sizes: tuple[int, ...]) -> np.ndarray:
    """Coordinates of each node, the last dimension fastest."""
    return np.indices(sizes).reshape(len(sizes), -1).T


def cost(instance: Instance, where: np.ndarray) -> float:
    """Hop-bytes; `where`: coordinates of each rank."""
    pairs = instance.graph.tocoo()
    apart = np.abs(where[pairs.row] - where[pairs.col])
    if instance.wrap:
        apart = np.minimum(apart, np.array(instance.sizes) - apart)
    return float((apart.sum(axis=1) * pairs.data).sum())


def machine_file(instance: Instance, folder: Path) -> str:
    """Nodes of one core."""
    count = int(np.prod(instance.sizes))
    network = {"kind": "torus", "dims": list(instance.sizes), "wrap": instance.wrap}
    network["hosts"] = [{"names": f"n[0-{count - 1}]", "shape": "node"}]
    path = folder / "machine.json"
    document = {"format": "ranktree-machine", "version": 1, "shapes": {"node": "core:1"}, "network": network}
    path.write_text(json.dumps(document))
    return str(path)


def run_ours(instance: Instance, preset: str, seed: int, folder: Path) -> tuple[float, float]:
    """Cost and CPU seconds."""
    machine = machine_file(instance, folder)
    begin = time.process_time()
    plan = ranktree.place(instance.graph, machine, algorithm="engine", preset=preset, seed=seed)
    seconds = time.process_time() - begin
    return cost(instance, positions(instance.sizes)[plan.permutation]), seconds


def scotch_graph(graph: csr_matrix) -> str:
    """Both directions, whole weights."""
    both = (graph + graph.T).tocsr()
    lines = [f"0\n{both.shape[0]} {both.nnz}\n0 010"]
    for rank in range(both.shape[0]):
        row = slice(both.indptr[rank], both.indptr[rank + 1])
        arcs = zip(both.data[row], both.indices[row], strict=True)
        lines.append(f"{row.stop - row.start} " + " ".join(f"{weight} {other}" for weight, other in arcs))
    return "\n".join(lines) + "\n"


def run_scotch(instance: Instance, options: list[str], folder: Path) -> tuple[float | None, float]:
    """Cost, None where a node got several ranks, and CPU seconds; every run has a seed of its own."""
    gmap = shutil.which("scotch_gmap") or shutil.which("gmap")
    graph, target, answer = folder / "pattern.grf", folder / "network.tgt", folder / "answer.map"
    graph.write_text(scotch_graph(instance.graph))
    kind = "torus" if instance.wrap else "mesh"
    target.write_text(f"{kind}{len(instance.sizes)}D {' '.join(map(str, reversed(instance.sizes)))}\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [gmap, *options, "-Cr", graph, target, answer]
    subprocess.run(list(map(str, command)), check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    pairs = np.array([line.split() for line in answer.read_text().splitlines()[1:]], int)
    node_of = np.empty(len(pairs), int)
    node_of[pairs[:, 0]] = pairs[:, 1]
    if np.bincount(node_of).max() > 1:
        return None, seconds
    return cost(instance, positions(instance.sizes)[node_of]), seconds


def summary(costs: list[float | None], seconds: list[float]) -> dict[str, float | str]:
    """Of the seeds: the median and the lowest cost, the median seconds."""
    valid = [each for each in costs if each is not None]
    return {
        "cost": statistics.median(valid) if valid else "unbalanced",
        "lowest": min(valid) if valid else "",
        "seconds": round(statistics.median(seconds), 3),
    }


def measure(instance: Instance, seeds: int) -> Iterator[dict[str, float | str]]:
    """A row for each method."""
    about = {"instance": instance.name, "network": "x".join(map(str, instance.sizes)), "wraps": instance.wrap}
    identity = cost(instance, positions(instance.sizes)[: instance.graph.shape[0]])
    yield about | {"method": "identity", "cost": identity, "lowest": identity, "seconds": 0}
    if instance.optimum is not None:
        yield about | {"method": "optimum", "cost": instance.optimum, "lowest": instance.optimum, "seconds": ""}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for preset in PRESETS:
            runs = [run_ours(instance, preset, seed, folder) for seed in range(1, seeds + 1)]
            yield about | {"method": preset} | summary(*map(list, zip(*runs, strict=True)))
        if not (shutil.which("scotch_gmap") or shutil.which("gmap")):
            return
        for method, options in SCOTCH.items():
            runs = [run_scotch(instance, options, folder) for _ in range(seeds)]
            yield about | {"method": method} | summary(*map(list, zip(*runs, strict=True)))


def main() -> int:
    """Prints rows as they come, and writes them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", dest="short", action="store_true", help="no instance of more than 512 ranks")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("torus.csv"))
    arguments = parser.parse_args()
    rows = []
    for instance in instances(arguments.short):
        for row in measure(instance, arguments.seeds):
            rows.append(row)
            print(",".join(map(str, row.values())), flush=True)
    with arguments.output.open("w", encoding="ascii", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
