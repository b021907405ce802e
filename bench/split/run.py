#!/usr/bin/env python3
"""The time of one level of the hierarchy against native calls, on a faked machine with a rank on each core.

`bound` is the limit for one level: the native MPI_Comm_split, a small broadcast and a small allreduce. All calls run in
turn in one process; a time is that of the slowest rank; medians (minima) in microseconds.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.helpers.faked_mpis import FakedMpi, Machine, built_mpis, finish  # noqa: E402

MACHINE = "pack:2 l3:2 core:4 pu:1"
SECONDS = 300


def measure(mpi: FakedMpi, ranks: int, repetitions: int) -> dict[str, tuple[float, float]]:
    """Median and minimum of each call; empty when the run took too long."""
    machine = Machine(MACHINE, [[core] for core in range(ranks)])
    program = mpi.build / "bin" / f"bench_split_{mpi.name}"
    command = [*mpi.launch(ranks), str(program), str(repetitions)]
    result = finish(command, mpi.variables(machine), SECONDS)
    if result.returncode == 124:
        return {}
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}: {result.stderr.strip()}")
    rows = (line.split("\t") for line in result.stdout.splitlines())
    return {row[0]: (float(row[1]), float(row[2])) for row in rows if len(row) == 3}


def print_table(mpi: FakedMpi, ranks: list[int], repetitions: int) -> None:
    """One row for each call, one column for each number of ranks."""
    columns = {count: measure(mpi, count, repetitions) for count in ranks}
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    print(f"\n{mpi.name}")
    print(f"{'microseconds':<26}" + "".join(f"{f'{count} ranks':>22}" for count in ranks))
    for name in names:
        cells = []
        for column in columns.values():
            median, least = column.get(name, (None, None))
            cells.append("too slow" if median is None else f"{median:.1f} ({least:.1f})")
        print(f"{name:<26}" + "".join(f"{cell:>22}" for cell in cells))


def main() -> None:
    """All MPIs of the build, 2 to 16 ranks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8, 16])
    parser.add_argument("--mpi", nargs="*", help="only these")
    arguments = parser.parse_args()
    for name, mpi in built_mpis(arguments.build.resolve()).items():
        # With more spinning ranks than cores, the scheduler alternates them in milliseconds; few repetitions suffice.
        spinning = mpi.family != "openmpi"
        if not arguments.mpi or name in arguments.mpi:
            print_table(mpi, arguments.ranks, arguments.repetitions // (10 if spinning else 1))


if __name__ == "__main__":
    main()
