#!/usr/bin/env python3
"""Grids that fit: bytes between nodes of a halo exchange, by MPI_Dims_create and by ranktree_Cart_create_weighted.

Prints the table of docs/benchmarks/reordering.md. The dimensions are those that each MPI's own MPI_Dims_create returns;
its grid is counted in row order, as MPI_Cart_create leaves it on these MPIs, ranks packed on the nodes. Nothing is
launched on several nodes: the bytes follow from the grid and the nodes. The domain's cells have 8 bytes, the halo has a
width of one cell, and each process sends to its neighbour in both directions.
"""

import argparse
import itertools
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]

from tests.helpers.mpis import mpi4py_variables  # noqa: E402

INSTANCES = (  # cells of the domain, nodes
    ((4096, 4096), "node:8 package:2 core:8"),
    ((16384, 1024), "node:8 package:2 core:8"),
    ((4096, 4096), "node:12 package:2 core:12"),
    ((512, 512, 512), "node:8 package:2 core:12"),
    ((2048, 256, 128), "node:8 package:2 core:12"),
    ((512, 512, 512), "node:36 package:2 core:24"),
    ((64, 64, 64, 128), "node:16 package:2 core:16"),
    ((32, 32, 64, 256), "node:12 package:4 core:12"),
)
COMPUTE = "import sys; from mpi4py import MPI; print(*MPI.Compute_dims(int(sys.argv[1]), int(sys.argv[2])))"


def planes(cells: tuple[int, ...]) -> list[float]:
    """Bytes of a halo exchange through one plane across the domain, both directions, by dimension."""
    return [2 * 8 * math.prod(cells) / length for length in cells]


def dims_of(mpi: str, build: Path, processes: int, dimensions: int) -> list[int]:
    """What MPI_Dims_create of an MPI returns."""
    words = [sys.executable, "-c", COMPUTE, str(processes), str(dimensions)]
    variables = {**os.environ, **mpi4py_variables(mpi, build)}
    result = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=60, check=True)
    return [int(word) for word in result.stdout.split()]


def between_nodes(dims: list[int], weights: list[float], node_of: list[int]) -> float:
    """Bytes that cross nodes; vertices row by row, no dimension periodic."""
    processes = math.prod(dims)
    crossing = 0.0
    for vertex, place in enumerate(itertools.product(*map(range, dims))):
        stride = processes
        for length, position, weight in zip(dims, place, weights, strict=True):
            stride //= length
            if position + 1 < length and node_of[vertex] != node_of[vertex + stride]:
                crossing += weight * length / processes
    return crossing


def rows(cells: tuple[int, ...], machine: str, build: Path, mpis: list[str]) -> list[str]:
    """One line of the table for each grid that the MPIs return."""
    from ranktree import _core  # noqa: PLC0415
    from ranktree.usable_machine import usable_machine  # noqa: PLC0415

    tree = usable_machine(machine, None, None, print)[0].cut_at("Core")
    hosts = [tree.host(leaf) for leaf in range(tree.leaf_count)]
    node = [sorted(set(hosts)).index(name) for name in hosts]
    weights = planes(cells)

    def placed(wanted: list[int]) -> tuple[list[int], float]:
        chosen, leaf_of, _, _ = _core.choose_grid(tree, wanted, [False] * len(cells), weights)
        return chosen, between_nodes(chosen, weights, [node[leaf] for leaf in leaf_of])

    def in_all(dims: list[int]) -> str:
        return f"{between_nodes(dims, weights, list(range(tree.leaf_count))) / 1e6:.3g}"

    native: dict[tuple[int, ...], list[str]] = {}
    for mpi in mpis:
        native.setdefault(tuple(dims_of(mpi, build, tree.leaf_count, len(cells))), []).append(mpi)
    nodes = machine.replace("node:", "").replace(" package:", " x ").replace(" core:", " x ")
    best, least = placed([0] * len(cells))
    lines = []
    for dims, names in native.items():
        before = between_nodes(list(dims), weights, node)
        same = placed(list(dims))[1]
        grid = times(dims) + (f" ({', '.join(names)})" if len(native) > 1 else "")
        less = f"{100 * (1 - least / before):.0f} %"
        figures = f"{in_all(list(dims))} | {before / 1e6:.3g} | {same / 1e6:.3g} | {times(best)} | {in_all(best)} | "
        figures += f"{least / 1e6:.3g} | {less}"
        lines.append(f"| {times(cells)} | {nodes} | {grid} | {figures} |")
    return lines


def times(lengths: Sequence[int]) -> str:
    """`4 x 2`."""
    return " x ".join(map(str, lengths))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--mpis", default="openmpi,mpich", help="whose MPI_Dims_create, by comma")
    options = parser.parse_args()
    build = options.build.resolve()
    sys.path.insert(0, str(build / "python"))
    columns = [
        "cells",
        "nodes",
        "MPI_Dims_create",
        "MB in all",
        "row order",
        "placed",
        "weighted",
        "MB in all",
        "placed",
    ]
    print(f"| {' | '.join(columns)} | less than row order |\n{'|---' * (len(columns) + 1)}|")
    for cells, machine in INSTANCES:
        print("\n".join(rows(cells, machine, build, options.mpis.split(","))), flush=True)


if __name__ == "__main__":
    main()
