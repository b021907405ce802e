"""The cases of placed.py: traces of kernels, placements of ours and of others, simulations and times."""

import json
import math
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from hierarchies import Hierarchies
from placed import (
    ALL_PAIRS,
    ARITY,
    BY_NODE,
    BY_PROGRAM,
    CALL,
    EXAMPLE,
    NARROW,
    ONE_SWITCH,
    PLACED_TARGETS,
    POINT_TO_POINT,
    ZEUS,
    Key,
    PlacedTarget,
    Result,
    load,
    missing,
    save,
)
from ranktree import _core
from ranktree.peers import make_problem, run_peer
from rows import change

ROOT = Path(__file__).resolve().parents[2]
CORES = 8  # of a node
TIME_LIMIT = 1200  # seconds for one start of the simulator
PEER_LIMIT = 300.0
UPLINK_LATENCY = 2e-7  # seconds from one switch to the other: two more steps of InfiniBand; assumed
NODE = [0, 4, 1, 5, 2, 6, 3, 7]  # §5.1 "physical identity": PU i of this node is core NODE[i], packages in turn
# FT's classes have the same pairs and proportions with up to so many ranks, which exchange slabs: the least is traced.
TRACED = {"ft.A": 128, "ft.C": 512}
ITERATIONS = {"cg": 1, "ft": 1, "lu": 1, "zeus": 2, "rings": 50, "wiedemann": 10}
# As the pattern takes them; SMPI chooses others for some sizes. By a ring: Open MPI's pairwise exchange.
ALGORITHMS = ("allreduce:rdb", "allgather:rdb", "reduce_scatter:ompi_ring", "alltoall:ring")
SCOTCH = {"Scotch": (4, 3, 2), "Scotch, large weights": (500, 100, 50)}  # §5.1, outermost first
SWITCHED = {"Scotch": (5, 4, 3, 2), "Scotch, large weights": (500, 500, 100, 50)}  # with two switches
# Figure 5(a) as printed.
FIGURE_5 = [
    [0, 1000, 10, 1, 100, 1, 1, 1],
    [1000, 0, 1000, 1, 1, 100, 1, 1],
    [10, 1000, 0, 1000, 1, 1, 100, 1],
    [1, 1, 1000, 0, 1, 1, 1, 100],
    [100, 1, 1, 1, 0, 1000, 10, 1],
    [1, 100, 1, 1, 1000, 0, 1000, 1],
    [1, 1, 100, 1, 10, 1000, 0, 1000],
    [1, 1, 1, 100, 1, 1, 1000, 0],
]
PACKED_5 = [0, 2, 4, 6, 8, 10, 1, 3]  # §4.1, with 10, which the text leaves out


def machine_document(name: str, nodes: int) -> dict:
    """The first nodes of machines/plafrim.json, on one switch or half of them on each of two."""
    document = json.loads((ROOT / "machines/plafrim.json").read_text(encoding="utf-8"))
    if name == ONE_SWITCH:
        document["network"] = {"hosts": [{"names": f"plafrim[01-{nodes:02}]", "shape": "nehalem"}]}
        return document
    half = nodes // 2
    parts = (f"plafrim[01-{half:02}]", f"plafrim[{half + 1:02}-{nodes:02}]")
    document["network"] = {
        "switches": [
            {"name": f"switch{i}", "hosts": [{"names": names, "shape": "nehalem"}]} for i, names in enumerate(parts)
        ],
        "uplinks": {"oversubscription": 4 if name == NARROW else 1},
    }
    between = document["costs"]["Cluster"]
    document["costs"]["Switch"] = dict(between)
    document["costs"]["Cluster"] = between | {"latency_s": between["latency_s"] + UPLINK_LATENCY}
    return document


def matrix_pattern(matrix: np.ndarray) -> _core.Pattern:
    """All pairs but those of a rank with itself."""
    sources, destinations = np.nonzero(matrix)
    values = matrix[sources, destinations].astype(np.float64)
    return _core.Pattern.from_pairs(len(matrix), sources, destinations, np.ones(len(values)), values)


def all_pairs(ranks: int) -> np.ndarray:
    """Random points of a square exchange the more, the nearer they are."""
    points = np.random.default_rng(ranks).random((ranks, 2))
    distance = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2))
    matrix = np.floor(1 + 1000 * np.exp(-8 * distance))
    np.fill_diagonal(matrix, 0)
    return matrix


def peer_placement(name: str, tree: _core.Tree, pattern: _core.Pattern) -> tuple[np.ndarray | None, float, str]:
    """Leaves, CPU seconds, and why there are no leaves."""
    weighted = tree
    if name in SCOTCH:
        costs = iter((SWITCHED if "Switch0" in tree.levels else SCOTCH)[name])
        branching = {"Cluster", "Switch0", "Node", "L3Cache"}
        weighted = tree.with_costs([next(costs, 1.0) if level in branching else 1.0 for level in tree.levels[:-1]])
    peer = name.partition(",")[0]
    answer = run_peer(peer, make_problem(weighted, pattern, "size", 1, 1), PEER_LIMIT)
    if answer.leaf_of is None:
        return None, answer.seconds, answer.note
    crowded = int(np.maximum(np.bincount(answer.leaf_of) - 1, 0).sum())
    return (
        (None, answer.seconds, f"unbalanced: {crowded} too many") if crowded else (answer.leaf_of, answer.seconds, "")
    )


def by_node(pattern: _core.Pattern, metric: str) -> np.ndarray:
    """Each node places the ranks that it has; they came round robin, a node's ranks after the other's."""
    node = _core.load_machine("node:1 package:2 core:4")
    leaves = np.empty(pattern.ranks, np.int32)
    rows = np.repeat(np.arange(pattern.ranks), np.diff(pattern.indptr))
    for first in range(0, pattern.ranks, CORES):
        inside = (rows // CORES == first // CORES) & (pattern.indices // CORES == first // CORES)
        part = _core.Pattern.from_pairs(
            CORES,
            rows[inside] - first,
            pattern.indices[inside].astype(np.int64) - first,
            pattern.messages[inside].copy(),
            pattern.bytes[inside].copy(),
        )
        leaves[first : first + CORES] = first + _core.compute_placement(node, part, "treematch", metric)
    return leaves


def in_order(name: str, count: int) -> np.ndarray:
    """Leaves that depend on no pattern."""
    ranks = np.arange(count, dtype=np.int32)
    nodes = count // CORES
    orders = {
        "packed": ranks,
        "round robin": ranks // CORES * CORES + np.array(NODE, np.int32)[ranks % CORES],
        "over nodes": ranks % nodes * CORES + ranks // nodes,
    }
    return orders[name]


def placement_of(name: str, tree: _core.Tree, pattern: _core.Pattern) -> tuple[np.ndarray | None, str]:
    """The leaf of each rank, or why there is none."""
    kind, _, metric = name.partition(" ")
    algorithm = {"TreeMatch": "treematch", "engine": "engine", "random": "random"}.get(kind)
    if name in ("packed", "round robin", "over nodes"):
        return in_order(name, pattern.ranks), ""
    if name in BY_NODE:
        return by_node(pattern, name.rpartition(" ")[2]), ""
    if name == "engine, time":
        return _core.plan_by_objective(tree, pattern, ("time", None))[0].permutation, ""
    if algorithm:
        return _core.compute_placement(tree, pattern, algorithm, metric or "size"), ""
    leaves, _, why = peer_placement(name, tree, pattern)
    return leaves, why


class Runner:
    """Programs and traces in one folder; each is made when a case needs it."""

    def __init__(self, build: Path, folder: Path) -> None:
        """Nothing is compiled yet."""
        self.build, self.folder = build.resolve(), folder
        self.command = self.build / "bin/ranktree"
        self.patterns: dict[tuple[str, int, str], _core.Pattern] = {}
        self.hierarchies = Hierarchies(self.build, folder, self.words, simgrid_version)
        self.known: dict[tuple[str, str, int, bytes], float] = {}  # seconds; placements may be equal

    def run(self, key: Key) -> Result:
        """One row."""
        kernel = key[1]
        if any(key in target.keys for target in PLACED_TARGETS if target.paper in BY_PROGRAM):
            return self.hierarchies.run(key)
        if kernel == ARITY:
            return self.division(key[2])
        if kernel == EXAMPLE:
            return worked_example(key[3])
        if kernel == CALL:
            return self.call(*key)
        if kernel == ALL_PAIRS:
            return mapping_time(key[2], key[3], switches_of_16_nodes(self.folder))
        return self.simulated(key)

    def words(self, *words: object) -> str:
        """What a command prints."""
        done = subprocess.run(
            list(map(str, words)), stdout=subprocess.PIPE, text=True, check=True, timeout=TIME_LIMIT, cwd=self.folder
        )
        return done.stdout

    def kernels(self) -> Path:
        """Compiled once."""
        program = self.folder / "kernels"
        if not program.exists():
            source = ROOT / "bench/kernels/kernels.c"
            self.words(self.command, "simulate", "--compile", "--", "cc", "-O2", source, "-o", program)
        return program

    def arguments(self, kernel: str) -> tuple[object, ...]:
        """Of the program."""
        name, _, size = kernel.partition(".")
        return (self.kernels(), name, size, ITERATIONS[name])

    def traced(self, kernel: str, ranks: int) -> Path:
        """Where pattern() leaves the trace."""
        return self.folder / f"{kernel}-{ranks}.npz"

    def machine(self, name: str, ranks: int) -> Path:
        """Its file, written again for each case."""
        path = self.folder / "machine.json"
        path.write_text(json.dumps(machine_document(name, ranks // CORES)), encoding="utf-8")
        return path

    def pattern(self, kernel: str, ranks: int) -> _core.Pattern:
        """Traced once, collective calls as Open MPI's pairs; self.patterns has it without them, too."""
        known = (kernel, ranks, "openmpi")
        if known not in self.patterns:
            file = self.traced(kernel, ranks)
            self.words(
                self.command,
                "trace",
                "-q",
                "--simulate",
                "--np",
                ranks,
                "-o",
                file,
                "--",
                *self.arguments(traced_in_place_of(kernel, ranks)),
            )
            pattern, _ = _core.load_pattern(str(file))
            for model in ("openmpi", "none"):
                self.patterns[kernel, ranks, model] = _core.expand_pattern(pattern, model)
        return self.patterns[known]

    def call(self, machine_name: str, _: str, ranks: int, mode: str) -> Result:
        """The least time of three runs, messages simulated and computing measured."""
        program = self.folder / "reorder"
        if not program.exists():
            source, library = ROOT / "bench/papers/reorder.c", self.build / "lib"
            options = ["-O2", f"-I{ROOT / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}"]
            self.words(
                self.command,
                "simulate",
                "--compile",
                "--",
                "cc",
                source,
                "-o",
                program,
                *options,
                "-lranktree_mpi_smpi",
            )
        self.pattern(ZEUS, ranks)
        machine = self.machine(machine_name, ranks)
        words = [self.command, "simulate", "--quiet", "--measure", "--machine", machine, "--np", ranks]
        words += ["--order", "round-robin", *algorithms(), "--", program, self.traced(ZEUS, ranks), mode]
        found = []
        for _ in range(3):
            line = re.search(r"^reordered,(\w+),([^,]+),([^,]+),([^,\n]+)$", self.words(*words), re.MULTILINE)
            if line is None or line[1] != mode:
                raise RuntimeError(f"reordering by {mode}: found {line and line[0]!r}")
            found.append((float(line[2]), float(line[3]), float(line[4])))
        seconds, before, after = min(found)
        return Result(after, seconds=seconds, answer=f"{before:.7g}", version=f"{simgrid_version()}, {processor()}")

    def division(self, arity: int) -> Result:
        """Of core/place."""
        program = self.folder / "arity"
        if not program.exists():
            core = self.build / "lib/libranktree_core.a"
            source = ROOT / "bench/papers/arity.cpp"
            self.words("c++", "-std=c++20", f"-I{ROOT / 'src'}", source, core, "-o", program)
        _, threshold, divisor = self.words(program, arity).strip().split(",")
        return Result(answer=f"{threshold} {divisor}")

    def simulated(self, key: Key) -> Result:
        """The placement by the pattern, and the program's time under it."""
        machine_name, kernel, ranks, name = key
        machine = self.machine(machine_name, ranks)
        tree = _core.load_machine(str(machine))
        pattern = self.pattern(kernel, ranks)
        placed_by = self.patterns[kernel, ranks, "none"] if name.endswith(POINT_TO_POINT) else pattern
        algorithm = name.removesuffix(POINT_TO_POINT)
        leaves, why = placement_of(algorithm, flat_where(machine_name, ranks, tree, self.folder), placed_by)
        if leaves is None:
            return Result(answer=why)
        leaves = leaves.astype(np.int32)
        weights, total = _core.evaluate(tree, pattern, leaves)
        outside = sum(
            weight for level, weight in zip(tree.levels, weights, strict=False) if level in ("Cluster", "Switch0")
        )
        same = (machine_name, kernel, ranks, leaves.tobytes())
        if same not in self.known:
            plan = self.folder / "plan.json"
            _core.make_plan(tree, pattern, "identity", pins=list(enumerate(map(int, leaves)))).save(str(plan))
            self.known[same] = self.iteration(kernel, machine, plan)
        return Result(total, outside, self.known[same], "", simgrid_version())

    def iteration(self, kernel: str, machine: Path, plan: Path) -> float:
        """Simulated seconds."""
        options = ["--quiet", "--share-globals", "--share-buffers", *algorithms()]
        words = (self.command, "simulate", *options, "--machine", machine, "--plan", plan, "--")
        printed = self.words(*words, *self.arguments(kernel))
        found = re.search(r"^seconds,([^\n]+)$", printed, re.MULTILINE)
        if found is None:
            raise RuntimeError(f"{kernel}: expected seconds, found {printed!r}")
        return float(found[1]) / ITERATIONS[kernel.partition(".")[0]]


def traced_in_place_of(kernel: str, ranks: int) -> str:
    """The kernel itself, but of FT a class with fewer bytes."""
    return next((name for name, most in TRACED.items() if ranks <= most), kernel) if kernel[:2] == "ft" else kernel


def algorithms() -> list[str]:
    """Options of `simulate`."""
    return [word for each in ALGORITHMS for word in ("--algorithm", each)]


def flat_where(name: str, ranks: int, tree: _core.Tree, folder: Path) -> _core.Tree:
    """Figure 7: placements for scattered nodes are those for nodes of one switch."""
    if name == ONE_SWITCH or ranks > 128:
        return tree
    path = folder / "flat.json"
    path.write_text(json.dumps(machine_document(ONE_SWITCH, ranks // CORES)), encoding="utf-8")
    return _core.load_machine(str(path))


def simgrid_version() -> str:
    """Of smpirun."""
    found = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=False, timeout=60)
    version = re.search(r"\d+\.\d+(\.\d+)?", found.stdout + found.stderr)
    if version is None:
        raise RuntimeError("smpirun: its version is not known")
    return version[0]


def worked_example(name: str) -> Result:
    """Figure 5: cost, and the PU of each process as the figure numbers them."""
    tree = _core.load_machine("node:1 package:2 l3:3 core:2")
    pattern = matrix_pattern(np.array(FIGURE_5))
    numbers = np.array([2 * (leaf % 6) + leaf // 6 for leaf in range(12)])
    leaf_of_number = np.argsort(numbers)
    if name == "packed":
        leaves = leaf_of_number[PACKED_5]
    elif name == "round robin":
        leaves = leaf_of_number[:8]
    else:
        leaves, _ = placement_of(name, tree, pattern)
    _, total = _core.evaluate(tree, pattern, leaves.astype(np.int32))
    return Result(hop_bytes=total, answer=" ".join(map(str, numbers[leaves])))


def switches_of_16_nodes(folder: Path) -> _core.Tree:
    """§5.2.1: 128 of them, nodes of two quad-core packages."""
    hosts = [{"names": "n[0-2047]", "shape": "node"}]
    document = {
        "format": "ranktree-machine",
        "version": 1,
        "shapes": {"node": "package:2 core:4"},
        "network": {"kind": "fat-tree", "arities": [128, 16], "hosts": hosts},
    }
    path = folder / "switches.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return _core.load_machine(str(path))


def mapping_time(ranks: int, name: str, tree: _core.Tree) -> Result:
    """The least CPU seconds of three runs, the matrix being there."""
    pattern = matrix_pattern(all_pairs(ranks))
    best, leaves, why = math.inf, None, ""
    for _ in range(3):
        if name in ("TreeMatch", "engine"):
            begin = time.process_time()
            leaves, why = placement_of(name, tree, pattern)
            seconds = time.process_time() - begin
        else:
            leaves, seconds, why = peer_placement(name, tree, pattern)
        best = min(best, seconds)
    if leaves is None:
        return Result(answer=why)
    _, total = _core.evaluate(tree, pattern, leaves.astype(np.int32))
    return Result(hop_bytes=total, seconds=best, version=processor())


def processor() -> str:
    """Its model."""
    found = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return found[1].strip() if found else os.uname().machine


def reproduce(
    targets: list[PlacedTarget], build: Path, folder: Path, path: Path, show: Callable[[int, int, str], None]
) -> None:
    """Runs what is missing; each row is saved at once."""
    rows = load(path)
    runner = Runner(build, folder)
    wanted = list(dict.fromkeys(key for target in targets for key in missing(target, rows)))
    for done, key in enumerate(wanted):
        show(done, len(wanted), f"{key[1]}, {key[2]} ranks, {key[0]}: {key[3]}")
        change(path, load, save, add={key: runner.run(key)})
    show(len(wanted), len(wanted), "done")
