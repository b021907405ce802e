"""Distributed placement against central placement, on synthetic graphs and recorded patterns.

quality.py BUILD [--patterns FOLDER] [--only WORD]: prints the table of distributed-quality. Patterns are gzipped
text files of "source destination messages bytes".
"""

import argparse
import gzip
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]
TREES = {512: (4, 16, 2, 4), 1024: (8, 16, 2, 4), 4096: (32, 16, 2, 4), 16384: (128, 16, 2, 4), 32768: (256, 16, 2, 4)}


def stencil(dims: tuple[int, ...], corners: bool) -> Edges:
    """5 or 7 points of weight 10; with corners 9 or 27 points, 100 across faces, 10 across edges, 1 across corners."""
    index = np.arange(np.prod(dims)).reshape(dims)
    parts = []
    for offset in np.ndindex(*(3,) * len(dims)):
        step = np.array(offset) - 1
        far = int(np.abs(step).sum())
        if tuple(step) <= (0,) * len(dims) or (not corners and far > 1):
            continue
        one = tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(step, dims, strict=True))
        other = tuple(slice(max(0, s), n + min(0, s)) for s, n in zip(step, dims, strict=True))
        a, b = index[one].ravel(), index[other].ravel()
        parts.append((a, b, np.full(a.size, 10 ** (3 - far) if corners else 10)))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def geometric(n: int, seed: int) -> Edges:
    """Random points in a square, about 12 neighbours each, weight falling with the distance."""
    points = np.random.default_rng(seed).random((n, 2))
    radius = (12 / (np.pi * n)) ** 0.5
    order = np.argsort(points[:, 0])
    points = points[order]
    ends = np.searchsorted(points[:, 0], points[:, 0] + radius)
    a, b, w = [], [], []
    for i in range(n):
        distance = np.hypot(*(points[i + 1 : ends[i]] - points[i]).T)
        near = np.flatnonzero(distance < radius)
        a.append(np.full(near.size, order[i]))
        b.append(order[i + 1 + near])
        w.append(1 + (100 * (1 - distance[near] / radius)).astype(int))
    return np.concatenate(a), np.concatenate(b), np.concatenate(w)


def conjugate_gradient(n: int) -> Edges:
    """NAS CG: partners at distances 1, 2, 4, ... in a row, and across the diagonal."""
    columns = 2 ** ((n.bit_length()) // 2)
    rows = n // columns
    edges = []
    for rank in range(n):
        row, column = divmod(rank, columns)
        edges += [(rank, row * columns + (column ^ 1 << k)) for k in range(columns.bit_length() - 1)]
        half, low = (rank, 0) if rows == columns else divmod(rank, 2)
        across = (half % rows) * rows + half // rows
        edges.append((rank, across if rows == columns else 2 * across + low))
    a, b = np.array([pair for pair in edges if pair[0] != pair[1]]).T
    return a, b, np.full(a.size, 100)


def shuffled(edges: Edges, n: int, seed: int) -> Edges:
    order = np.random.default_rng(seed).permutation(n)
    return order[edges[0]], order[edges[1]], edges[2]


def synthetic() -> Iterator[tuple[str, tuple[int, ...], Edges]]:
    dims2 = {512: (16, 32), 1024: (32, 32), 4096: (64, 64), 16384: (128, 128), 32768: (128, 256)}
    dims3 = {512: (8, 8, 8), 1024: (8, 8, 16), 4096: (16, 16, 16), 16384: (16, 32, 32), 32768: (32, 32, 32)}
    for n, tree in TREES.items():
        made = {
            "2d5": stencil(dims2[n], False),
            "2d9": stencil(dims2[n], True),
            "3d7": stencil(dims3[n], False),
            "3d27": stencil(dims3[n], True),
            "geometric": geometric(n, n),
            "cg": conjugate_gradient(n),
        }
        for name, edges in made.items():
            yield f"{name}-{n}", tree, shuffled(edges, n, n + 1)
        yield f"2d5-natural-{n}", tree, made["2d5"]
        yield f"3d27-natural-{n}", tree, made["3d27"]
        yield f"cg-natural-{n}", tree, made["cg"]


def recorded(folder: Path) -> Iterator[tuple[str, tuple[int, ...], Edges]]:
    """Nodes of 4 cores in 2 packages each; the program places round robin over nodes."""
    for path in sorted([*folder.glob("*.p2p.txt.gz"), *folder.glob("*.all.txt.gz")]):
        n = int(path.name.split(".txt")[0].rsplit(".", 1)[0].rsplit("-", 1)[1])
        with gzip.open(path, "rt") as lines:
            table = np.loadtxt(lines, comments="#", ndmin=2)
        if table.size == 0:
            continue
        yield path.name.removesuffix(".txt.gz"), (n // 4, 2, 2), tuple(table[:, k].astype(int) for k in (0, 1, 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--patterns", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--coarse", type=int, nargs="+", default=[4, 2], help="vertices divided by this")
    parser.add_argument("--limit", type=int, default=16384, help="no more vertices than this")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    cases = recorded(options.patterns) if options.patterns else synthetic()
    command = [str(options.build / "bin" / "distributed-quality"), options.preset, options.seed]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as program:
        for name, tree, (a, b, w) in cases:
            n = int(np.prod(tree))
            if options.only not in name or n > options.limit:
                continue
            for divisor in options.coarse:
                program.stdin.write(f"{name} {n // divisor} {len(tree)} {' '.join(map(str, tree))} {n} {a.size}\n")
                program.stdin.write("".join(f"{i} {j} {k}\n" for i, j, k in zip(a, b, w, strict=True)))
                program.stdin.flush()
        program.stdin.close()


if __name__ == "__main__":
    main()
