#!/usr/bin/env python3
"""Ranktree's library on simulated ranks: splits of all levels, central and distributed reordering.

library.py --build build/dev [--split 1024 4096] [--reorder 64 256] [--machine machines/fat-tree-128x64.json]

Each line: operation, ranks, simulated seconds, messages, CPU seconds and peak memory of the simulation, and what rank 0
of the program printed: the levels, or the weight times hops of a 3D halo exchange before and after. Exit code 1 where a
simulation fails.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Algorithms without messages between all pairs of ranks, which SMPI's selectors have for each new communicator.
ALGORITHMS = ("allreduce:rdb", "bcast:binomial_tree", "gather:ompi_binomial", "reduce:binomial", "barrier:ompi_bruck")
TIME_LIMIT = 1800


def grid(ranks: int) -> list[int]:
    """Three sides, powers of two, as equal as can be."""
    sides = [1, 1, 1]
    while sides[0] * sides[1] * sides[2] < ranks:
        sides[sides.index(min(sides))] *= 2
    return sides


def compiled(build: Path, folder: Path) -> Path:
    """The program, linked with the library for simulated ranks."""
    program = folder / "library"
    library = build / "lib"
    words = [build / "bin/ranktree", "simulate", "--compile", "--", "cc", "-O2", "-I", ROOT / "include"]
    words += [Path(__file__).with_name("library.c"), "-o", program, "-L", library, "-lranktree_mpi_smpi"]
    subprocess.run([*map(str, words), f"-Wl,-rpath,{library}"], check=True, timeout=120)
    return program


def simulated(command: list[str], machine: Path, ranks: int) -> tuple[dict, dict, float]:
    """What rank 0 printed, the report, and CPU seconds."""
    options = [option for each in ALGORITHMS for option in ("--algorithm", each)]
    words = [
        command[0],
        "simulate",
        "--machine",
        str(machine),
        "--np",
        str(ranks),
        "--json",
        "--share-globals",
        *options,
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(
        [*words, "--", *command[1:]], capture_output=True, text=True, timeout=TIME_LIMIT, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    printed, _, report = result.stdout.partition("\n")
    return json.loads(printed), json.loads(report), seconds


def main() -> int:
    """Prints a line for each operation and number of ranks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/dev"))
    parser.add_argument("--split", type=int, nargs="*", default=[1024, 4096])
    parser.add_argument("--reorder", type=int, nargs="*", default=[64, 256])
    parser.add_argument("--machine", type=Path, default=ROOT / "machines/fat-tree-128x64.json")
    options = parser.parse_args()
    build = options.build.resolve()
    failed = 0
    print(
        f"{'operation':12} {'ranks':>6} {'simulated':>10} {'messages':>10} {'CPU':>8} {'memory':>8}  result", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="ranktree-scale-") as folder:
        program = compiled(build, Path(folder))
        cases = [("split", ranks) for ranks in options.split]
        cases += [(mode, ranks) for ranks in options.reorder for mode in ("central", "distributed")]
        for operation, ranks in cases:
            sides = [] if operation == "split" else map(str, grid(ranks))
            command = [str(build / "bin/ranktree"), str(program), operation, *sides]
            try:
                printed, report, seconds = simulated(command, options.machine, ranks)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                failed = 1
                print(f"{operation:12} {ranks:6} failed: {error}", flush=True)
                continue
            messages = sum(level["messages"] for level in report["levels"])
            memory = f"{report['host_bytes'] / 1e6:.0f} MB"
            time = f"{report['simulated_s'] * 1e3:.3g} ms"
            print(
                f"{operation:12} {ranks:6} {time:>10} {messages:10,.0f} {seconds:6.1f} s {memory:>8}  {printed}",
                flush=True,
            )
    return failed


if __name__ == "__main__":
    sys.exit(main())
