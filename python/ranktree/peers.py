"""Other programs that place ranks, run where they are installed: METIS (pymetis), KaHIP, Scotch.

Each runs in a process of its own, so that one that hangs, prints or ends its process harms nobody:

    python -m ranktree.peers NAME problem.npz answer.npz
"""

import ctypes
import importlib.util
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranktree import _core

LARGEST_SUM = 2**30  # of all weights: the peers' whole numbers have 32 bits
LARGEST_COST = 1000  # of a level
KAHIP_ECO = 1
KAHIP_MULTISECTION = 0


@dataclass(frozen=True)
class Problem:
    """What is placed where, in whole numbers; the same for every peer."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    seats: np.ndarray  # the leaf of each place, left to right
    first_child: np.ndarray  # by object of the tree, of which 0 is the root
    children: np.ndarray
    below: np.ndarray  # places below each object
    leaf: np.ndarray  # first leaf below each object
    arities: np.ndarray  # root first, without levels of one child; empty when subtrees are unequal
    costs: np.ndarray  # of these levels
    seed: int

    @property
    def ranks(self) -> int:
        """How many are placed."""
        return len(self.indptr) - 1


def make_problem(tree: _core.Tree, pattern: _core.Pattern, metric: str, capacity: int, seed: int) -> Problem:
    """The graph scaled to whole numbers, and the tree as arrays."""
    indptr, indices, weights = _core.graph(pattern, metric)
    about = [tree.describe(number) for number in range(tree.object_count)]
    allowed = np.array([tree.allowed(leaf) for leaf in range(tree.leaf_count)], dtype=np.int64)
    before = np.concatenate([[0], np.cumsum(allowed)]) * capacity
    leaf = np.array([each["first_leaf"] for each in about])
    below = before[leaf + np.array([each["leaves"] for each in about])] - before[leaf]
    arities, costs = symmetric_levels(tree, about, below)
    return Problem(
        indptr,
        indices,
        whole(weights, LARGEST_SUM / max(weights.sum(), 1)),
        np.repeat(np.flatnonzero(allowed), capacity),
        np.array([each["first_child"] for each in about]),
        np.array([each["children"] for each in about]),
        below,
        leaf,
        arities,
        costs,
        seed,
    )


def whole(values: np.ndarray, factor: float) -> np.ndarray:
    """Whole numbers stay as they are where they fit; others are scaled, none to less than 1."""
    exact = len(values) == 0 or bool(np.all(values == np.floor(values)) and np.all(values >= 1))
    scale = min(factor, 1.0) if exact else factor
    return np.maximum(np.rint(values * scale), 1).astype(np.int64)


def symmetric_levels(tree: _core.Tree, about: list[dict], below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Arities and whole costs of the levels that branch; empty when the places are not alike everywhere."""
    arities, costs = [], []
    objects = [0]
    while about[objects[0]]["children"] > 0:
        shapes = {(about[each]["children"], about[each]["level"], int(below[each])) for each in objects}
        if len(shapes) > 1:
            return np.array([]), np.array([])
        children, level, _ = shapes.pop()
        if children > 1:
            arities.append(children)
            costs.append(tree.costs[level])
        objects = [about[each]["first_child"] + i for each in objects for i in range(children)]
    if len({int(below[each]) for each in objects}) > 1 or below[objects[0]] != 1:
        return np.array([]), np.array([])
    largest = max(costs, default=0)
    return np.array(arities), whole(np.array(costs), LARGEST_COST / largest if largest else 1)


def bounded(problem: Problem) -> np.ndarray:
    """Smaller weights where these times the costs would not fit: Scotch and KaHIP add that up in 32 bits."""
    return whole(problem.weights, LARGEST_SUM / max(problem.weights.sum() * problem.costs.max(initial=1), 1))


def subgraph(problem: Problem, ranks: np.ndarray) -> tuple[list[int], list[int], list[int]]:
    """The graph of some ranks alone."""
    number = np.full(problem.ranks, -1, dtype=np.int64)
    number[ranks] = np.arange(len(ranks))
    begin, end = problem.indptr[ranks], problem.indptr[ranks + 1]
    degree = end - begin
    arcs = np.repeat(begin - np.concatenate([[0], np.cumsum(degree)[:-1]]), degree) + np.arange(degree.sum())
    owner = np.repeat(np.arange(len(ranks)), degree)
    partner = number[problem.indices[arcs]]
    inside = partner >= 0
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner[inside], minlength=len(ranks)))])
    return indptr.tolist(), partner[inside].tolist(), problem.weights[arcs[inside]].tolist()


def metis(problem: Problem) -> np.ndarray:
    """METIS's recursive bisection, applied to one level of the tree after the other, from the root."""
    import pymetis  # noqa: PLC0415  may not be there

    leaf_of = np.zeros(problem.ranks, dtype=np.int64)
    work = [(0, np.arange(problem.ranks))]
    while work:
        item, ranks = work.pop()
        first = problem.first_child[item]
        parts = [child for child in range(first, first + problem.children[item]) if problem.below[child] > 0]
        if not parts:
            leaf_of[ranks] = problem.leaf[item]
        elif len(parts) == 1 or len(ranks) <= 1:
            work.append((parts[0], ranks))
        else:
            shares = problem.below[parts] / problem.below[parts].sum()
            indptr, indices, weights = subgraph(problem, ranks)
            options = pymetis.Options(seed=problem.seed % 2**31, ufactor=1)
            _, part = pymetis.part_graph(
                len(parts),
                xadj=indptr,
                adjncy=indices,
                eweights=weights,
                tpwgts=shares.tolist(),
                recursive=True,
                options=options,
            )
            work += [(child, ranks[np.asarray(part) == i]) for i, child in enumerate(parts)]
    return leaf_of


def kahip(problem: Problem) -> np.ndarray:
    """KaHIP's process mapping (eco, global multisection), from the library that its wheel carries."""
    library = kahip_library()
    if library is None:
        raise OSError("libkahip.so is not beside the wheel")
    integers = [
        np.ascontiguousarray(each, dtype=np.int32) for each in (problem.indptr, bounded(problem), problem.indices)
    ]
    arities, costs = (np.ascontiguousarray(each[::-1], dtype=np.int32) for each in (problem.arities, problem.costs))
    part = np.zeros(problem.ranks, dtype=np.int32)
    ones = np.ones(problem.ranks, dtype=np.int32)

    def at(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    ranks, cut, qap, imbalance = ctypes.c_int(problem.ranks), ctypes.c_int(), ctypes.c_int(), ctypes.c_double(0)
    ctypes.CDLL(str(library)).process_mapping(
        ctypes.byref(ranks),
        at(ones),
        *(at(each) for each in integers),
        at(arities),
        at(costs),
        ctypes.c_int(len(arities)),
        ctypes.c_int(KAHIP_ECO),
        ctypes.c_int(KAHIP_MULTISECTION),
        ctypes.byref(imbalance),
        ctypes.c_bool(True),
        ctypes.c_int(problem.seed % 2**31),
        ctypes.byref(cut),
        ctypes.byref(qap),
        at(part),
    )
    return problem.seats[part]


def kahip_library() -> Path | None:
    """The C library beside the Python package."""
    spec = importlib.util.find_spec("kahip")
    if spec is None or spec.origin is None:
        return None
    found = (base / "lib/libkahip.so" for base in Path(spec.origin).parents)
    beside = (base / "libkahip.so" for base in Path(spec.origin).parents if base.name == "lib")
    return next((path for path in (*found, *beside) if path.exists()), None)


def scotch(problem: Problem) -> np.ndarray:
    """Scotch's gmap with its default strategy, told to balance, on a tree-leaf architecture."""
    program = scotch_program()
    if program is None:
        raise OSError("gmap is not on PATH")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_scotch_graph(folder / "graph.grf", problem)
        levels = [f"{arity} {cost}" for arity, cost in zip(problem.arities, problem.costs, strict=True)]
        (folder / "machine.tgt").write_text(f"tleaf\n{len(levels)} {' '.join(levels)}\n", encoding="ascii")
        files = [folder / "graph.grf", folder / "machine.tgt", folder / "answer.map"]
        subprocess.run([program, "-b0", "-cqb", *files], check=True, stdout=subprocess.DEVNULL)
        answer = np.loadtxt(files[2], dtype=np.int64, skiprows=1, ndmin=2)
    part = np.zeros(problem.ranks, dtype=np.int64)
    part[answer[:, 0]] = answer[:, 1]
    return problem.seats[part]


def scotch_program() -> str | None:
    """Debian calls it scotch_gmap; another program has the name gmap, too."""
    program = shutil.which("scotch_gmap")
    if program or not (program := shutil.which("gmap")):
        return program
    result = subprocess.run([program, "-V"], capture_output=True, text=True, check=False, timeout=10)
    return program if "scotch" in (result.stdout + result.stderr).lower() else None


def write_scotch_graph(path: Path, problem: Problem) -> None:
    """Version 0, base 0, weights on edges."""
    rows = zip(problem.indptr[:-1], problem.indptr[1:], strict=True)
    weights = bounded(problem)
    with path.open("w", encoding="ascii") as file:
        file.write(f"0\n{problem.ranks} {len(problem.indices)}\n0 010\n")
        for begin, end in rows:
            pairs = np.column_stack([weights[begin:end], problem.indices[begin:end]])
            file.write(" ".join(map(str, [end - begin, *pairs.ravel().tolist()])) + "\n")


@dataclass(frozen=True)
class Peer:
    """One of them: how it runs, whether it is here, and whether it needs subtrees that are all alike."""

    run: Callable[[Problem], np.ndarray]
    installed: Callable[[], bool]
    symmetric: bool


PEERS = {
    "METIS (pymetis)": Peer(metis, lambda: importlib.util.find_spec("pymetis") is not None, symmetric=False),
    "KaHIP": Peer(kahip, lambda: kahip_library() is not None, symmetric=True),
    "Scotch (gmap)": Peer(scotch, lambda: scotch_program() is not None, symmetric=True),
}


@dataclass(frozen=True)
class Answer:
    """The leaf of each rank and what it took, or why there is none."""

    leaf_of: np.ndarray | None
    seconds: float
    note: str = ""


def run_peer(name: str, problem: Problem, limit: float, keep_going: Callable[[], bool] = lambda: True) -> Answer:
    """Runs one in its own process, for so many seconds at most, and as long as is wanted."""
    peer = PEERS[name]
    if not peer.installed():
        return Answer(None, 0, "not installed")
    if peer.symmetric and len(problem.arities) == 0:
        return Answer(None, 0, "needs equal subtrees, one rank a place")
    with tempfile.TemporaryDirectory() as folder:
        # What the peer leaves behind when it is stopped goes with our folder.
        path = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": folder}
        given, answer = Path(folder) / "problem.npz", Path(folder) / "answer.npz"
        np.savez(given, **{key: np.asarray(value) for key, value in vars(problem).items()})
        arguments = [sys.executable, "-m", "ranktree.peers", name, str(given), str(answer)]
        code, errors = run_group(arguments, environment, limit, keep_going)
        if code is None:
            return Answer(None, 0, f"stopped after {limit:g} s" if keep_going() else "stopped")
        if code != 0 or not answer.exists():
            return Answer(None, 0, f"failed: {errors[-1] if errors else f'exit code {code}'}")
        with np.load(answer) as found:
            return Answer(found["leaf_of"].astype(np.int32), float(found["seconds"]))


def run_group(
    arguments: list[str], environment: dict[str, str], limit: float, keep_going: Callable[[], bool]
) -> tuple[int | None, list[str]]:
    """Exit code and lines of stderr; no code when it was stopped, with all the processes it had started."""
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen(arguments, env=environment, start_new_session=True, **pipes)
    end = time.monotonic() + limit
    try:
        while time.monotonic() < end and keep_going():
            try:
                _, errors = process.communicate(timeout=min(max(end - time.monotonic(), 0), 0.1))
                return process.returncode, errors.decode(errors="replace").strip().splitlines()
            except subprocess.TimeoutExpired:
                continue
        return None, []
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def main(name: str, given: str, answer: str) -> None:
    """The other process: solves what is in one file and writes another, with the CPU seconds that took."""
    with np.load(given) as arrays:
        fields = {key: arrays[key] for key in arrays.files}
    problem = Problem(**{**fields, "seed": int(fields["seed"])})
    begin = time.process_time()
    leaf_of = PEERS[name].run(problem)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() - begin + children.ru_utime + children.ru_stime
    np.savez(answer, leaf_of=leaf_of, seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
