#!/usr/bin/env python3
"""Replayed patterns beside measured times: does `ranktree simulate --replay` order plans as a real run does?

On an emulated cluster of 4 nodes x 4 ranks (docs/how-to/emulate-a-cluster.md) Open MPI runs four kernels under five
placements; each kernel is traced once, and its pattern is replayed under the same placements on a machine file of that
cluster. Printed: seconds an iteration, measured (median of --runs) and replayed, and whether both order the placements
alike. Placements whose measured times differ by less than --tie are not ordered. Exit code 1 where an order differs.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NODES = 4
CORES = 4
RANKS = NODES * CORES
RATE = 10  # Mbit/s of a link
LATENCY = 500  # microseconds of a link, of which a message between nodes passes two
TCP = 0.941  # of a link's rate is payload
TIME_LIMIT = 120
MACHINE = {
    "format": "ranktree-machine",
    "version": 1,
    "shapes": {"node": f"core:{CORES}"},
    "network": {"hosts": [{"names": f"n[0-{NODES - 1}]", "shape": "node"}]},
    "costs": {
        "Cluster": {"latency_s": 2e-6 * LATENCY, "bandwidth_bytes_per_s": TCP * RATE * 1e6 / 8},
        "Node": {"latency_s": 1e-5, "bandwidth_bytes_per_s": 1e9},
    },
}


@dataclass(frozen=True)
class Kernel:
    """A program, its arguments, and its iterations."""

    name: str
    program: str
    arguments: tuple[str, ...]
    iterations: int
    dependent: bool = False  # a message waits for another one, which a pattern does not show: the order is not judged

    def command(self, build: Path, folder: Path) -> list[str]:
        """As the launcher starts it."""
        path = folder / "kernels" if self.program == "kernels" else build / "bin" / f"{self.program}_openmpi"
        return [str(path), *self.arguments, "--iterations", str(self.iterations)]


KERNELS = (
    Kernel("rings", "kernels", ("rings", "--bytes", "32768"), 8),
    Kernel("stencil", "stencil", ("--dimensions", "3", "--cells", "64", "--periodic", "--json"), 4),
    Kernel("cg", "kernels", ("cg", "--bytes", "32768"), 8),
    Kernel("rows", "kernels", ("rows", "--bytes", "32768"), 8),
    Kernel("rings with a token", "rings", ("--rings", "4", "--bytes", "32768", "--json"), 4, True),
)


def placements() -> dict[str, list[int]]:
    """The leaf of each rank, four leaves a node."""
    shuffled = []
    for seed in (1, 2):
        order = list(range(RANKS))
        random.Random(seed).shuffle(order)
        shuffled.append(order)
    rounds = [(rank % NODES) * CORES + rank // NODES for rank in range(RANKS)]
    blocks = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]  # 2 x 2 of the 4 x 4 ranks a node
    return {
        "packed": list(range(RANKS)),
        "round robin": rounds,
        "blocks": blocks,
        "random 1": shuffled[0],
        "random 2": shuffled[1],
    }


def run(words: list[object]) -> str:
    """The output of a command that must succeed."""
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {result.returncode}: {result.stderr[-500:]}")
    return result.stdout


class Comparison:
    """Both sides, in one folder."""

    def __init__(self, build: Path, folder: Path) -> None:
        """Compiles the kernels and writes the machine file."""
        self.build, self.folder = build, folder
        self.ranktree, self.minicluster = build / "bin/ranktree", build / "bin/minicluster"
        self.machine = folder / "machine.json"
        self.machine.write_text(json.dumps(MACHINE), encoding="utf-8")
        source = Path(__file__).resolve().parent / "kernels.c"
        run(["mpicc.openmpi", "-O2", source, "-o", folder / "kernels"])

    def launcher(self, leaves: list[int]) -> list[object]:
        """Open MPI with each rank on its node."""
        file = self.folder / "rankfile"
        slots = [f"rank {rank}=n{leaf // CORES} slot={leaf % CORES}\n" for rank, leaf in enumerate(leaves)]
        file.write_text("".join(slots), encoding="ascii")
        return [
            self.folder / "cluster/mpirun",
            "--hostfile",
            self.folder / "cluster/hostfile",
            "-np",
            RANKS,
            "--rankfile",
            file,
        ]

    def measured(self, kernel: Kernel, leaves: list[int], runs: int) -> float:
        """The median of some runs."""
        words = [*self.launcher(leaves), *kernel.command(self.build, self.folder)]
        return statistics.median(json.loads(run(words))["seconds_per_iteration"] for _ in range(runs))

    def pattern(self, kernel: Kernel, leaves: list[int]) -> Path:
        """Of one run."""
        path = self.folder / f"{kernel.name.split()[-1]}.npz"
        command = [*self.launcher(leaves), *kernel.command(self.build, self.folder)]
        run([self.ranktree, "trace", "-q", "-o", path, "--", *command])
        return path

    def replayed(self, kernel: Kernel, pattern: Path, leaves: list[int]) -> float:
        """Simulated, an iteration."""
        plan = self.folder / "plan.json"
        plan.write_text(json.dumps(plan_of(leaves)), encoding="utf-8")
        words = [self.ranktree, "simulate", "--machine", self.machine, "--replay", pattern, "--plan", plan, "--json"]
        return json.loads(run(words))["simulated_s"] / kernel.iterations


def plan_of(leaves: list[int]) -> dict:
    """A plan file."""
    cost = {"weight": [0, 0, 0], "total": 0}
    return {
        "format": "ranktree-plan",
        "version": 1,
        "ranks": RANKS,
        "algorithm": "identity",
        "metric": "size",
        "seed": 1,
        "gain": False,
        "levels": [{"kind": kind, "cost": cost} for kind, cost in (("Cluster", 4), ("Node", 2), ("Core", 0))],
        "hosts": [{"name": f"n{node}", "pus": CORES} for node in range(NODES)],
        "costs": [{"placement": name, **cost} for name in ("identity", "plan")],
        "slots": [{"host": f"n{leaf // CORES}", "pus": [leaf % CORES]} for leaf in leaves],
    }


def differs(measured: dict[str, float], replayed: dict[str, float], tie: float) -> list[str]:
    """Pairs of placements that the replay orders differently, where both differ by more than a tie."""
    names = sorted(measured, key=measured.__getitem__)
    return [
        f"{a} before {b}"
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if measured[b] > (1 + tie) * measured[a] and replayed[a] > (1 + tie) * replayed[b]
    ]


def main() -> int:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tie", type=float, default=0.1)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="ranktree-replay-") as name:
        comparison = Comparison(options.build.resolve(), Path(name))
        state = comparison.folder / "cluster"
        run(
            [
                comparison.minicluster,
                "up",
                state,
                "--nodes",
                NODES,
                "--rate",
                RATE,
                "--latency",
                LATENCY,
                "--cpus",
                CORES,
            ]
        )
        try:
            print("| kernel | placement | measured | replayed | error |\n|---|---|---|---|---|")
            for kernel in KERNELS:
                pattern = comparison.pattern(kernel, placements()["packed"])
                measured, replayed = {}, {}
                for placement, leaves in placements().items():
                    measured[placement] = comparison.measured(kernel, leaves, options.runs)
                    replayed[placement] = comparison.replayed(kernel, pattern, leaves)
                    error = replayed[placement] / measured[placement] - 1
                    cells = f"{measured[placement] * 1e3:.1f} ms | {replayed[placement] * 1e3:.1f} ms | {error:+.0%}"
                    print(f"| {kernel.name} | {placement} | {cells} |", flush=True)
                for pair in differs(measured, replayed, options.tie):
                    wrong += not kernel.dependent
                    print(f"{kernel.name}: measured {pair}, replayed in the other order", file=sys.stderr)
        finally:
            subprocess.run([comparison.minicluster, "down", state], timeout=TIME_LIMIT, check=False)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
