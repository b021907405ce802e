#!/usr/bin/env python3
"""Measured times of programs on emulated clusters under 15 to 20 placements each: results.csv, and the patterns.

    run.py --build BUILD [--runs 3] [--cluster NAME] [--again RATIO] [KERNEL...]

Placements that differ only in the number of alike nodes are one. The placements of a program run in turn, so that
other load on the machine affects all alike; a row has the median, the least and the most of the runs. What results.csv
has already is not measured again, except rows whose longest run took more than RATIO times the shortest. report.py
computes the objectives of what was measured.
"""

import argparse
import csv
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster import (
    CLUSTERS,
    HERE,
    KERNELS,
    LATENCY,
    PATTERNS,
    RANKS,
    SOURCES,
    Kernel,
    fixed_placements,
    load_kernel,
    load_tree,
    nodes_of,
    planned,
    read_rows,
)

sys.path.insert(0, str(HERE.parent))

from endings import Ended, end_by_exception, undisturbed  # noqa: E402

TIME_LIMIT = 60
RESULTS = HERE / "results.csv"
FIELDS = ("cluster", "kernel", "nodes", "placement", "runs", "median_s", "least_s", "most_s")


def run(words: list[object], seconds: float = TIME_LIMIT) -> str:
    """The output of a command that must succeed within so many seconds."""
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=seconds, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {result.returncode}: {result.stderr[-500:]}")
    return result.stdout


class Bench:
    """One cluster, in a folder."""

    def __init__(self, build: Path, folder: Path, name: str) -> None:
        """The constructor starts nothing."""
        self.build, self.folder, self.name = build, folder, name
        self.cluster = CLUSTERS[name]
        self.slots = self.cluster.slots
        self.state = folder / f"cluster-{list(CLUSTERS).index(name)}"

    @contextmanager
    def up(self) -> Iterator[None]:
        """Makes the cluster and removes it in any case."""
        program = self.build / "bin/minicluster"
        shape = ["--nodes", len(self.slots), "--per-switch", self.cluster.per_switch or len(self.slots)]
        links = ["--rate", self.cluster.rate, "--latency", LATENCY]
        if self.cluster.switched:
            links += ["--uplink-rate", self.cluster.uplink_rate]
        with undisturbed():
            run([program, "up", self.state, *shape, "--cpus", max(self.slots), *links])
        try:
            yield
        finally:
            subprocess.run([program, "down", self.state], timeout=TIME_LIMIT, check=False)

    def launcher(self, nodes: str) -> list[object]:
        """Open MPI with each rank on its node."""
        file = self.folder / "rankfile"
        taken = [0] * len(self.slots)
        lines = []
        for rank, digit in enumerate(nodes):
            lines.append(f"rank {rank}=n{digit} slot={taken[int(digit)]}\n")
            taken[int(digit)] += 1
        file.write_text("".join(lines), encoding="ascii")
        hosts = ["--hostfile", self.state / "hostfile", "-np", RANKS, "--rankfile", file]
        return [self.state / "mpirun", *hosts]

    def record(self, kernel: Kernel) -> None:
        """The pattern of a run, where there is none yet."""
        path = PATTERNS / f"{kernel.name.replace(' ', '_')}.csv"
        if path.exists():
            return
        PATTERNS.mkdir(exist_ok=True)
        traced = self.folder / f"{path.stem}.npz"
        ranktree = self.build / "bin/ranktree"
        packed = nodes_of(list(range(RANKS)), self.cluster)
        words = [*self.launcher(packed), *kernel.command(self.build, self.folder)]
        run([ranktree, "trace", "-q", "-o", traced, "--", *words])
        run([ranktree, "convert", traced, "-o", path])

    def placements(self, kernel: Kernel) -> dict[str, str]:
        """The first name of each different placement, by its nodes."""
        tree = load_tree(self.folder, self.name)
        every = fixed_placements(self.slots) | planned(tree, load_kernel(kernel.name))
        found: dict[str, str] = {}
        for name, leaves in every.items():
            found.setdefault(nodes_of(leaves, self.cluster), name)
        return found

    def measure(self, kernel: Kernel, runs: int, known: set[str]) -> list[dict[str, object]]:
        """The rows of the placements that are not known."""
        self.record(kernel)
        wanted = {nodes: name for nodes, name in self.placements(kernel).items() if nodes not in known}
        seconds: dict[str, list[float]] = {nodes: [] for nodes in wanted}
        for _ in range(runs):
            for nodes, found in seconds.items():
                words = [*self.launcher(nodes), *kernel.command(self.build, self.folder)]
                found.append(kernel.seconds(run(words)))
        return [self.row(kernel, nodes, wanted[nodes], found) for nodes, found in seconds.items()]

    def row(self, kernel: Kernel, nodes: str, placement: str, seconds: list[float]) -> dict[str, object]:
        """Of results.csv."""
        shown = [f"{value:.6f}" for value in (statistics.median(seconds), min(seconds), max(seconds))]
        return dict(zip(FIELDS, (self.name, kernel.name, nodes, placement, len(seconds), *shown), strict=True))


def spread(row: dict[str, object]) -> float:
    """The longest run over the shortest."""
    return float(str(row["most_s"])) / float(str(row["least_s"]))


def measure_all(options: argparse.Namespace, folder: Path) -> None:
    """Writes results.csv after each kernel."""
    rows: list[dict[str, object]] = list(read_rows(RESULTS))
    for program, source in SOURCES.items():
        run(["mpicc.openmpi", "-O2", source, "-o", folder / program])
    for name in options.cluster or CLUSTERS:
        bench = Bench(options.build.resolve(), folder, name)
        with bench.up():
            for kernel in KERNELS:
                if options.kernels and kernel.name not in options.kernels:
                    continue
                here = [row for row in rows if (row["cluster"], row["kernel"]) == (name, kernel.name)]
                disturbed = {str(row["nodes"]) for row in here if spread(row) > options.again}
                known = {str(row["nodes"]) for row in here} - disturbed
                measured = bench.measure(kernel, options.runs, known)
                rows = [row for row in rows if row not in here or row["nodes"] in known] + measured
                write(rows)
                print(f"{name}: {kernel.name}", file=sys.stderr, flush=True)


def write(rows: list[dict[str, object]]) -> None:
    """All of them."""
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> int:
    """Measures what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cluster", action="append", choices=CLUSTERS, help="this one only; may be repeated")
    parser.add_argument("--again", type=float, default=float("inf"), metavar="RATIO")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build.resolve() / "python"))
    end_by_exception()
    try:
        with tempfile.TemporaryDirectory(prefix="ranktree-time-") as folder:
            measure_all(options, Path(folder))
    except Ended:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
