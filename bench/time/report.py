#!/usr/bin/env python3
"""Do the objectives order placements as measured times do? The table of docs/benchmarks/objectives.md.

    report.py --build BUILD [--rows] [--cluster NAME] [--write PAGE]

From results.csv and the recorded patterns: for each program and cluster the Spearman correlation of each objective with
the measured times of all placements, and the regret of each objective's plan: how much longer it took than the fastest
placement measured. --rows prints the value of each placement. --write puts the table between the marks of a page.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from cluster import (
    CLUSTERS,
    HERE,
    KERNELS,
    OBJECTIVES,
    by_objective,
    leaves_of,
    load_kernel,
    load_tree,
    nodes_of,
    read_rows,
)

sys.path.insert(0, str(HERE.parent))

from marked_page import write_between_marks  # noqa: E402

MARKS = ("<!-- table: bench/time/report.py -->", "<!-- end of table -->")
Times = dict[str, float]  # seconds by the nodes of the ranks
ALIKE = 1.02  # `map` calls no smaller difference worth a change


def values(tree: Any, pattern: Any, leaves: list[int]) -> list[float]:
    """Of each objective, for one placement."""
    from ranktree import _core  # noqa: PLC0415

    placed = np.array(leaves, dtype=np.int32)
    hops = [_core.evaluate(tree, pattern, placed, metric)[1] for metric in ("size", "msg")]
    seconds = [_core.limit_of(tree, pattern, placed, (name, None))["seconds"] for name in OBJECTIVES[2:]]
    return [*hops, *seconds]


def ranked(numbers: list[float]) -> np.ndarray:
    """The rank of each number, the mean of the ranks where several are equal but for rounding."""
    rounded = np.array([float(f"{number:.9g}") for number in numbers])
    _, inverse, counts = np.unique(rounded, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((last - counts + last - 1) / 2)[inverse]


def spearman(objective: list[float], measured: list[float]) -> float | None:
    """Correlation of the ranks; none where the objective calls all placements alike."""
    if max(objective) <= ALIKE * min(objective):
        return None
    return float(np.corrcoef(ranked(objective), ranked(measured))[0, 1])


def known(rows: list[list[float | None]]) -> list[list[float]]:
    """What is known in each."""
    return [[value for value in column if value is not None] for column in zip(*rows, strict=True)]


def head(where: str) -> str:
    """The two first lines of the table."""
    names = " | ".join(OBJECTIVES)
    return f"| {where} | program | placements | ms | {names} | {names} |\n|{'---|' * (4 + 2 * len(OBJECTIVES))}"


class Table:
    """One line for each program on each machine, and the median and the worst of all."""

    def __init__(self) -> None:
        """Begins empty."""
        self.correlations: list[list[float | None]] = []
        self.regrets: list[list[float | None]] = []

    def line(self, where: str, program: str, times: Times, each: list[list[float]], plans: list[str]) -> str:
        """`each`: the objectives' values of the placements in `times`; `plans`: each objective's own placement."""
        measured = list(times.values())
        columns = [list(column) for column in zip(*each, strict=True)]
        self.correlations.append([spearman(column, measured) for column in columns])
        fastest = min(measured)
        self.regrets.append([times[nodes] / fastest - 1 if nodes in times else None for nodes in plans])
        spread = f"{fastest * 1e3:.3g} to {max(measured) * 1e3:.3g}"
        numbers = " | ".join("-" if value is None else f"{value:.2f}" for value in self.correlations[-1])
        lost = " | ".join("-" if value is None else f"{value:.0%}" for value in self.regrets[-1])
        return f"| {where} | {program} | {len(times)} | {spread} | {numbers} | {lost} |"

    def summary(self) -> list[str]:
        """The two last lines."""
        correlations, regrets = known(self.correlations), known(self.regrets)
        rows = (("median", statistics.median, statistics.median), ("worst", min, max))
        return [
            f"| {name} | | | | {' | '.join(f'{low(column):.2f}' for column in correlations)} | "
            f"{' | '.join(f'{high(column):.0%}' for column in regrets)} |"
            for name, low, high in rows
        ]


class Report:
    """All programs on all clusters."""

    def __init__(self, folder: Path) -> None:
        """Reads the measured times."""
        self.folder = folder
        self.table = Table()
        self.times: dict[tuple[str, str], Times] = {}
        for row in read_rows(HERE / "results.csv"):
            self.times.setdefault((row["cluster"], row["kernel"]), {})[row["nodes"]] = float(row["median_s"])

    def add(self, cluster: str, kernel: str, rows: bool) -> str:
        """One line of the table."""
        shape = CLUSTERS[cluster]
        tree, pattern, times = load_tree(self.folder, cluster), load_kernel(kernel), self.times[cluster, kernel]
        each = [values(tree, pattern, leaves_of(nodes, shape.slots)) for nodes in times]
        plans = [nodes_of(by_objective(tree, pattern, name), shape) for name in OBJECTIVES]
        if rows:
            for (nodes, seconds), found in sorted(zip(times.items(), each, strict=True), key=lambda row: row[0][1]):
                print(cluster, kernel, nodes, f"{seconds:.4f}", *(f"{value:.5g}" for value in found))
        return self.table.line(cluster, kernel, times, each, plans)


def main() -> int:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--cluster", action="append", choices=CLUSTERS, help="this one only; may be repeated")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build.resolve() / "python"))
    with tempfile.TemporaryDirectory(prefix="ranktree-time-") as folder:
        report = Report(Path(folder))
        every = [(cluster, kernel.name) for cluster in options.cluster or CLUSTERS for kernel in KERNELS]
        lines = [report.add(*each, options.rows) for each in every if each in report.times]
    text = "\n".join([head("cluster"), *lines, *report.table.summary()])
    if options.write:
        write_between_marks(options.write, MARKS, text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
