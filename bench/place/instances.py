"""The instances of the placement benchmark: patterns of kinds that differ, each made from a seed."""

import ctypes
import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np

REAL = Path(__file__).resolve().parents[2] / "tests" / "pattern" / "data" / "real"
TREES = {
    64: "4:2:8",
    128: "4:2:16",
    512: "4:2:16:4",
    1024: "4:2:16:8",
    2048: "4:2:16:16",
    4096: "4:2:16:32",
    8192: "4:2:16:64",
    16384: "4:2:16:128",
    32768: "4:2:16:256",
    262144: "16:2:64:128",
    1048576: "64:2:64:128",
}


@dataclass(frozen=True)
class Edges:
    """An undirected graph: equal pairs, in either direction, add up; pairs of equal ends do not count."""

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
        left, right, weight = (each[different].astype(np.int64) for each in (self.left, self.right, self.weight))
        keys = np.concatenate([left * self.ranks + right, right * self.ranks + left])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if keys.size else keys
        sums = np.add.reduceat(np.concatenate([weight, weight])[order], first) if keys.size else keys
        starts = np.searchsorted(keys[first], np.arange(self.ranks + 1) * self.ranks)
        return starts.astype(np.int64), (keys[first] % self.ranks).astype(np.int32), sums


@dataclass(frozen=True)
class Matrix:
    """All pairs: a full symmetric matrix of 32-bit whole numbers, nothing on the diagonal."""

    weights: np.ndarray

    @property
    def ranks(self) -> int:
        """How many talk."""
        return len(self.weights)

    def relabelled(self, seed: int) -> "Matrix":
        """The same matrix with its ranks renumbered."""
        order = np.argsort(np.random.default_rng(seed).permutation(self.ranks))
        return Matrix(self.weights[np.ix_(order, order)])


Pattern = Edges | Matrix


@dataclass(frozen=True)
class Case:
    """A pattern and the machine it is placed on: arities, innermost first."""

    kind: str
    tree: str
    make: Callable[[], Pattern]


def joined(ranks: int, parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Edges:
    """One graph of several lists of pairs."""
    left, right, weight = map(np.concatenate, zip(*parts, strict=True))
    return Edges(ranks, left, right, weight)


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
    return joined(index.size, parts)


def grid(*dimensions: int) -> Edges:
    """Neighbours along the axes exchange 10."""
    return stencil(dimensions, {1: 10})


def halo(*dimensions: int) -> Edges:
    """All neighbours of a cell: 100 over faces, 10 over edges, 1 over corners."""
    return stencil(dimensions, {1: 100, 2: 10, 3: 1})


def geometric(ranks: int, degree: int, seed: int) -> Edges:
    """Random points of a square; those near each other talk, the nearer the more."""
    from scipy.spatial import cKDTree  # noqa: PLC0415  only some instances need it

    points = np.random.default_rng(seed).random((ranks, 2))
    radius = np.sqrt(degree / (np.pi * ranks))
    left, right = cKDTree(points).query_pairs(radius, output_type="ndarray").T
    distance = np.linalg.norm(points[left] - points[right], axis=1)
    return Edges(ranks, left, right, 1 + (100 * (1 - distance / radius)).astype(np.int64))


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


def conjugate_gradient(ranks: int) -> Edges:
    """NPB's CG: a grid of processes, powers of two; butterflies within a row, and the transposed process."""
    columns = 2 ** ((int(np.log2(ranks)) + 1) // 2)
    rows = ranks // columns
    rank = np.arange(ranks)
    parts = []
    step = 1
    while step < columns:
        parts.append((rank, rank ^ step, np.full(ranks, 100)))
        step *= 2
    if rows == columns:
        transposed = rank % rows * rows + rank // rows
    else:
        transposed = 2 * (rank // 2 % rows * rows + rank // 2 // rows) + rank % 2
    parts.append((rank, transposed, np.full(ranks, 100)))
    return joined(ranks, parts)


def multigrid(side: int) -> Edges:
    """A torus of side^3 ranks whose neighbours at distance 1, 2, 4 ... exchange four times less each."""
    index = np.arange(side**3).reshape(side, side, side)
    parts = []
    weight = 256
    for level in range(int(np.log2(side))):
        coarse = index[:: 2**level, :: 2**level, :: 2**level]
        for axis in range(3):
            parts.append((coarse.ravel(), np.roll(coarse, -1, axis).ravel(), np.full(coarse.size, max(weight, 1))))
        weight //= 4
    return joined(side**3, parts)


def nested(tree: str, seed: int) -> Edges:
    """Every subtree's ranks at random with ranks of its other children, eight times less with each level outwards."""
    arities = [int(word) for word in tree.split(":")]
    ranks = int(np.prod(arities))
    random = np.random.default_rng(seed)
    rank = np.arange(ranks)
    parts = [(rank, rank - rank % arities[0] + (rank + 1 + k) % arities[0], 0) for k in range(arities[0] - 1)]
    inside = arities[0]
    for level, arity in enumerate(arities[1:], start=1):
        for _ in range(3):
            other = rank - rank % (inside * arity) + random.integers(0, inside * arity, ranks)
            apart = other // inside != rank // inside
            parts.append((rank[apart], other[apart], level))
        inside *= arity
    weighed = [(*ends, np.full(ends[0].size, 4 * 8 ** (len(arities) - 1 - level))) for *ends, level in parts]
    return joined(ranks, weighed)


@cache
def triangulation(points: int, dimensions: int, seed: int) -> Edges:
    """The Delaunay graph of random points."""
    from scipy.spatial import Delaunay  # noqa: PLC0415  only some instances need it

    corners = Delaunay(np.random.default_rng(seed).random((points, dimensions))).simplices.astype(np.int64)
    ends = np.concatenate([np.sort(corners[:, list(pair)]) for pair in combinations(range(dimensions + 1), 2)])
    keys = np.unique(ends[:, 0] * points + ends[:, 1])
    return Edges(points, keys // points, keys % points, np.ones(keys.size, np.int64))


def cut(make: Callable[[], Edges], parts: int) -> Edges:
    """What is exchanged between the pieces of a mesh that METIS cut, one piece a rank: what real codes have."""
    mesh = make()
    starts, columns, _ = (each.astype(np.int32) for each in mesh.csr())
    weights = np.ones_like(columns)
    part = np.zeros(mesh.ranks, np.int32)
    options = np.full(40, -1, np.int32)  # METIS's defaults
    numbers = [ctypes.c_int32(each) for each in (mesh.ranks, 1, parts, 0)]
    ranks, constraints, wanted, found = map(ctypes.byref, numbers)
    at = [ctypes.c_void_p(each.ctypes.data) for each in (starts, columns, weights, options, part)]
    library = ctypes.CDLL("libmetis.so.5")
    status = library.METIS_PartGraphKway(
        ranks, constraints, at[0], at[1], None, None, at[2], wanted, None, None, at[3], found, at[4]
    )
    if status != 1:
        raise RuntimeError(f"METIS_PartGraphKway: expected 1, found {status}")
    return Edges(parts, part[mesh.left], part[mesh.right], np.ones_like(mesh.weight))


def gravity(ranks: int, seed: int) -> Matrix:
    """All pairs, falling with the square of the distance of random points."""
    points = np.random.default_rng(seed).random((ranks, 2))
    weights = np.empty((ranks, ranks), np.int32)
    factor = 3 / (2 * np.pi) / np.log(np.sqrt(ranks))
    squares = (points**2).sum(axis=1)
    for begin in range(0, ranks, 512):
        rows = points[begin : begin + 512]
        if ranks <= 2048:
            distance = ((rows[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
        else:
            distance = squares[begin : begin + 512, None] + squares[None, :] - 2 * rows @ points.T
        weights[begin : begin + 512] = 1 + np.minimum(2000, factor / np.maximum(distance, 1e-12))
    return Matrix(symmetric(weights))


def symmetric(weights: np.ndarray) -> np.ndarray:
    """What is above the diagonal, below it, too; in place, in blocks."""
    size = 1024
    for begin in range(0, len(weights), size):
        for other in range(begin + size, len(weights), size):
            weights[other : other + size, begin : begin + size] = weights[begin : begin + size, other : other + size].T
        block = np.triu(weights[begin : begin + size, begin : begin + size], 1)
        weights[begin : begin + size, begin : begin + size] = block + block.T
    return weights


def grid_and_all(dimensions: tuple[int, ...], seed: int) -> Matrix:
    """All pairs exchange 1, neighbours of a grid a lot more."""
    edges = grid(*dimensions).relabelled(seed)
    weights = np.ones((edges.ranks, edges.ranks), np.int32)
    np.fill_diagonal(weights, 0)
    much = 10 * max(20, edges.ranks // 30)
    weights[edges.left, edges.right] += much
    weights[edges.right, edges.left] += much
    return Matrix(weights)


def blocks(tree: str, factor: int) -> Matrix:
    """All pairs, `factor` times as much with each level of the tree that two ranks share."""
    arities = [int(word) for word in tree.split(":")]
    ranks = int(np.prod(arities))
    weights = np.ones((ranks, ranks), np.int32)
    for size in np.cumprod(arities)[:-1]:
        group = np.arange(ranks) // size
        weights[group[:, None] == group[None, :]] *= factor
    np.fill_diagonal(weights, 0)
    return Matrix(weights)


def uniform(ranks: int, seed: int) -> Matrix:
    """All pairs, 1 to 15."""
    upper = np.triu(np.random.default_rng(seed).integers(1, 16, (ranks, ranks)).astype(np.int32), 1)
    return Matrix(upper + upper.T)


def figure_5() -> Matrix:
    """The 8 ranks of treematch-2013, Figure 5."""
    upper = [[1000, 10, 1, 100, 1, 1, 1], [1000, 1, 1, 100, 1, 1], [1000, 1, 1, 100, 1], [1, 1, 1, 100]]
    upper += [[1000, 10, 1], [1000, 1], [1000]]
    weights = np.zeros((8, 8), np.int32)
    weights[np.triu_indices(8, 1)] = np.concatenate(upper)
    return Matrix(weights + weights.T)


def recorded(path: Path) -> Edges:
    """Bytes between the ranks of a real program, both directions together."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        head = file.readline()
        ranks = int(head.split("ranks=")[1].split()[0])
        rows = np.loadtxt(file, dtype=np.int64, ndmin=2)
    left, right, _, size = rows.T
    talk = size > 0
    return Edges(ranks, left[talk], right[talk], size[talk])


def talks(path: Path) -> bool:
    """Whether a recorded pattern has pairs behind its head line."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return len(file.readlines(1024)) > 1


def both(make: Callable[..., Pattern], *given: object, seed: int) -> Pattern:
    """Made, then renumbered."""
    return make(*given).relabelled(seed)


def sparse_cases() -> Iterator[tuple[str, Case]]:
    """Few partners a rank; the seed of a renumbering is the number of ranks."""
    squares = {64: (8, 8), 512: (16, 32), 4096: (64, 64), 32768: (128, 256), 262144: (512, 512)}
    cubes = {64: (4, 4, 4), 512: (8, 8, 8), 4096: (16, 16, 16), 32768: (32, 32, 32), 262144: (64, 64, 64)}
    for ranks, sides in squares.items():
        seed = 3 if ranks == 64 else ranks
        yield f"grid2d-{ranks}", Case("grid", TREES[ranks], partial(both, grid, *sides, seed=seed))
    for ranks, sides in (cubes | {1048576: (64, 128, 128)}).items():
        seed = 3 if ranks == 64 else ranks
        yield f"grid3d-{ranks}", Case("grid", TREES[ranks], partial(both, grid, *sides, seed=seed))
    for ranks in (512, 4096, 32768, 262144):
        yield f"halo27-{ranks}", Case("halo", TREES[ranks], partial(both, halo, *cubes[ranks], seed=ranks))
    for ranks in (4096, 32768, 262144):
        make = partial(both, geometric, ranks, 12, ranks, seed=ranks + 1)
        yield f"geometric-{ranks}", Case("geometric", TREES[ranks], make)
        make = partial(both, power_law, ranks, 8, ranks, seed=ranks + 1)
        yield f"power-{ranks}", Case("power law", TREES[ranks], make)
    yield "cg-1024", Case("program", TREES[1024], partial(both, conjugate_gradient, 1024, seed=3))
    yield "nested-4096", Case("nested", TREES[4096], partial(both, nested, TREES[4096], 7, seed=8))
    yield "nested-32768", Case("nested", TREES[32768], partial(both, nested, TREES[32768], 9, seed=10))


def other_cases() -> Iterator[tuple[str, Case]]:
    """Natural orders, spare places, other arities, meshes."""
    yield "grid2d-natural-4096", Case("natural", TREES[4096], partial(grid, 64, 64))
    yield "halo27-natural-4096", Case("natural", TREES[4096], partial(halo, 16, 16, 16))
    yield "cg-natural-1024", Case("natural", TREES[1024], partial(conjugate_gradient, 1024))
    yield "multigrid-natural-4096", Case("natural", TREES[4096], partial(multigrid, 16))
    yield "figure5-8", Case("spare places", "2:3:2", figure_5)
    yield "grid2d-100", Case("spare places", TREES[128], partial(both, grid, 10, 10, seed=1))
    yield "grid3d-1000", Case("spare places", TREES[4096], partial(both, grid, 10, 10, 10, seed=2))
    yield "dense-grid-512-of-16384", Case("spare places", TREES[16384], partial(grid_and_all, (8, 8, 8), 512))
    yield "halo27-600", Case("spare places", "6:5:2:12", partial(both, halo, 10, 10, 6, seed=4))
    yield "grid2d-720", Case("other arities", "6:5:2:12", partial(both, grid, 24, 30, seed=3))
    yield "geometric-8640", Case("other arities", "12:3:4:60", partial(both, geometric, 8640, 12, 5, seed=6))
    yield "gravity-720", Case("other arities", "6:5:2:12", partial(gravity, 720, 7))
    small, flat, solid = (partial(triangulation, *given) for given in ((32768, 2, 5), (1000000, 2, 1), (600000, 3, 2)))
    discs = partial(both, geometric, 32768, 10, 15, seed=16)
    yield "mesh-triangles-512", Case("mesh", TREES[512], partial(cut, small, 512))
    yield "mesh-discs-512", Case("mesh", TREES[512], partial(cut, discs, 512))
    yield "mesh-tetrahedra-512", Case("mesh", TREES[512], partial(cut, solid, 512))
    yield "mesh-triangles-4096", Case("mesh", TREES[4096], partial(cut, flat, 4096))
    yield "mesh-tetrahedra-4096", Case("mesh", TREES[4096], partial(cut, solid, 4096))
    yield "mesh-triangles-32768", Case("mesh", TREES[32768], partial(cut, flat, 32768))


def dense_cases() -> Iterator[tuple[str, Case]]:
    """All pairs talk."""
    sides = {128: (4, 4, 8), 512: (8, 8, 8), 2048: (8, 16, 16), 8192: (16, 16, 32), 16384: (16, 32, 32)}
    for ranks, dimensions in sides.items():
        yield f"dense-grid-{ranks}", Case("dense", TREES[ranks], partial(grid_and_all, dimensions, ranks))
        yield f"gravity-{ranks}", Case("dense", TREES[ranks], partial(gravity, ranks, ranks))
    for ranks in (512, 2048):
        yield f"uniform-{ranks}", Case("dense", TREES[ranks], partial(uniform, ranks, ranks))
    yield "blocks-512", Case("dense", TREES[512], partial(both, blocks, TREES[512], 10, seed=5))
    yield "blocks-4096", Case("dense", TREES[4096], partial(both, blocks, TREES[4096], 4, seed=6))


def real_cases() -> Iterator[tuple[str, Case]]:
    """Programs on as many nodes of two packages of four cores as they need: all messages, collectives' among them, and
    those that the program itself sends to a rank, where there are any.
    """
    for path in sorted(REAL.glob("*.all.txt.gz")):
        name = path.name.removesuffix(".all.txt.gz")
        ranks = int(name.rsplit("-", 1)[1])
        tree = f"4:2:{-(-ranks // 8)}"
        yield f"real-{name}", Case("real", tree, partial(recorded, path))
        own = REAL / f"{name}.p2p.txt.gz"
        if talks(own):
            yield f"real-p2p-{name}", Case("real", tree, partial(recorded, own))


CASES = dict([*sparse_cases(), *other_cases(), *dense_cases(), *real_cases()])


def ranks_of(name: str) -> int:
    """By the instance's name."""
    return int(name.removesuffix("-of-16384").rsplit("-", 1)[1])


def write(path: Path, pattern: Pattern) -> None:
    """Eight bytes that name the form, the number of ranks and of arcs, then rows' starts, columns and weights.

    CG01: weights of 32 bits; CG02: of 64; CGD1: the matrix, row by row, of 32 bits, and no arcs counted.
    """
    partial_path = path.with_suffix(f".{os.getpid()}.part")
    with partial_path.open("wb") as file:
        if isinstance(pattern, Matrix):
            file.write(b"CGD1\0\0\0\0" + np.array([pattern.ranks, 0], np.int64).tobytes())
            for begin in range(0, pattern.ranks, 1024):
                file.write(np.ascontiguousarray(pattern.weights[begin : begin + 1024], np.int32).tobytes())
        else:
            starts, columns, weights = pattern.csr()
            small = weights.max(initial=0) < 2**31
            file.write(b"CG01\0\0\0\0" if small else b"CG02\0\0\0\0")
            weights = weights.astype(np.int32 if small else np.int64)
            for array in (np.array([pattern.ranks, columns.size], np.int64), starts, columns, weights):
                file.write(array.tobytes())
    partial_path.replace(path)


def read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, columns and weights of what write() wrote."""
    data = np.memmap(path, np.uint8, "r")
    form = bytes(data[:4])
    ranks, arcs = (int(each) for each in data[8:24].view(np.int64))
    if form == b"CGD1":
        return rows_of(data[24:].view(np.int32).reshape(ranks, ranks))
    width = 4 if form == b"CG01" else 8
    ends = np.cumsum([24, 8 * (ranks + 1), 4 * arcs, width * arcs])
    starts, columns, weights = (data[begin:end] for begin, end in pairwise(ends))
    return starts.view(np.int64), columns.view(np.int32), np.frombuffer(weights.tobytes(), f"<i{width}")


def rows_of(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, columns and weights of what is not zero, row by row: the matrix may fill much of the memory."""
    starts = np.concatenate([[0], np.cumsum([np.count_nonzero(row) for row in matrix])])
    columns, weights = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    for row, (begin, end) in zip(matrix, pairwise(starts), strict=True):
        columns[begin:end] = np.flatnonzero(row)
        weights[begin:end] = row[columns[begin:end]]
    return starts, columns, weights


def made(folder: Path, name: str) -> Path:
    """The instance's file, made unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.cg"
    if not path.exists():
        write(path, CASES[name].make())
    return path


def relabel(path: Path, seed: int) -> Path:
    """The same instance renumbered, in a file beside it."""
    starts, columns, weights = read(path)
    ranks = starts.size - 1
    rows = np.repeat(np.arange(ranks), np.diff(starts))
    with path.open("rb") as file:
        dense = file.read(4) == b"CGD1"
    if dense:
        matrix = np.zeros((ranks, ranks), np.int32)
        matrix[rows, columns] = weights
        pattern: Pattern = Matrix(matrix)
    else:
        once = rows < columns
        pattern = Edges(ranks, rows[once], columns[once], weights[once])
    target = path.with_name(f"relabelled-{seed}-{path.name}")
    write(target, pattern.relabelled(seed))
    return target
