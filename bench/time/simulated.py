#!/usr/bin/env python3
"""Do the objectives order placements at 64, 256 and 1,024 ranks as simulated times do?

    simulated.py --build BUILD [--ranks 64] [--machine plafrim] [--kernel cg] [--write docs/benchmarks/objectives.md]

The kernels of bench/kernels run on SMPI (`ranktree simulate`), on the first nodes of a shipped machine file, under up
to 14 placements each; their pattern is traced in simulation, too. Messages wait for each other as in the programs,
computing takes no time, and the same input gives the same times. Prints the table of report.py, or puts it between the
marks of a page.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from cluster import OBJECTIVES, exchanged, planned
from report import Table, head, values
from run import run

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from marked_page import write_between_marks  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KERNELS = {
    "cg": ("cg", "A", "2"),
    "ft": ("ft", "A", "1"),
    "lu": ("lu", "A", "1"),
    "zeus": ("zeus", "16", "2"),
    "rings": ("rings", "64K", "2"),
    "wiedemann": ("wiedemann", "1M", "1"),
}
RANKS = {"plafrim": (64, 256), "graphene-ib": (64, 256), "fat-tree-128x64": (1024,)}  # of each machine
TIME_LIMIT = 600
MARKS = ("<!-- table: bench/time/simulated.py -->", "<!-- end of table -->")


@dataclass(frozen=True)
class Simulation:
    """Kernels on as many nodes of one machine as some ranks fill."""

    build: Path
    folder: Path
    machine: str
    ranks: int

    @property
    def ranktree(self) -> Path:
        """The command."""
        return self.build / "bin/ranktree"

    @property
    def file(self) -> Path:
        """The machine file."""
        return self.folder / f"{self.machine}-{self.ranks}.json"

    def load_tree(self) -> Any:
        """Writes the machine file, and returns the tree."""
        from ranktree import _core  # noqa: PLC0415  the build tree's, whose path the caller sets

        document = json.loads((ROOT / "machines" / f"{self.machine}.json").read_text(encoding="utf-8"))
        network = document["network"]
        (hosts,) = network["hosts"]
        name = hosts["names"].partition("[")[0]
        whole = _core.load_machine(str(ROOT / "machines" / f"{self.machine}.json"), None).cut_at("Core")
        cores = whole.leaf_count // len({whole.host(leaf) for leaf in range(whole.leaf_count)})
        nodes = self.ranks // cores
        document["network"] = {"hosts": [{"names": f"{name}[1-{nodes}]", "shape": hosts["shape"]}]}
        if network.get("kind") == "fat-tree":  # its first lowest switches, with their links up, below one root
            below = network["arities"][-1]
            document["network"] |= {"kind": "fat-tree", "arities": [nodes // below, below]}
            document["network"] |= {"uplinks": network["uplinks"][-1:]}
        self.file.write_text(json.dumps(document), encoding="utf-8")
        return _core.load_machine(str(self.file), None).cut_at("Core")

    def pattern(self, kernel: str) -> Any:
        """Traced in simulation; collective calls as pairs."""
        from ranktree.pattern import expand, natural_model, read  # noqa: PLC0415

        path = self.folder / f"{kernel}-{self.ranks}.npz"
        if not path.exists():
            words = [self.ranktree, "trace", "-q", "--simulate", "--np", self.ranks, "-o", path, "--"]
            run([*words, self.folder / "kernels", *KERNELS[kernel]], TIME_LIMIT)
        found = read(str(path))[0]
        return expand(found, natural_model(found))

    def seconds(self, kernel: str, tree: Any, leaves: list[int]) -> float:
        """Simulated time of the iterations."""
        plan = self.folder / "plan.json"
        plan.write_text(json.dumps(plan_of(tree, leaves)), encoding="utf-8")
        words = [self.ranktree, "simulate", "--quiet", "--machine", self.file, "--np", self.ranks, "--plan", plan]
        lines = run([*words, "--", self.folder / "kernels", *KERNELS[kernel]], TIME_LIMIT).splitlines()
        return next(float(line.partition(",")[2]) for line in lines if line.startswith("seconds,"))


def plan_of(tree: Any, leaves: list[int]) -> dict:
    """A plan file."""
    hosts = list(dict.fromkeys(tree.host(leaf) for leaf in range(tree.leaf_count)))
    cost = {"weight": [0] * len(tree.levels), "total": 0}
    return {
        "format": "ranktree-plan",
        "version": 1,
        "ranks": len(leaves),
        "algorithm": "identity",
        "metric": "size",
        "seed": 1,
        "gain": False,
        "levels": [{"kind": level, "cost": 0} for level in tree.levels],
        "hosts": [{"name": host, "pus": tree.leaf_count // len(hosts)} for host in hosts],
        "costs": [{"placement": name, **cost} for name in ("identity", "plan")],
        "slots": [{"host": tree.host(leaf), "pus": tree.pus(leaf)} for leaf in leaves],
    }


def fixed_placements(ranks: int, cores: int) -> dict[str, list[int]]:
    """Those that look at no pattern."""
    nodes = ranks // cores
    packed = list(range(ranks))
    found = {"packed": packed, "round robin": [rank % nodes * cores + rank // nodes for rank in packed]}
    for seed in range(4):
        order = list(packed)
        random.Random(seed).shuffle(order)
        found[f"random {seed}"] = order
    for exchanges in (ranks // 16, ranks // 4):
        found[f"packed, {exchanges} exchanged"] = exchanged(packed, exchanges)
    return found


def words_of(leaves: list[int]) -> str:
    """A placement as one word."""
    return " ".join(map(str, leaves))


def measured(simulation: Simulation, kernel: str, table: Table) -> str:
    """One line of the table."""
    tree = simulation.load_tree()
    pattern = simulation.pattern(kernel)
    cores = tree.leaf_count // len({tree.host(leaf) for leaf in range(tree.leaf_count)})
    plans = planned(tree, pattern)
    every = {words_of(leaves): leaves for leaves in (fixed_placements(simulation.ranks, cores) | plans).values()}
    times = {word: simulation.seconds(kernel, tree, leaves) for word, leaves in every.items()}
    each = [values(tree, pattern, leaves) for leaves in every.values()]
    own = [words_of(plans[f"plan by {name}"]) for name in OBJECTIVES]
    return table.line(f"{simulation.machine}, {simulation.ranks}", kernel, times, each, own)


def lines_of(options: argparse.Namespace, folder: Path) -> Iterator[str]:
    """The table."""
    build = options.build.resolve()
    compiler = [build / "bin/ranktree", "simulate", "--compile", "--", "cc", "-O2"]
    run([*compiler, ROOT / "bench/kernels/kernels.c", "-o", folder / "kernels"])
    table = Table()
    yield from head("machine, ranks").splitlines()
    for machine in options.machine or RANKS:
        for ranks in (each for each in RANKS[machine] if not options.ranks or each in options.ranks):
            for kernel in options.kernel or KERNELS:
                print(f"{machine}, {ranks}: {kernel}", file=sys.stderr, flush=True)
                yield measured(Simulation(build, folder, machine, ranks), kernel, table)
    yield from table.summary()


def main() -> int:
    """Prints or writes one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--ranks", type=int, action="append", help="these only; may be repeated")
    parser.add_argument("--machine", action="append", choices=RANKS)
    parser.add_argument("--kernel", action="append", choices=KERNELS)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build.resolve() / "python"))
    with tempfile.TemporaryDirectory(prefix="ranktree-time-") as folder:
        lines = lines_of(options, Path(folder))
        if options.write:
            write_between_marks(options.write, MARKS, "\n".join([f"Simulated on {date.today():%d %B %Y}.", "", *lines]))
        else:
            for line in lines:
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
