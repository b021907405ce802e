"""The instances of the placement benchmark: patterns of kinds that differ, each made from a seed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

import numpy as np

TREES = {
    128: "4:2:16",
    512: "4:2:16:4",
    1024: "4:2:16:8",
    2048: "4:2:16:16",
    4096: "4:2:16:32",
    8192: "4:2:16:64",
    16384: "4:2:16:128",
    32768: "4:2:16:256",
}


@dataclass(frozen=True)
class Edges:
    """An undirected graph: each pair once; equal pairs add up."""

    ranks: int
    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray

    def relabelled(self, seed: int) -> "Edges":
        """The same graph with its ranks renumbered."""
        order = np.random.default_rng(seed).permutation(self.ranks)
        return Edges(self.ranks, order[self.left], order[self.right], self.weight)

    def csr(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row starts, columns and weights, both directions stored, columns ascending."""
        different = self.left != self.right
        left, right, weight = self.left[different], self.right[different], self.weight[different]
        keys = np.concatenate([left * self.ranks + right, right * self.ranks + left])
        unique, inverse = np.unique(keys, return_inverse=True)
        sums = np.bincount(inverse, np.concatenate([weight, weight])).astype(np.int32)
        starts = np.searchsorted(unique, np.arange(self.ranks + 1) * self.ranks)
        return starts.astype(np.int64), (unique % self.ranks).astype(np.int32), sums


def stencil(dimensions: tuple[int, ...], weights: dict[int, int]) -> Edges:
    """A grid; weights by the number of coordinates in which neighbours differ."""
    index = np.arange(np.prod(dimensions)).reshape(dimensions)
    parts = []
    for offset in product((-1, 0, 1), repeat=len(dimensions)):
        differing = sum(map(abs, offset))
        if offset <= (0,) * len(dimensions) or differing not in weights:
            continue
        here = tuple(slice(max(0, -step), size - max(0, step)) for step, size in zip(offset, dimensions, strict=True))
        there = tuple(slice(max(0, step), size - max(0, -step)) for step, size in zip(offset, dimensions, strict=True))
        left, right = index[here].ravel(), index[there].ravel()
        parts.append((left, right, np.full(left.size, weights[differing])))
    left, right, weight = map(np.concatenate, zip(*parts, strict=True))
    return Edges(index.size, left, right, weight)


def geometric(ranks: int, degree: int, seed: int) -> Edges:
    """Random points of a square; those near each other talk, the nearer the more."""
    points = np.random.default_rng(seed).random((ranks, 2))
    radius = np.sqrt(degree / (np.pi * ranks))
    parts = []
    for begin in range(0, ranks, 1024):
        distance = np.linalg.norm(points[begin : begin + 1024, None, :] - points[None, :, :], axis=2)
        left, right = np.nonzero(distance < radius)
        keep = left + begin < right
        left, right = left[keep], right[keep]
        parts.append((left + begin, right, 1 + (100 * (1 - distance[left, right] / radius)).astype(np.int64)))
    left, right, weight = map(np.concatenate, zip(*parts, strict=True))
    return Edges(ranks, left, right, weight)


def power_law(ranks: int, edges_per_rank: int, seed: int) -> Edges:
    """R-MAT (D. Chakrabarti, Y. Zhan, C. Faloutsos. R-MAT: A Recursive Model for Graph Mining. SDM 2004)."""
    random = np.random.default_rng(seed)
    left = np.zeros(ranks * edges_per_rank, np.int64)
    right = left.copy()
    for _ in range(int(np.log2(ranks))):
        draw = random.random(left.size)
        left = 2 * left + (draw >= 0.76)
        right = 2 * right + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    return Edges(ranks, left, right, np.ones(left.size, np.int64))


def all_pairs(weights: np.ndarray) -> Edges:
    """A full symmetric matrix."""
    left, right = np.triu_indices(weights.shape[0], 1)
    return Edges(weights.shape[0], left, right, weights[left, right])


def gravity(ranks: int, seed: int) -> Edges:
    """All pairs, falling with the square of the distance of random points."""
    points = np.random.default_rng(seed).random((ranks, 2))
    squares = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    factor = 3 / (2 * np.pi) / np.log(np.sqrt(ranks))
    return all_pairs(1 + np.minimum(2000, factor / np.maximum(squares, 1e-12)).astype(np.int64))


def blocks(tree: str) -> Edges:
    """All pairs, four times as much with each level of the tree that two ranks share."""
    arities = [int(word) for word in tree.split(":")]
    ranks = int(np.prod(arities))
    matrix = np.ones((ranks, ranks), np.int64)
    for block in np.cumprod(arities)[:-1]:
        group = np.arange(ranks) // block
        matrix[group[:, None] == group[None, :]] *= 4
    return all_pairs(matrix)


def uniform(ranks: int, seed: int) -> Edges:
    """All pairs, 1 to 15."""
    return all_pairs(np.random.default_rng(seed).integers(1, 16, (ranks, ranks)))


CASES: dict[str, tuple[str, Callable[[], Edges]]] = {
    "grid2d-512": (TREES[512], lambda: stencil((16, 32), {1: 10}).relabelled(512)),
    "grid2d-4096": (TREES[4096], lambda: stencil((64, 64), {1: 10}).relabelled(4096)),
    "grid2d-32768": (TREES[32768], lambda: stencil((128, 256), {1: 10}).relabelled(32768)),
    "grid2d-720": ("6:5:2:12", lambda: stencil((24, 30), {1: 10}).relabelled(3)),
    "grid2d-100": (TREES[128], lambda: stencil((10, 10), {1: 10}).relabelled(1)),
    "grid3d-512": (TREES[512], lambda: stencil((8, 8, 8), {1: 10}).relabelled(512)),
    "grid3d-4096": (TREES[4096], lambda: stencil((16, 16, 16), {1: 10}).relabelled(4096)),
    "grid3d-32768": (TREES[32768], lambda: stencil((32, 32, 32), {1: 10}).relabelled(32768)),
    "grid3d-1000": (TREES[4096], lambda: stencil((10, 10, 10), {1: 10}).relabelled(2)),
    "halo27-4096": (TREES[4096], lambda: stencil((16, 16, 16), {1: 100, 2: 10, 3: 1}).relabelled(4096)),
    "halo27-32768": (TREES[32768], lambda: stencil((32, 32, 32), {1: 100, 2: 10, 3: 1}).relabelled(32768)),
    "geometric-4096": (TREES[4096], lambda: geometric(4096, 12, 4096)),
    "geometric-32768": (TREES[32768], lambda: geometric(32768, 12, 32768)),
    "power-4096": (TREES[4096], lambda: power_law(4096, 8, 4096).relabelled(4097)),
    "power-32768": (TREES[32768], lambda: power_law(32768, 8, 32768).relabelled(32769)),
    "blocks-512": (TREES[512], lambda: blocks(TREES[512]).relabelled(5)),
    "gravity-512": (TREES[512], lambda: gravity(512, 512)),
    "gravity-2048": (TREES[2048], lambda: gravity(2048, 2048)),
    "uniform-512": (TREES[512], lambda: uniform(512, 512)),
}


def write(path: Path, edges: Edges) -> None:
    """Eight bytes "CG01", the number of ranks and of arcs, then the rows' starts, the columns and the weights."""
    starts, columns, weights = edges.csr()
    with path.open("wb") as file:
        file.write(b"CG01\0\0\0\0")
        for array in (np.array([edges.ranks, columns.size], np.int64), starts, columns, weights):
            file.write(array.tobytes())


def read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three arrays that write() wrote."""
    data = path.read_bytes()
    ranks, arcs = np.frombuffer(data, np.int64, 2, 8)
    ends = np.cumsum([24, 8 * (ranks + 1), 4 * arcs, 4 * arcs])
    starts, columns, weights = (data[begin:end] for begin, end in pairwise(ends))
    return np.frombuffer(starts, np.int64), np.frombuffer(columns, np.int32), np.frombuffer(weights, np.int32)


def made(folder: Path, names: list[str]) -> Iterator[tuple[str, str, Path]]:
    """Name, tree and file of each instance, made unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        tree, make = CASES[name]
        path = folder / f"{name}.cg"
        if not path.exists():
            write(path, make())
        yield name, tree, path
