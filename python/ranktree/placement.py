"""Placing ranks from a program: a matrix or graph of who talks to whom, a machine, a plan.

import ranktree
plan = ranktree.place(matrix, "node:64 package:2 core:16", preset="strong")
plan.permutation          # numpy array: the leaf (logical number of the place) of each rank
plan.cost, plan.bound     # no placement costs less than the bound; plan.gap is (cost - bound) / bound
plan.cost_by_level        # numpy array beside plan.levels
plan.stopped              # the time limit or keep_going ended the search early
plan.save("plan.json")    # for `ranktree emit` and `ranktree run`

Nothing but numpy is imported: sparse matrices and graphs are known by what they can do.
"""

import os
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ranktree import _core
from ranktree._core import compute_placement, evaluate, lower_bound, make_plan
from ranktree.notebook.plan import Plan
from ranktree.objective import Model, planned
from ranktree.pattern import COLLECTIVE_MODELS, expand, natural_model, read, read_whole
from ranktree.pins import pins_of
from ranktree.traced_hosts import fit_hosts

if TYPE_CHECKING:
    from ranktree.notebook.machine import Machine

__all__ = ["compute_placement", "evaluate", "lower_bound", "make_plan", "place"]

MAX_RANKS = 2**31 - 1


def place(  # noqa: PLR0913  what is placed, where, and how
    pattern: Any,
    machine: "Machine | str | os.PathLike[str]" = "live",
    *,
    algorithm: str = "best",
    preset: str = "default",
    seed: int = 1,
    threads: int = 1,
    time_limit: float | None = None,
    oversubscribe: bool = False,
    keep_going: Callable[[], bool | None] | None = None,
    pins: Mapping[int, int | str] | None = None,
    metric: str = "size",
    objective: str | None = None,
    parameters: "str | os.PathLike[str] | None" = None,
    unit: str = "core",
    cost: str = "hops",
    collectives: str = "model",
    threads_per_rank: int = 1,
    network: "str | os.PathLike[str] | None" = None,
) -> Plan:
    """Place the ranks of a pattern on a machine, as `ranktree map` does.

    Parameters
    ----------
    pattern : str or os.PathLike or array_like or sparse matrix or networkx.Graph or Pattern
        One of: the path of a file (docs/reference/formats/pattern.md, `.npy`, `scipy.sparse.save_npz`'s); a numpy
        array of two dimensions or a scipy sparse matrix, whose entry [i, j] goes from rank i to rank j; a networkx
        graph whose nodes are 0 .. n-1, with the edge attribute `weight` (1 where it is missing); a `ranktree.Pattern`.
    machine : str or os.PathLike or Machine, default "live"
        As `ranktree map --machine` takes it, with `unit`, `cost` and `network`; or a `ranktree.Machine`, as it is.
    algorithm : {"best", "engine", "treematch", "greedy", "round-robin", "random", "identity"}
        The placement algorithm; "best" takes the cheapest of several.
    preset : {"default", "fast", "strong"}
        How hard the engine searches.
    seed : int
        Of every random choice. Equal arguments give the same plan, unless the search is stopped early.
    threads : int
        At most this many; the plan does not depend on it.
    time_limit : float, optional
        Seconds after which the best placement found so far is kept.
    oversubscribe : bool
        Whether more ranks than slots share slots evenly.
    keep_going : callable, optional
        Called regularly; False keeps the best placement found so far.
    pins : mapping, optional
        Slots that some ranks must have: {rank: leaf}, or {rank: "host:pu"} ("pu" where there is one host).
    metric : {"size", "msg", "avg"}
        What counts: bytes, messages, or average bytes a message.
    objective : {"bytes", "messages", "bottleneck", "time"}, optional
        In place of `metric`, for patterns of files and of `ranktree.Pattern`: docs/explanation/objectives.md.
        `ranktree map` has "time" by default.
    parameters : str or os.PathLike, optional
        For an objective, what links cost: a file of `ranktree calibrate`, or "ethernet-1g", "ethernet-10g" or
        "infiniband-100g".
    unit : {"core", "pu"}
        What the slot of a rank is.
    cost : {"hops", "latency", "bandwidth"}
        What the distance of two slots is.
    collectives : {"model", "openmpi", "mpich", "flat", "none"}
        How collective calls become pairs; "model": as the MPI that was traced.
    threads_per_rank : int
        So many neighbouring slots for each rank, which is bound to all of them.
    network : str or os.PathLike, optional
        A file of switches (docs/reference/formats/network.md), each host of which is such a machine.

    Returns
    -------
    Plan
        The slot of each rank. By the objective it is never worse than the ranks in order.

    Warns
    -----
    UserWarning
        For what the format of a file cannot hold, and for hosts of the trace that the machine lacks.

    Raises
    ------
    ValueError
        One line that names what is wrong.
    OSError
        Where a file cannot be read.
    """
    # #lizard forgives the length: most of it is the description of the parameters
    texts = {"algorithm": algorithm, "preset": preset, "metric": metric, "unit": unit, "cost": cost}
    require_texts({**texts, "collectives": collectives})
    if collectives not in COLLECTIVE_MODELS:
        raise ValueError(f"collectives: expected {', '.join(COLLECTIVE_MODELS)}, found '{collectives}'")
    if keep_going is not None and not callable(keep_going):
        raise ValueError(f"keep_going: expected a function or None, found {keep_going!r}")
    require_whole("threads_per_rank", threads_per_rank, 1, 2**31 - 1)
    tree = tree_of(machine, unit, cost, network).bundle_leaves(threads_per_rank)
    model = Model(objective, None if parameters is None else os.fspath(parameters))
    given = content(pattern, model.loaded_metric(metric), whole=objective is None)
    require_fitting(model, given, metric)
    require_whole("seed", seed, 0, 2**64 - 1)
    require_whole("threads", threads, 1, 2**31 - 1)
    options: dict[str, Any] = {
        "algorithm": algorithm,
        "seed": seed,
        "oversubscribe": oversubscribe,
        "preset": preset,
        "threads": threads,
        "time_limit": time_limit,
        "keep_going": keep_going,
        "pins": pins_of(tree, pins),
    }
    traffic = traffic_of(given, collectives)
    fit_hosts(traffic, tree, lambda text: warnings.warn(text, stacklevel=4), oversubscribe)
    return Plan(planned(tree, traffic, metric, model, **options)[0])


def require_fitting(model: Model, given: Any, metric: str) -> None:
    """An objective takes the place of the metric, and needs messages or bytes of pairs."""
    if model.objective is None:
        if model.parameters is not None:
            raise ValueError("parameters: expected an objective beside it, found none")
    elif not isinstance(given, _core.Pattern) or metric != "size":
        raise ValueError(f"objective: expected a recorded pattern and no metric, found '{model.objective}'")


def traffic_of(given: Any, collectives: str) -> "_core.Pattern | _core.Weights | np.ndarray":
    """What the core places: pairs, in the form that `given` has them."""
    if isinstance(given, _core.Pattern):
        return expand(given, natural_model(given) if collectives == "model" else collectives)
    return square(given) if is_array(given) else weights_of(given)


def content(pattern: Any, metric: str, whole: bool = True) -> Any:
    """What a path or an object of Ranktree stands for; anything else as it is."""
    if isinstance(pattern, (str, os.PathLike)):
        path = os.fspath(pattern)
        reader = read_whole if whole and metric != "avg" else read
        found, texts = reader(path, metric="msg" if metric == "msg" else None)
        for text in texts:
            warnings.warn(f"{path}: {text}", stacklevel=3)
        return found
    return getattr(pattern, "recorded", pattern)


def is_array(pattern: Any) -> bool:
    """Neither a sparse matrix nor a graph."""
    return not hasattr(pattern, "tocsr") and not (hasattr(pattern, "adjacency") and hasattr(pattern, "nodes"))


def square(pattern: Any) -> np.ndarray:
    """A whole matrix, row by row, as it is where it holds float32 or float64; its entries are looked at by the core."""
    single = isinstance(pattern, np.ndarray) and not np.ma.isMaskedArray(pattern) and pattern.dtype == np.float32
    matrix = np.ascontiguousarray(pattern) if single else numbers(pattern)
    require_square(matrix.shape)
    return matrix


def require_texts(values: Mapping[str, Any]) -> None:
    """Each a text."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise ValueError(f"{name}: expected text, found {value!r}")


def require_whole(name: str, value: Any, lowest: int, highest: int) -> None:
    """A whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not lowest <= value <= highest:
        raise ValueError(f"{name}: expected a whole number from {lowest} to {highest}, found {value!r}")


def tree_of(machine: Any, unit: str = "core", cost: str = "hops", network: Any = None) -> "_core.Tree":
    """The machine as a tree."""
    machine = getattr(machine, "tree", machine)
    if isinstance(machine, _core.Tree):
        if (unit, cost, network) != ("core", "hops", None):
            raise ValueError("unit, cost, network: expected none beside a machine that is a tree already")
        return machine
    machine = require_text_or_path("machine", machine, "text, a path or a tree")
    network = None if network is None else require_text_or_path("network", network, "text or a path")
    if unit not in ("core", "pu"):
        raise ValueError(f"unit: expected core or pu, found '{unit}'")
    tree = _core.load_machine(machine, network).with_metric(cost)
    return tree.cut_at("Core") if unit == "core" else tree


def require_text_or_path(name: str, value: Any, expected: str) -> str:
    """As text."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    raise ValueError(f"{name}: expected {expected}, found {type(value).__name__}")


def weights_of(pattern: Any) -> "_core.Weights":
    """What the core places, from anything that looks like a sparse matrix, a graph or an array."""
    if hasattr(pattern, "tocsr"):
        return from_sparse(pattern)
    if hasattr(pattern, "adjacency") and hasattr(pattern, "nodes"):
        return from_graph(pattern)
    return _core.Weights.from_matrix(square(pattern).astype(np.float64, copy=False))


def numbers(values: Any) -> np.ndarray:
    """As doubles; complex numbers, texts and objects are none. What a mask hides would count, so masks are refused."""
    if np.ma.isMaskedArray(values):
        raise ValueError("pattern: expected no masked array: fill it, for instance with pattern.filled(0)")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"pattern: expected a matrix of numbers, found {type(values).__name__}: {error}") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"pattern: expected real numbers, found {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float64)


def require_square(shape: tuple[int, ...]) -> None:
    """As many columns as rows, and not more than there can be ranks."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"pattern: expected a square matrix, found the shape {' x '.join(map(str, shape)) or '()'}")
    if shape[0] > MAX_RANKS:
        raise ValueError(f"pattern: expected at most {MAX_RANKS} ranks, found {shape[0]}")


def require_weights(weights: np.ndarray, entry: Callable[[int], tuple[int, int]]) -> None:
    """Finite and not negative; `entry` names the row and column of the first that is not."""
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        first = int(np.argmax(wrong))
        row, column = entry(first)
        found = weights.flat[first]
        raise ValueError(f"pattern[{row}, {column}]: expected a finite number, at least 0, found {found:g}")


def from_sparse(pattern: Any) -> "_core.Weights":
    """Any sparse matrix that knows its CSR form; the caller's own is not changed."""
    require_square(tuple(pattern.shape))
    if getattr(pattern, "format", "") in ("csr", "csc"):
        require_compressed(pattern)
    if np.dtype(pattern.dtype).kind in "iuf":
        pattern = pattern.astype(np.float64)  # before entries of one pair are added, which small integers cannot hold
    matrix = pattern.tocsr(copy=True)
    matrix.sum_duplicates()  # sorts, too
    weights = numbers(matrix.data)
    rows = matrix.indptr
    require_weights(weights, lambda i: (int(np.searchsorted(rows, i, side="right")) - 1, int(matrix.indices[i])))
    return _core.Weights.from_csr(rows.astype(np.int64), matrix.indices.astype(np.int32), weights)


def require_compressed(matrix: Any) -> None:
    """Offsets and indices that are some: scipy looks at neither before it follows them."""
    rows, indices, entries = matrix.indptr, matrix.indices, len(matrix.data)
    counts = len(rows) == matrix.shape[0] + 1 and rows[0] == 0 and rows[-1] <= min(len(indices), entries)
    if not counts or (np.diff(rows) < 0).any():
        raise ValueError(f"pattern: expected offsets that ascend from 0 to at most {entries} entries, found others")
    used = indices[: rows[-1]]
    if len(used) and not 0 <= used.min() <= used.max() < matrix.shape[1]:
        raise ValueError(f"pattern: expected indices in 0..{matrix.shape[1] - 1}, found {used.min()}..{used.max()}")


def from_graph(graph: Any) -> "_core.Weights":
    """A graph of networkx; an undirected edge counts once, parallel edges are added."""
    ranks = graph.number_of_nodes()
    for node in graph.nodes:
        if isinstance(node, bool) or not isinstance(node, (int, np.integer)) or not 0 <= node < ranks:
            raise ValueError(f"pattern: expected the nodes 0 .. {ranks - 1}, found {node!r}")
    count = graph.number_of_edges()
    edges = np.fromiter(
        ((a, b) for a, b, _ in graph.edges(data="weight", default=1)), dtype=np.dtype((np.int64, 2)), count=count
    )
    weights = numbers([weight for _, _, weight in graph.edges(data="weight", default=1)])
    require_weights(weights, lambda i: (int(edges[i, 0]), int(edges[i, 1])))
    return from_pairs(ranks, edges.reshape(-1, 2), weights.reshape(-1))


def from_pairs(ranks: int, pairs: np.ndarray, weights: np.ndarray) -> "_core.Weights":
    """The CSR form of (from, to) pairs, equal ones added."""
    keys, position = np.unique(pairs[:, 0] * ranks + pairs[:, 1], return_inverse=True)
    sums = np.asarray(np.bincount(position, weights=weights, minlength=len(keys)), dtype=np.float64)
    indptr = np.searchsorted(keys, np.arange(ranks + 1, dtype=np.int64) * ranks).astype(np.int64)
    return _core.Weights.from_csr(indptr, (keys % max(ranks, 1)).astype(np.int32), sums)
