#!/usr/bin/env python3
"""Ranktree's library on simulated ranks: splits of all levels, central and distributed reordering.

library.py --build build/dev [--operations split central] [--ranks 1024] [--write docs/explanation/simulation.md]

The machine has 4, 8 or 16 switches of as many nodes, each of 2 packages of 32 cores. Printed, in a table: the operation
and its ranks; simulated seconds and messages of the program; the most memory that the library allocates for a rank
within the call; the weight times hops of a 3D halo exchange after reordering, over that before and over the placement
engine's own on the same graph; CPU seconds and peak memory of the simulation. Exit code 1 where a simulation fails.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from math import isqrt
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/place"), str(ROOT / "python")]

from graphs import write  # noqa: E402
from instances import stencil  # noqa: E402
from marked_page import write_between_marks  # noqa: E402
from peers import cost  # noqa: E402
from ranktree.simulate.memory import text  # noqa: E402

# Algorithms without messages between all pairs of ranks, which SMPI's selectors have for each new communicator.
ALGORITHMS = (
    "allreduce:redbcast",
    "bcast:binomial_tree",
    "gather:ompi_binomial",
    "reduce:binomial",
    "barrier:ompi_bruck",
)
CORES = 64  # of a node
BYTES = 2 * 65536  # of a halo, both directions
HOPS = "2:4:6:8"  # between two ranks of a package, node, switch, machine
OPERATIONS = ("split", "central", "distributed")
TIME_LIMIT = 3600
MARKS = ("<!-- table: bench/scale/library.py -->", "<!-- end of table -->")
TITLES = "| operation | ranks | simulated | messages | a rank holds at most | hops / before | / engine | CPU | memory |"


def side(ranks: int) -> int:
    """So many switches of as many nodes."""
    return isqrt(ranks // CORES)


def grid(ranks: int) -> list[int]:
    """Three sides, powers of two, as equal as can be."""
    sides = [1, 1, 1]
    while sides[0] * sides[1] * sides[2] < ranks:
        sides[sides.index(min(sides))] *= 2
    return sides


@contextmanager
def cpu_seconds() -> Iterator[list[float]]:
    """Yields a list, which has the CPU seconds of the processes that were run meanwhile."""
    taken: list[float] = []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    yield taken
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


class Bench:
    """The program, in a folder."""

    def __init__(self, build: Path, folder: Path) -> None:
        """Compiles it, linked with the library for simulated ranks, and the accounts of what ranks hold."""
        self.build, self.folder = build, folder
        here, library = Path(__file__).parent, build / "lib"
        self.accounts, self.program = folder / "libaccounts.so", folder / "library"
        words = ["c++", "-std=c++20", "-O2", "-fPIC", "-shared", "-o", self.accounts]
        words += [here / "accounts.cpp", here.parent / "distributed/accounts.cpp", "-lsimgrid"]
        subprocess.run([*map(str, words)], check=True, timeout=300)
        words = [build / "bin/ranktree", "simulate", "--compile", "--", "cc", "-O2", "-I", ROOT / "include"]
        words += [here / "library.c", "-o", self.program, f"-L{library}", "-lranktree_mpi_smpi", f"-L{folder}"]
        words += ["-laccounts", f"-Wl,-rpath,{library},-rpath,{folder}"]
        subprocess.run([*map(str, words)], check=True, timeout=300)

    def simulated(self, operation: str, ranks: int) -> tuple[dict, dict, float]:
        """What rank 0 printed, the report, and CPU seconds."""
        machine = f"switch:{side(ranks)} node:{side(ranks)} package:2 core:{CORES // 2}"
        words = [
            self.build / "bin/ranktree",
            "simulate",
            "--machine",
            machine,
            "--np",
            ranks,
            "--json",
            "--share-globals",
        ]
        words += [option for each in ALGORITHMS for option in ("--algorithm", each)]
        words += ["--", self.program, operation, *(grid(ranks) if operation != "split" else [])]
        environment = {**os.environ, "LD_PRELOAD": str(self.accounts)}
        with cpu_seconds() as seconds:
            result = subprocess.run(
                [*map(str, words)], stdout=subprocess.PIPE, text=True, timeout=TIME_LIMIT, check=True, env=environment
            )
        printed, _, report = result.stdout.partition("\n")
        return json.loads(printed), json.loads(report), seconds[0]

    def engine(self, ranks: int, before: float) -> float:
        """The placement engine's own result for the same graph on the same machine."""
        graph = stencil(tuple(grid(ranks)[::-1]), {1: BYTES})
        tree = f"{CORES // 2}:2:{side(ranks)}:{side(ranks)}"
        counted = cost(graph.csr(), tree, HOPS, np.arange(ranks))
        if counted != before:
            raise ValueError(f"{ranks} ranks: expected {counted} before, the graph's, found {before}")
        path = self.folder / "halo.cg"
        write(path, graph)
        words = [self.build / "bin/bench_place", path, tree, HOPS, "default", "1"]
        result = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, text=True, timeout=TIME_LIMIT, check=True)
        return float(result.stdout.split()[0])

    def row(self, operation: str, ranks: int) -> str:
        """Of the table."""
        printed, report, seconds = self.simulated(operation, ranks)
        messages = sum(level["messages"] for level in report["levels"])
        time = f"{report['simulated_s'] * 1e3:.3g} ms"
        cells = [operation, f"{ranks:,}", time, f"{messages:,.0f}", text(printed["held"])]
        if operation == "split":
            cells += ["", ""]
        else:
            after = float(printed["after"])
            ratios = after / printed["before"], after / self.engine(ranks, float(printed["before"]))
            cells += [f"{each:.3f}" for each in ratios]
        return f"| {' | '.join([*cells, f'{seconds:.1f} s', text(report['host_bytes'])])} |"


def main() -> int:
    """Prints a line for each operation and number of ranks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/dev"))
    parser.add_argument("--operations", nargs="+", choices=OPERATIONS, default=list(OPERATIONS))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1024, 4096, 16384], help=f"{CORES} x a power of four")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table between the marks of a page")
    options = parser.parse_args()
    if wrong := [ranks for ranks in options.ranks if CORES * side(ranks) ** 2 != ranks or ranks & (ranks - 1)]:
        parser.error(f"--ranks: expected {CORES} x a power of four, found {wrong[0]}")
    rows = [TITLES, "|---" * TITLES.count(" | ") + "|---|"]
    print(*rows, sep="\n", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ranktree-scale-") as folder:
        bench = Bench(options.build.resolve(), Path(folder))
        for operation, ranks in product(options.operations, options.ranks):
            try:
                rows.append(bench.row(operation, ranks))
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                failed = 1
                rows.append(f"| {operation} | {ranks:,} | failed: {error} | | | | | | |")
            print(rows[-1], flush=True)
    if options.write and not failed:
        write_between_marks(options.write, MARKS, "\n".join(rows))
    return failed


if __name__ == "__main__":
    sys.exit(main())
