"""The instances of the placement benchmark: patterns of kinds that differ, each made from a seed."""

import ctypes
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from pathlib import Path

import numpy as np
from graphs import Edges, Matrix, Pattern, read, write

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


def torus(dimensions: tuple[int, ...], weights: tuple[int, ...]) -> Edges:
    """Neighbours along axis i exchange weights[i], also around the ends."""
    index = np.arange(np.prod(dimensions)).reshape(dimensions)
    parts = [(index.ravel(), np.roll(index, -1, i).ravel(), np.full(index.size, weights[i])) for i in range(index.ndim)]
    return joined(index.size, parts)


def along(dimensions: tuple[int, ...], weights: tuple[int, ...]) -> Edges:
    """A grid: neighbours along axis i exchange weights[i]."""
    index = np.arange(np.prod(dimensions)).reshape(dimensions)
    parts = []
    for axis, weight in enumerate(weights):
        lines = np.moveaxis(index, axis, 0)
        parts.append((lines[:-1].ravel(), lines[1:].ravel(), np.full(lines[1:].size, weight)))
    return joined(index.size, parts)


def random_weights(make: Callable[..., Edges], *given: object, seed: int) -> Edges:
    """The same pairs, each with 1 to 100."""
    edges = make(*given)
    return Edges(edges.ranks, edges.left, edges.right, np.random.default_rng(seed).integers(1, 101, edges.left.size))


def ocean(ranks: int, seed: int) -> Edges:
    """Blocks of an ocean model: a grid of which land, the highest of smoothed noise, has no ranks."""
    side = int(np.ceil(np.sqrt(ranks / 0.7)))
    height = np.random.default_rng(seed).random((side, side))
    for _ in range(side // 8):
        height = sum(np.roll(height, step, axis) for step in (-1, 1) for axis in (0, 1)) / 4
    number = np.full(side * side, -1)
    number[np.sort(np.argsort(height.ravel(), kind="stable")[:ranks])] = np.arange(ranks)
    edges = grid(side, side)
    left, right = number[edges.left], number[edges.right]
    wet = (left >= 0) & (right >= 0)
    return Edges(ranks, left[wet], right[wet], edges.weight[wet])


def adaptive(ranks: int, seed: int) -> Edges:
    """Squares that are divided in four near a front, a random circle; those that share a side exchange its length."""
    center, radius = np.random.default_rng(seed).random(2) / 4 + 0.4, 0.3
    squares = [(0.0, 0.0, 1.0)]
    while len(squares) + 3 <= ranks:
        gap = [abs(np.hypot(x + w / 2 - center[0], y + w / 2 - center[1]) - radius) / w**2 for x, y, w in squares]
        near = np.argsort(gap, kind="stable")[: max(1, min(len(squares) // 2, (ranks - len(squares)) // 3))]
        parts = [squares[i] for i in near]
        squares = [each for i, each in enumerate(squares) if i not in set(near.tolist())]
        squares += [(x + i * w / 2, y + j * w / 2, w / 2) for x, y, w in parts for i in (0, 1) for j in (0, 1)]
    low, width = np.array([each[:2] for each in squares]), np.array([each[2] for each in squares])
    overlap = np.minimum(low[:, None] + width[:, None, None], low[None] + width[None, :, None])
    overlap -= np.maximum(low[:, None], low[None])
    left, right = np.nonzero(np.triu((overlap >= 0).all(axis=2) & (overlap > 0).any(axis=2), 1))
    sides = np.rint(overlap[left, right].max(axis=1) * 2**20).astype(np.int64)
    return Edges(len(squares), left, right, np.maximum(sides // sides.min(), 1))


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


def scientific_cases() -> Iterator[tuple[str, Case]]:
    """Lattices in four dimensions, traffic that differs by dimension or link, land and refined squares, spare slots."""
    lattice = partial(both, torus, (8, 8, 12, 12), (10, 10, 10, 10), seed=11)
    for tree in ("16:3:12:16", "12:4:12:16"):
        yield f"lattice4d-{tree.replace(':', 'x')}-9216", Case("lattice", tree, lattice)
    yield "torus3d-9216", Case("lattice", "12:4:12:16", partial(both, torus, (24, 24, 16), (10, 10, 10), seed=12))
    yield "along-4096", Case("lattice", TREES[4096], partial(both, along, (16, 16, 16), (100, 10, 1), seed=13))
    for ranks, sides in ((4096, (64, 64)), (32768, (32, 32, 32))):
        make = partial(random_weights, grid, *sides, seed=14)
        yield f"random-weights-{ranks}", Case("random weights", TREES[ranks], partial(both, make, seed=15))
        yield f"ocean-{ranks}", Case("ocean", TREES[ranks], partial(both, ocean, ranks, 16, seed=17))
    yield "adaptive-4096", Case("adaptive", TREES[4096], partial(both, adaptive, 4096, 18, seed=19))
    spare = partial(both, grid, 100, 100, 100, seed=20)
    yield "grid3d-1000000", Case("spare places", TREES[1048576], spare)
    yield "geometric-1000000", Case("spare places", TREES[1048576], partial(both, geometric, 1000000, 12, 21, seed=22))
    yield "geometric-1048576", Case("geometric", TREES[1048576], partial(both, geometric, 1048576, 12, 23, seed=24))


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


CASES = dict([*sparse_cases(), *other_cases(), *scientific_cases(), *dense_cases(), *real_cases()])


def ranks_of(name: str) -> int:
    """By the instance's name."""
    return int(name.removesuffix("-of-16384").rsplit("-", 1)[1])


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
