"""Libraries of other programs that place ranks, as Debian and PyPI have them: METIS, Scotch, KaHIP.

To be called in a process of its own: a damaged library may crash the process that calls it. Each function
returns where the vertices go and the CPU seconds of the library alone. A graph is (starts, columns, weights), each pair
stored in both directions; arities and costs of a tree are given root first.
"""

import ctypes
import functools
import importlib.util
import sysconfig
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

KAHIP_ECO = 1
KAHIP_MULTISECTION = 0
METIS_NAME = "libmetis.so.5"  # 5.1: later ones number their options differently
METIS_OPTIONS = 40
METIS_OPTION_SEED = 8
METIS_OPTION_UFACTOR = 16
SCOTCH_NAMES = ("lib{}-7.0.so", "lib{}.so.7.0", "lib{}.so")
SCOTCH_QUALITY = 1
SCOTCH_BALANCE = 4
WIDTHS = {4: np.int32, 8: np.int64}
Graph = tuple[np.ndarray, np.ndarray, np.ndarray]
Placed = tuple[np.ndarray, float]


class Refusal(Exception):
    """Why there is no answer, in words."""


def not_installed() -> Refusal:
    """Neither library nor program is there."""
    return Refusal("not installed")


@dataclass(frozen=True)
class Subtrees:
    """A tree as arrays, by object, of which 0 is the root."""

    first_child: np.ndarray
    children: np.ndarray
    below: np.ndarray  # slots below each
    first: np.ndarray  # number of the first of them


def at(array: np.ndarray) -> ctypes.c_void_p:
    """Where its numbers are."""
    return ctypes.c_void_p(array.ctypes.data)


def as_numbers(values: Any, kind: Any) -> np.ndarray:
    """An array of a library's own type of numbers, as it reads them."""
    return np.ascontiguousarray(values, kind)


def load(name: str, mode: int = ctypes.DEFAULT_MODE) -> ctypes.CDLL | None:
    """None where there is no such file; one that is no library, or lacks another, is refused."""
    try:
        return ctypes.CDLL(name, mode)
    except OSError as error:
        if str(error).startswith(f"{name}: ") and "No such file" in str(error):
            return None
        raise Refusal(f"failed: {error}") from error


def piece(graph: Graph, vertices: np.ndarray) -> Graph:
    """The graph between some vertices."""
    starts, columns, weights = graph
    local = np.full(starts.size - 1, -1, columns.dtype)
    local[vertices] = np.arange(vertices.size)
    degrees = starts[vertices + 1] - starts[vertices]
    before = np.concatenate([[0], np.cumsum(degrees)[:-1]])
    arcs = np.repeat(starts[vertices] - before, degrees) + np.arange(degrees.sum())
    keep = local[columns[arcs]] >= 0
    rows = np.repeat(np.arange(vertices.size), degrees)
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=vertices.size))])
    return ends.astype(starts.dtype), local[columns[arcs[keep]]], weights[arcs[keep]]


def rebalance(graph: Graph, part: np.ndarray, capacities: np.ndarray) -> None:
    """Moves the vertices that cost least out of parts that hold more than fit there."""
    starts, columns, weights = graph
    sizes = np.bincount(part, minlength=capacities.size)
    for source in np.flatnonzero(sizes > capacities):
        while sizes[source] > capacities[source]:
            best: tuple[Any, Any, int] | None = None
            for vertex in np.flatnonzero(part == source):
                row = slice(starts[vertex], starts[vertex + 1])
                ties = np.bincount(part[columns[row]], weights[row], minlength=capacities.size).astype(np.float64)
                ties[sizes >= capacities] = -np.inf
                target = int(ties.argmax())
                gain = ties[target] - weights[row][part[columns[row]] == source].sum()
                if best is None or gain > best[0]:
                    best = (gain, vertex, target)
            if best is None:
                raise Refusal("failed: a part is too large, and has no vertex")
            part[best[1]] = best[2]
            sizes[source] -= 1
            sizes[best[2]] += 1


def along(tree: Subtrees, graph: Graph, divide: Callable[[Graph, np.ndarray], Placed]) -> Placed:
    """The slot of each vertex: divided from the root down into as few subtrees as suffice.

    `divide` may keep the balance only nearly: the surplus of a part is moved where it costs least.
    """
    slot_of = np.zeros(graph[0].size - 1, np.int64)
    seconds = 0.0
    work = [(0, np.arange(slot_of.size), graph)]
    while work:
        item, ranks, inside = work.pop()
        children = fewest_children(tree, item, ranks.size)
        if children.size == 0:
            slot_of[ranks] = tree.first[item] + np.arange(ranks.size)
        elif children.size == 1:
            work.append((children[0], ranks, inside))
        elif tree.below[children].max() == 1:
            slot_of[ranks] = tree.first[children]
        else:
            part, spent = divide(inside, tree.below[children])
            seconds += spent
            rebalance(inside, part, tree.below[children])
            for index, child in enumerate(children):
                mine = np.flatnonzero(part == index)
                work.append((child, ranks[mine], piece(inside, mine)))
    return slot_of, seconds


def fewest_children(tree: Subtrees, item: int, count: int) -> np.ndarray:
    """As few children as have slots for so many, the largest first; none below a leaf."""
    children = tree.first_child[item] + np.arange(tree.children[item])
    children = children[np.argsort(-tree.below[children], kind="stable")]
    enough: np.ndarray = children[: np.searchsorted(np.cumsum(tree.below[children]), count) + 1]
    return enough


class Metis(NamedTuple):
    """The library, and its numbers: idx_t and real_t are chosen when it is built."""

    library: Any
    whole: type
    real: type


@functools.cache
def metis_library() -> Metis:
    """Its widths are found out where a wrong guess does no harm: on a graph of four vertices."""
    library = load(METIS_NAME)
    if library is None:
        raise not_installed()
    whole = metis_whole(library)
    for real in (np.float32, np.float64):
        metis = Metis(library, whole, real)
        if metis_works(metis):
            return metis
    raise Refusal("failed: METIS divides a chain of four vertices wrongly")


def metis_whole(library: ctypes.CDLL) -> type:
    """METIS_SetDefaultOptions sets 40 whole numbers to -1: so many bytes are no longer 0."""
    options = np.zeros(2 * 8 * METIS_OPTIONS, np.uint8)
    library.METIS_SetDefaultOptions(at(options))
    written = int(np.count_nonzero(options))
    if written not in [METIS_OPTIONS * width for width in WIDTHS]:
        raise Refusal(f"failed: METIS: expected numbers of 32 or 64 bits, found {8 * written / METIS_OPTIONS:g}")
    return WIDTHS[written // METIS_OPTIONS]


def metis_works(metis: Metis) -> bool:
    """A chain of weights 9, 1, 9 is cut in the middle; the array of shares has space for a wider type."""
    shares: np.ndarray = np.zeros(4, metis.real)
    shares[:2] = 0.5
    chain = (np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2]), np.array([9, 9, 1, 1, 9, 9]))
    status, part, _ = metis_recursive(metis, chain, 2, shares, 1)
    return status == 1 and part[0] == part[1] != part[2] == part[3] and set(part) == {0, 1}


def metis_recursive(
    metis: Metis, graph: Graph, parts: int, shares: np.ndarray | None, seed: int
) -> tuple[int, np.ndarray, float]:
    """METIS_PartGraphRecursive: status, parts and seconds."""
    starts, columns, weights = (as_numbers(each, metis.whole) for each in graph)
    options: np.ndarray = np.full(METIS_OPTIONS, -1, metis.whole)
    options[METIS_OPTION_SEED] = seed
    options[METIS_OPTION_UFACTOR] = 1  # 0.1 %
    part: np.ndarray = np.zeros(starts.size - 1, metis.whole)
    count, constraints, wanted, found = (as_numbers([each], metis.whole) for each in (part.size, 1, parts, 0))
    shared = None if shares is None else at(shares)
    begin = time.process_time()
    status = metis.library.METIS_PartGraphRecursive(
        *map(at, (count, constraints, starts, columns)),
        *(None, None, at(weights), at(wanted), shared, None, at(options), at(found), at(part)),
    )
    return status, part, time.process_time() - begin


def metis_divide(graph: Graph, capacities: np.ndarray, seed: int) -> Placed:
    """Recursive bisection into parts in proportion to their capacities, as nearly as METIS can."""
    metis = metis_library()
    alike = bool((capacities == capacities[0]).all())
    shares = None if alike else as_numbers(capacities / capacities.sum(), metis.real)
    status, part, seconds = metis_recursive(metis, graph, capacities.size, shares, seed)
    if status != 1:
        raise Refusal(f"failed: METIS_PartGraphRecursive: expected 1, found {status}")
    require_parts(part, capacities.size)
    return part, seconds


def require_parts(part: np.ndarray, count: int) -> None:
    """Numbers that a library may have got wrong."""
    if part.size > 0 and not 0 <= part.min() <= part.max() < count:
        raise Refusal(f"failed: expected parts 0 .. {count - 1}, found {part.min()} .. {part.max()}")


def kahip_library() -> Path:
    """The C library that the wheel carries."""
    spec = importlib.util.find_spec("kahip")
    folders = Path(spec.origin).parents if spec is not None and spec.origin is not None else ()
    found = [base / "lib/libkahip.so" for base in folders]
    found += [base / "libkahip.so" for base in folders if base.name == "lib"]
    path = next((path for path in found if path.exists()), None)
    if path is None:
        raise not_installed()
    return path


def kahip(graph: Graph, arities: np.ndarray, costs: np.ndarray, seed: int) -> Placed:
    """Process mapping, eco, global multisection, no imbalance allowed."""
    starts, columns, weights = (np.ascontiguousarray(each, np.int32) for each in graph)
    inner_arities, inner_costs = (np.ascontiguousarray(each[::-1], np.int32) for each in (arities, costs))
    ranks = starts.size - 1
    part, ones = np.zeros(ranks, np.int32), np.ones(ranks, np.int32)
    count, cut, objective, imbalance = ctypes.c_int(ranks), ctypes.c_int(), ctypes.c_int(), ctypes.c_double(0)
    library = ctypes.CDLL(str(kahip_library()))
    begin = time.process_time()
    library.process_mapping(
        ctypes.byref(count),
        at(ones),
        at(starts),
        at(weights),
        at(columns),
        at(inner_arities),
        at(inner_costs),
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


def scotch_library(wide: bool = False) -> tuple[ctypes.CDLL, type]:
    """The first whose whole numbers are wide enough, and their type."""
    found = False
    for library in scotch_libraries():
        size = library.SCOTCH_numSizeof()
        if size not in WIDTHS:
            raise Refusal(f"failed: Scotch: expected numbers of 4 or 8 bytes, found {size}")
        if size == 8 or not wide:
            return library, ctypes.c_int64 if size == 8 else ctypes.c_int32
        found = True
    raise Refusal("needs Scotch with numbers of 64 bits") if found else not_installed()


def scotch_libraries() -> Iterator[ctypes.CDLL]:
    """Debian keeps the one with numbers of 64 bits in a folder of its own. Its error functions are another library."""
    folders = ("", f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}/scotch-int64/")
    for folder in folders:
        for name in SCOTCH_NAMES:
            if load(folder + name.format("scotcherr"), ctypes.RTLD_GLOBAL) is None:
                continue
            library = load(folder + name.format("scotch"))
            if library is not None:
                yield library


def scotch(graph: Graph, arities: np.ndarray, costs: np.ndarray, seed: int, flags: int, imbalance: float) -> Placed:
    """SCOTCH_graphMap on a tree-leaf architecture.

    It sums weights times costs in its whole numbers: where 32 bits may not hold that, those of 64 bits are used.
    """
    library, number = scotch_library(int(graph[2].sum(dtype=np.int64)) * int(max(costs)) >= 2**31)
    sizes, prices, starts, columns, weights = (as_numbers(each, number) for each in (arities, costs, *graph))
    mesh, machine, strategy = (
        ctypes.create_string_buffer(getattr(library, f"SCOTCH_{name}Sizeof")()) for name in ("graph", "arch", "strat")
    )
    leaf_of: np.ndarray = np.empty(starts.size - 1, number)
    ends = ctypes.c_void_p(starts.ctypes.data + starts.itemsize)
    ranks, arcs, levels, parts = map(number, (leaf_of.size, columns.size, sizes.size, int(sizes.prod())))
    lists = (at(starts), ends, None, None, arcs, at(columns), at(weights))
    steps: list[Callable[[], int]] = [
        lambda: library.SCOTCH_graphInit(mesh),
        lambda: library.SCOTCH_graphBuild(mesh, number(0), ranks, *lists),
        lambda: library.SCOTCH_archInit(machine),
        lambda: library.SCOTCH_archTleaf(machine, levels, at(sizes), at(prices)),
        lambda: library.SCOTCH_stratInit(strategy),
        lambda: library.SCOTCH_stratGraphMapBuild(strategy, number(flags), parts, ctypes.c_double(imbalance)),
        lambda: library.SCOTCH_graphMap(mesh, machine, strategy, at(leaf_of)),
    ]
    library.SCOTCH_randomSeed(number(seed))
    library.SCOTCH_randomReset()
    begin = time.process_time()
    for position, step in enumerate(steps):
        if step() != 0:
            raise Refusal(f"failed: Scotch at step {position}")
    return leaf_of.astype(np.int64), time.process_time() - begin
