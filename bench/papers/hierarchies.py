"""hsplit-2018: collectives level by level, SUMMA, vector processing; and what our model predicts, on SMPI."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from placed import (
    BY_SOCKET,
    HIERARCHIES,
    LEVELS,
    OVER_NODES,
    PLACED_TARGETS,
    PREDICTED,
    PRODUCTS,
    SLOW,
    TRIED,
    UNEVEN,
    Key,
    Result,
)
from ranktree import _core
from ring_model import OVERHEAD
from targets import order_of

ROOT = Path(__file__).resolve().parents[2]
# SMPI's names. Its broadcasts by binary trees fail on communicators of few ranks; those of levels.cpp take their place.
ALGORITHMS = {
    "broadcast linear": "bcast:flattree",
    "broadcast pipeline": "bcast:ompi_pipeline",
    "broadcast binomial": "bcast:binomial_tree",
    "reduce linear": "reduce:ompi_basic_linear",
    "reduce chain": "reduce:ompi_chain",
    "reduce pipeline": "reduce:ompi_pipeline",
    "reduce binary": "reduce:ompi_binary",
    "reduce binomial": "reduce:ompi_binomial",
    "reduce in-order-binary": "reduce:ompi_in_order_binary",
}
METHODS = {"broadcast chain": "chains=4", "broadcast binary": "binary=32768", "broadcast split-binary": "variant"}
SPLIT_BINARY = "bcast=messages:split-binary:segment=32K:groups=1"  # in place of SMPI's, by Ranktree
FAST = ("--algorithm", "allreduce:rdb")  # SMPI takes minutes to prepare the one it chooses for hundreds of ranks
PACKAGES = {"ntw10e5": (2, 12), "smp20e7": (20, 8), "smp12e5": (12, 8)}  # of a node, and cores of each
# Seconds, and bytes a second, in place of usual ones; assumed. UNEVEN: between pairs of NUMA nodes, inside a pair,
# inside a NUMA node.
OTHER_COSTS = {
    UNEVEN: {"Node": (1e-6, 1e9), "Group": (5e-7, 3e9), "L3": (1e-7, 8e9)},
    SLOW: {"Cluster": (5e-6, 1e9), "Switch": (5e-6, 1e9), "Node": (5e-7, 5e9), "Package": (1e-7, 8e9)}
    | {"NUMANode": (1e-7, 8e9), "L3": (1e-7, 8e9)},
}
MOST_TRIED = 4  # variants, the cheapest by the model
UNITS = {"K": 1 << 10, "M": 1 << 20}
GRIDS = {240: "15x16", 160: "10x16", 96: "8x12"}
CONFIGURATIONS = {"H_conf1": "3,4,2,3,8", "H_conf2": "6,2,2,3,8", "H_conf3": "3,2,2,8,6", "H_conf4": "3,2,4,6,4"}
Words = Callable[..., str]


class Hierarchies:
    """Programs in one folder; a start of the simulator gives the rows of all sizes or forms."""

    def __init__(self, build: Path, folder: Path, words: Words, version: Callable[[], str]) -> None:
        """Nothing is compiled yet."""
        self.build, self.folder, self.words, self.version = build, folder, words, version
        self.known: dict[Key, Result] = {}
        self.plan: Path | None = None  # else ranks are in order
        self.over_nodes = False  # dealt to the nodes in turn

    def run(self, key: Key) -> Result:
        """One row."""
        if key not in self.known:
            machine, kernel, ranks, form = key
            name, _, amount = kernel.partition(".")
            self.plan = self.by_socket(machine, ranks) if name.endswith(BY_SOCKET) else None
            self.over_nodes = name.endswith(OVER_NODES)
            if name == LEVELS:
                self.known[key] = self.depth(machine, ranks)
            elif name.startswith("summa"):
                self.known |= self.products(machine, kernel, ranks, int(amount))
            elif name.startswith("vectors"):
                self.known |= self.vectors(machine, kernel, ranks)
            elif form in (PREDICTED, TRIED):
                found = self.predicted(machine, name, ranks, amount)
                self.known |= {(machine, kernel, ranks, each): found[each] for each in found}
            else:
                self.known |= self.collective(machine, name, ranks)
        return self.known[key]

    def compiled(self, compiler: str, source: str, *options: object, name: str = "") -> Path:
        """A program that calls Ranktree, with the name of its source unless another is given."""
        program = self.folder / (name or Path(source).stem)
        if not program.exists():
            library = self.build / "lib"
            words = [
                "-O2",
                f"-I{ROOT / 'include'}",
                ROOT / source,
                "-o",
                program,
                f"-L{library}",
                "-lranktree_mpi_smpi",
            ]
            words += [f"-Wl,-rpath,{library}", *options]
            self.words(self.build / "bin/ranktree", "simulate", "--compile", "--", compiler, *words)
        return program

    def simulated(self, machine: str, ranks: int, *more: object, variant: str = "native") -> str:
        """What a program prints, with Ranktree's calls by a variant."""
        words: list[object] = [
            "env",
            f"RANKTREE_COLL={variant}",
            self.build / "bin/ranktree",
            "simulate",
            "--quiet",
        ]
        words += ["--machine", self.machine_file(machine)]
        order = "round-robin" if self.over_nodes else order_of(machine, ranks)
        words += ["--plan", self.plan] if self.plan else ["--order", order, "--np", ranks]
        return self.words(*words, *more)

    def machine_file(self, machine: str) -> Path:
        """Of machines/, or one with links that differ by level."""
        name, links, _ = machine.partition(",")
        path = ROOT / f"machines/{name}.json"
        if not links:
            return path
        costs = {
            level: {"latency_s": latency, "bandwidth_bytes_per_s": bandwidth}
            for level, (latency, bandwidth) in OTHER_COSTS[machine.removeprefix(name)].items()
        }
        document = json.loads(path.read_text(encoding="utf-8")) | {"costs": costs}
        path = self.folder / "other-costs.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def by_socket(self, machine: str, ranks: int) -> Path:
        """A plan: a node's ranks are dealt to its packages in turn, which Open MPI 2.0 does by default."""
        tree = _core.load_machine(str(self.machine_file(machine)))
        packages, cores = PACKAGES[machine.removesuffix(UNEVEN)]
        width, threads = packages * cores, tree.leaf_count // ranks
        inside = [rank % packages * cores + rank // packages for rank in range(width)]
        pins = [(rank, (rank // width * width + inside[rank % width]) * threads) for rank in range(ranks)]
        pattern = _core.Pattern.from_pairs(ranks, *(np.zeros(0, kind) for kind in (int, int, float, float)))
        path = self.folder / f"{machine}-by-socket.json"
        _core.make_plan(tree, pattern, "identity", pins=pins).save(str(path))
        return path

    def levels(self, machine: str, ranks: int, options: list[str], *arguments: object, variant: str = "native") -> str:
        """levels.cpp."""
        if arguments[0] != "allreduce":
            options = [*options, *FAST]
        program = self.compiled("c++", "bench/papers/levels.cpp", "-std=c++20")
        return self.simulated(machine, ranks, *options, "--", program, *arguments, variant=variant)

    def depth(self, machine: str, ranks: int) -> Result:
        """The ranks of rank 0's communicators."""
        found = re.search(r"^parts,([\d,]+)$", self.levels(machine, ranks, [], "broadcast", "native", 1), re.MULTILINE)
        if found is None:
            raise RuntimeError(f"{machine}: expected a line of parts")
        return Result(answer=found[1].replace(",", " "), version=self.version())

    def collective(self, machine: str, name: str, ranks: int) -> dict[Key, Result]:
        """All sizes and forms of one algorithm."""
        algorithm = name.removesuffix(BY_SOCKET).removesuffix(OVER_NODES)
        options = [] if algorithm not in ALGORITHMS else ["--algorithm", ALGORITHMS[algorithm]]
        kernels = {key[1] for each in PLACED_TARGETS for key in each.keys if key[::2] == (machine, ranks)}
        amounts = {kernel.partition(".")[2] for kernel in kernels if kernel.partition(".")[0] == name}
        sizes = {int(each[:-1]) * UNITS[each[-1]]: each for each in amounts}
        arguments = (collective_of(name), METHODS.get(algorithm, "native"), *sorted(sizes))
        variant = SPLIT_BINARY if algorithm.endswith("split-binary") else "native"
        printed, version = self.levels(machine, ranks, options, *arguments, variant=variant), self.version()
        return {
            (machine, f"{name}.{sizes[int(size)]}", ranks, form): Result(seconds=float(seconds), version=version)
            for form, size, seconds in re.findall(r"^form,(\w+),(\d+),([^,\n]+)$", printed, re.MULTILINE)
        }

    def predicted(self, machine: str, name: str, ranks: int, amount: str) -> dict[str, Result]:
        """The variant that is cheapest by `ranktree predict`, and the fastest of the first few; rows name them."""
        size = int(amount[:-1]) * UNITS[amount[-1]]
        words = [
            "predict",
            "--json",
            collective_of(name),
            "--np",
            ranks,
            "--machine",
            ROOT / f"machines/{machine}.json",
        ]
        words += ["--no-shared", "--sizes", size]
        if order_of(machine, ranks) == "round-robin":
            words.append("--by-node")
        if parameters := parameters_of(json.loads((ROOT / f"machines/{machine}.json").read_text(encoding="utf-8"))):
            path = self.folder / f"{machine}-parameters.json"
            path.write_text(json.dumps(parameters), encoding="utf-8")
            words += ["--parameters", path]
        row = json.loads(self.words(self.build / "bin/ranktree", *words))["rows"][0]
        variants = [each for each in (*row["base"].values(), row["hierarchical"]) if each]
        cheapest = sorted(variants, key=lambda each: each["seconds"])[:MOST_TRIED]
        times = {each["choice"]: self.by_variant(each["choice"], machine, name, ranks, size) for each in cheapest}
        chosen = {PREDICTED: cheapest[0]["choice"], TRIED: min(times, key=lambda choice: times[choice])}
        return {
            form: Result(seconds=times[choice], answer=choice, version=self.version())
            for form, choice in chosen.items()
        }

    def by_variant(self, variant: str, machine: str, name: str, ranks: int, size: int) -> float:
        """Simulated seconds of Ranktree's call."""
        printed = self.levels(machine, ranks, [], collective_of(name), "ranktree", size, variant=variant)
        found = re.search(r"^form,ranktree,\d+,([^,\n]+)$", printed, re.MULTILINE)
        if found is None:
            raise RuntimeError(f"{machine}, {name}: expected a time")
        return float(found[1])

    def products(self, machine: str, kernel: str, ranks: int, size: int) -> dict[Key, Result]:
        """The communication of each form of SUMMA."""
        own_name, replaced = "", []
        if "binary" in kernel:
            own_name = "summa-binary"
            replaced = ["-DMPI_Bcast=papers_Bcast", ROOT / "bench/papers/binary_bcast.cpp", "-lstdc++"]
        program = self.compiled("cc", "examples/summa.c", "-lopenblas", *replaced, name=own_name)
        words = ["--size", size, "--block", 8, "--grid", GRIDS[ranks], "--iterations", 1, "--json"]
        for name in PRODUCTS:
            if name.startswith("groups-"):
                words += ["--groups", name.removeprefix("groups-")]
        options = ["--algorithm", "bcast:flattree"] if "linear" in kernel else []
        found = json.loads(json_line(self.simulated(machine, ranks, *options, "--", program, *words)))
        seconds = {form["name"]: form["communication_median"] for form in found["forms"]}
        return {
            (machine, kernel, ranks, name): Result(seconds=seconds[name], version=self.version()) for name in PRODUCTS
        }

    def vectors(self, machine: str, kernel: str, ranks: int) -> dict[Key, Result]:
        """Each hierarchy of vectors."""
        program = self.compiled("cc", "examples/vectors.c")
        amount = kernel.partition(".")[2]
        words = ["--values", int(amount[:-1]) * UNITS[amount[-1]], "--iterations", 1, "--json"]
        for levels in CONFIGURATIONS.values():
            words += ["--levels", levels]
        found = json.loads(json_line(self.simulated(machine, ranks, *FAST, "--", program, *words)))
        seconds = {each["name"]: each["seconds_median"] for each in found["hierarchies"]}
        named = {"H_topo": "topology", **CONFIGURATIONS}
        return {
            (machine, kernel, ranks, name): Result(seconds=seconds[named[name]], version=self.version())
            for name in HIERARCHIES
        }


def parameters_of(machine: dict) -> dict | None:
    """What `ranktree calibrate` would write for a simulated machine whose file has costs of the network."""
    costs = machine.get("costs", {})
    names = {"Cluster": "switch0", "Switch": "node"} if "switches" in machine["network"] else {"Cluster": "node"}
    levels = [
        {
            "name": name,
            "latency_s": costs[level]["latency_s"],
            "s_per_byte": 1 / costs[level]["bandwidth_bytes_per_s"],
            "overhead_send_s": OVERHEAD,
            "overhead_receive_s": OVERHEAD,
        }
        for level, name in names.items()
        if level in costs
    ]
    document = {"format": "ranktree-parameters", "version": 1, "levels": levels}
    return document | {"reduce_s_per_byte": 0, "copy_s_per_byte": 0} if levels else None


def collective_of(name: str) -> str:
    """Of `broadcast linear`."""
    return next(word for word in name.split() if word in ("broadcast", "reduce", "allreduce"))


def json_line(printed: str) -> str:
    """Of what a program and the simulator print."""
    return next(line for line in printed.splitlines() if line.startswith('{"program"'))
