#!/usr/bin/env python3
"""`auto` beside each of SMPI's selectors on simulated ranks: fat tree, dragonfly, torus.

collectives.py --build build/dev [--ranks 128] [--networks fat-tree ...] [--selectors ompi ...] [--cells bcast:8 ...]
    [--page]

For each network, number of ranks and selector, the program collectives.c runs twice: with the selector's own algorithms
(native), and under `auto`, which tries Ranktree's variants against them. A cell is one collective with one size; its
gain is native / auto, both in simulated seconds after the decision. --page puts the rows into the page, in place of
those of the same networks and ranks. Exit code 1 where a simulation fails, or a decision is more than 2 % slower than
the selector's own algorithm.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from library import ROOT, cpu_seconds

sys.path.insert(0, str(ROOT / "bench"))
from marked_page import write_between_marks  # noqa: E402

PAGE = ROOT / "docs/benchmarks/simulated-collectives.md"
MARKS = ("<!-- selectors -->", "<!-- end of selectors -->")
NETWORKS = {
    "fat-tree": ROOT / "machines/fat-tree-128x64.json",
    "dragonfly": ROOT / "machines/dragonfly-16.json",
    "torus": ROOT / "machines/bluegene-p-5000.json",
}
SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
CELLS = {
    128: "bcast:8 bcast:65536 reduce:8 allreduce:8 allreduce:1024 allgather:8 alltoall:8",
    1024: "bcast:8 reduce:8 allreduce:8 allreduce:1024",
    4096: "bcast:8 allreduce:8",
    16384: "bcast:8",
}
SET_UP = 45  # calls before a communicator is set up, after 128: each counts as 3
CALLS = 12  # two native ones, two observed, a pair for each of four challengers
WORST = 1.02


@dataclass
class Run:
    """One simulation."""

    cells: dict[str, dict[str, Any]]
    report: dict[str, Any]
    cpu: float


@dataclass
class Row:
    """`auto` beside one selector, on one network."""

    network: str
    ranks: int
    selector: str
    native: dict[str, float] = field(default_factory=dict)
    auto: dict[str, float] = field(default_factory=dict)
    until_decided: float = 0  # calls on trial took so many times as long as native ones
    cpu: float = 0
    memory: int = 0

    def gains(self) -> dict[str, float]:
        """Of each cell."""
        return {cell: self.native[cell] / self.auto[cell] for cell in self.auto}


def mean(values: list[float]) -> float:
    """The geometric one."""
    return math.exp(sum(map(math.log, values)) / len(values))


def simulated(command: list[str], calls: tuple[int, int], options: list[str], cells: list[str]) -> Run:
    """Runs the program with so many calls of set-up, and before those that are timed. Raises CalledProcessError."""
    words = [command[0], "simulate", "--json", "--share-globals", "--share-buffers", *options]
    with cpu_seconds() as taken:
        result = subprocess.run(
            [*words, "--", command[1], *map(str, calls), *cells], capture_output=True, text=True, check=True
        )
    printed = result.stdout.splitlines()[: len(cells)]
    report = json.loads("\n".join(result.stdout.splitlines()[len(cells) :]))
    return Run(dict(zip(cells, map(json.loads, printed), strict=True)), report, taken[0])


def compared(command: list[str], row: Row, machine: Path, cells: list[str]) -> None:
    """Fills the row."""
    options = ["--machine", str(machine), "--np", str(row.ranks), "--selector", row.selector]
    native = simulated(command, (0, 1), options, cells)
    auto = simulated(command, (SET_UP, CALLS), [*options, "--collectives", "auto"], cells)
    ratios = []
    for cell in cells:
        row.native[cell] = native.cells[cell]["seconds"]
        row.auto[cell] = auto.cells[cell]["seconds"]
        ratios.append(auto.cells[cell]["untimed_s"] / CALLS / row.native[cell])
    row.until_decided = mean(ratios)
    row.cpu = native.cpu + auto.cpu
    row.memory = max(native.report["host_bytes"], auto.report["host_bytes"])
    for each in auto.report["collectives"]["decisions"]:
        print(f"    {each['call']}: {each['variant']} | {each['reason']}", file=sys.stderr, flush=True)


def table(rows: list[Row]) -> str:
    """Markdown: a line for each row."""
    lines = [
        "| network | ranks | selector | cells | gain: mean | most | least | of `auto` over the best selector |"
        " until decided | CPU | memory |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        gains = row.gains()
        most, least = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
        others = [each for each in rows if (each.network, each.ranks) == (row.network, row.ranks)]
        best = min(mean(list(each.native.values())) for each in others)
        lines.append(
            f"| {row.network} | {row.ranks:,} | {row.selector} | {len(gains)} | {mean(list(gains.values())):.2f} |"
            f" {gains[most]:.2f} ({most}) | {gains[least]:.2f} ({least}) |"
            f" {best / mean(list(row.auto.values())):.2f} | {row.until_decided:.2f}x |"
            f" {row.cpu:.0f} s | {row.memory / 1e6:.0f} MB |"
        )
    return "\n".join(lines)


def with_rows_of_page(text: str) -> str:
    """The table's lines, and those of the page that are on other networks or ranks, in order."""
    title, line, *rows = text.splitlines()
    of = {tuple(row.split(" | ")[:2]) for row in rows}
    table_of_page = PAGE.read_text(encoding="utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    kept = [row for row in table_of_page.strip().splitlines()[2:] if tuple(row.split(" | ")[:2]) not in of]

    def place(row: str) -> tuple[int, int]:
        network, ranks = row.removeprefix("| ").split(" | ")[:2]
        return int(ranks.replace(",", "")), list(NETWORKS).index(network)

    return "\n".join([title, line, *sorted(kept + rows, key=place)])


def main() -> int:
    """Prints a line for each cell, then the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/dev"))
    parser.add_argument("--ranks", type=int, nargs="+", choices=CELLS, default=[128])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--selectors", nargs="+", choices=SELECTORS, default=list(SELECTORS))
    parser.add_argument("--cells", nargs="+", metavar="OPERATION:BYTES")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    ranktree = str(options.build.resolve() / "bin/ranktree")
    failed = 0
    rows = []
    with tempfile.TemporaryDirectory(prefix="ranktree-collectives-") as folder:
        program = str(Path(folder) / "collectives")
        source = str(Path(__file__).with_name("collectives.c"))
        subprocess.run([ranktree, "simulate", "--compile", "--", "cc", "-O2", source, "-o", program], check=True)
        for ranks in options.ranks:
            for network in options.networks:
                for selector in options.selectors:
                    row = Row(network, ranks, selector)
                    try:
                        compared([ranktree, program], row, NETWORKS[network], options.cells or CELLS[ranks].split())
                    except subprocess.CalledProcessError as error:
                        print(f"{network} {ranks} {selector} failed: {error.stderr}", flush=True)
                        failed = 1
                        continue
                    rows.append(row)
                    for cell, gain in row.gains().items():
                        failed |= gain < 1 / WORST
                        print(
                            f"{network:10} {ranks:6} {selector:9} {cell:16} {row.native[cell] * 1e6:10.2f} us"
                            f" {row.auto[cell] * 1e6:10.2f} us {gain:6.2f}",
                            flush=True,
                        )
                    print(f"  CPU {row.cpu:.1f} s, {row.memory / 1e6:.0f} MB", flush=True)
    print(table(rows))
    if options.page and rows:
        write_between_marks(PAGE, MARKS, with_rows_of_page(table(rows)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
