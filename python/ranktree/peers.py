"""Other programs that place ranks, run where they are installed: METIS, KaHIP, Scotch.

Each runs in a process of its own, so that one that hangs, crashes, prints or exits harms no other:

    python -m ranktree.peers NAME problem.npz answer.npz
"""

import importlib.util
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ranktree import _core, peer_libraries
from ranktree.peer_libraries import SCOTCH_BALANCE, SCOTCH_QUALITY, Graph, Placed, Refusal, Subtrees

LARGEST_SUM = 2**30  # of all weights: the peers' whole numbers have 32 bits
LARGEST_COST = 1000  # of a level


@dataclass(frozen=True)
class Problem:
    """What is placed where, in whole numbers; the same for every peer."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    leaves: np.ndarray  # the leaf of each place, left to right
    first_child: np.ndarray  # by object of the tree, of which 0 is the root
    children: np.ndarray
    below: np.ndarray  # places below each object
    first: np.ndarray  # number of the first of them
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
        before[leaf],
        arities,
        costs,
        seed,
    )


def whole(values: np.ndarray, factor: float) -> np.ndarray:
    """Whole numbers stay as they are where they fit; others are scaled, none to less than 1."""
    exact = len(values) == 0 or bool(np.all(values == np.floor(values)) and np.all(values >= 1))
    scale = min(factor, 1.0) if exact else factor
    return np.maximum(np.rint(values * scale), 1).astype(np.int64)


def symmetric_levels(tree: _core.Tree, about: list[dict[str, Any]], below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def metis(problem: Problem) -> Placed:
    """METIS's recursive bisection, applied to one level of the tree after the other, from the root."""
    try:
        peer_libraries.metis_library()
        divide = peer_libraries.metis_divide
    except Refusal:
        if importlib.util.find_spec("pymetis") is None:
            raise
        divide = pymetis_divide
    tree = Subtrees(problem.first_child, problem.children, problem.below, problem.first)
    graph = (problem.indptr, problem.indices, problem.weights)
    slots, seconds = peer_libraries.along(tree, graph, partial(divide, seed=problem.seed % 2**31))
    return problem.leaves[slots], seconds


def pymetis_divide(graph: Graph, capacities: np.ndarray, seed: int) -> Placed:
    """As metis_divide() of the library."""
    import pymetis  # noqa: PLC0415  may not be there

    starts, columns, weights = (each.tolist() for each in graph)
    begin = time.process_time()
    _, part = pymetis.part_graph(
        capacities.size,
        xadj=starts,
        adjncy=columns,
        eweights=weights,
        tpwgts=(capacities / capacities.sum()).tolist(),
        recursive=True,
        options=pymetis.Options(seed=seed, ufactor=1),
    )
    return np.asarray(part), time.process_time() - begin


def require_alike(problem: Problem) -> None:
    """What KaHIP and Scotch can describe."""
    if problem.arities.size == 0:
        raise Refusal("needs equal subtrees, one rank a place")


def leaves_of(problem: Problem, part: np.ndarray) -> np.ndarray:
    """The leaf of each rank from the number of its slot."""
    peer_libraries.require_parts(part, problem.leaves.size)
    leaves: np.ndarray = problem.leaves[part]
    return leaves


def kahip(problem: Problem) -> Placed:
    """KaHIP's process mapping (eco, global multisection), from the library that its wheel carries."""
    peer_libraries.kahip_library()
    require_alike(problem)
    graph = (problem.indptr, problem.indices, bounded(problem))
    part, seconds = peer_libraries.kahip(graph, problem.arities, problem.costs, problem.seed % 2**31)
    return leaves_of(problem, part), seconds


def scotch(problem: Problem, flags: int = 0, imbalance: float = 0.01) -> Placed:
    """Scotch's mapping on a tree-leaf architecture: by its library, or else by its program."""
    try:
        peer_libraries.scotch_library()
    except Refusal:
        program = scotch_program()
        if program is None:
            raise
        require_alike(problem)
        return gmap(program, problem, flags, imbalance)
    require_alike(problem)
    graph = (problem.indptr, problem.indices, bounded(problem))
    about = (problem.arities, problem.costs, problem.seed % 2**31)
    part, seconds = peer_libraries.scotch(graph, *about, flags, imbalance)
    return leaves_of(problem, part), seconds


def gmap(program: str, problem: Problem, flags: int, imbalance: float) -> Placed:
    """Scotch's program: its own process, with files. Its seed is fixed."""
    letters = "".join(letter for letter, flag in (("q", SCOTCH_QUALITY), ("b", SCOTCH_BALANCE)) if flags & flag)
    options = [f"-b{imbalance:g}", *([f"-c{letters}"] if letters else [])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_scotch_graph(folder / "graph.grf", problem)
        levels = [f"{arity} {cost}" for arity, cost in zip(problem.arities, problem.costs, strict=True)]
        (folder / "machine.tgt").write_text(f"tleaf\n{len(levels)} {' '.join(levels)}\n", encoding="ascii")
        files = [folder / "graph.grf", folder / "machine.tgt", folder / "answer.map"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, *options, *files], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = np.loadtxt(files[2], dtype=np.int64, skiprows=1, ndmin=2)
    part = np.full(problem.ranks, -1, dtype=np.int64)
    part[answer[:, 0]] = answer[:, 1]
    return leaves_of(problem, part), after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


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


PEERS: dict[str, Callable[[Problem], Placed]] = {
    "METIS": metis,
    "KaHIP": kahip,
    "Scotch": scotch,
    "Scotch, quality": partial(scotch, flags=SCOTCH_QUALITY),
    "Scotch, balanced": partial(scotch, flags=SCOTCH_QUALITY | SCOTCH_BALANCE, imbalance=0),
}


@dataclass(frozen=True)
class Answer:
    """The leaf of each rank and what it took, or why there is none."""

    leaf_of: np.ndarray | None
    seconds: float
    note: str = ""


def run_peer(name: str, problem: Problem, limit: float, keep_going: Callable[[], bool] = lambda: True) -> Answer:
    """Runs one in its own process, for so many seconds at most, and as long as is wanted."""
    with tempfile.TemporaryDirectory() as folder:
        # What the peer leaves behind when it is stopped goes with our folder. A peer may be a module that the user
        # names in PYTHONPATH, which this command itself does not look at.
        path = os.pathsep.join(path for path in (*sys.path, os.environ.get("PYTHONPATH", "")) if path)
        environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": folder, "SCOTCH_PTHREAD_NUMBER": "1"}
        given, answer = Path(folder) / "problem.npz", Path(folder) / "answer.npz"
        arrays: dict[str, Any] = {key: np.asarray(value) for key, value in vars(problem).items()}
        np.savez(given, **arrays)
        arguments = [sys.executable, "-P", "-m", "ranktree.peers", name, str(given), str(answer)]
        code, errors = run_group(arguments, environment, limit, keep_going)
        if code is None:
            return Answer(None, 0, f"stopped after {limit:g} s" if keep_going() else "stopped")
        if code != 0:
            return Answer(None, 0, f"failed: {errors[-1] if errors and code > 0 else ended(code)}")
        return read_answer(answer, problem)


def ended(code: int) -> str:
    """Exit code or signal of a process."""
    if code >= 0:
        return f"exit code {code}"
    known = {int(each): each.name for each in signal.Signals}
    return f"ended by {known.get(-code, f'signal {-code}')}"


def read_answer(path: Path, problem: Problem) -> Answer:
    """What the other process wrote, which a library may have spoilt."""
    try:
        with np.load(path, allow_pickle=False) as found:
            leaf_of, seconds, note = found["leaf_of"], float(found["seconds"]), str(found["note"])
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        return Answer(None, 0, f"failed: no answer: {error}")
    if note:
        return Answer(None, 0, note)
    if leaf_of.shape != (problem.ranks,) or not np.isin(leaf_of, problem.leaves).all():
        return Answer(None, 0, "failed: its answer is no placement")
    return Answer(leaf_of.astype(np.int32), seconds)


def run_group(
    arguments: list[str], environment: dict[str, str], limit: float, keep_going: Callable[[], bool]
) -> tuple[int | None, list[str]]:
    """Exit code and lines of stderr; no code when it was stopped, with all the processes it had started."""
    process = subprocess.Popen(
        arguments, env=environment, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
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
    try:
        leaf_of, seconds = PEERS[name](problem)
        np.savez(answer, leaf_of=leaf_of, seconds=seconds, note="")
    except Refusal as refusal:
        np.savez(answer, leaf_of=[], seconds=0, note=str(refusal))


if __name__ == "__main__":
    main(*sys.argv[1:])
