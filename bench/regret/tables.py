#!/usr/bin/env python3
"""Prints the rows that run.py has kept as Markdown: whole programs, and the cells of OSU's and Intel's benchmarks.

tables.py [--write PAGE]        --write puts the tables between the marks of a page
"""

import argparse
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from marked_page import write_between_marks  # noqa: E402
from measured_rows import read_rows  # noqa: E402

RESULTS = HERE / "results.csv"
KINDS = ("again", "first", "cached")  # beside native
FIELDS = (
    *("mpi", "load", "row", "part", "pairs", "native"),
    *(column for kind in KINDS for column in (kind, f"{kind}_ratio")),
    *("goal", "date"),
)
MARKS = ("<!-- tables: bench/regret/tables.py -->", "<!-- end of tables -->")
WHOLE = "| program | native ms | native again | first run | with the cache | goal | |"
CELLS = "| benchmark | cells | native again | least | first run | least | with the cache | least | below goal |"

Row = dict[str, object]


def number(row: Row, name: str) -> float:
    """A column of a row."""
    return float(str(row[name]))


def missed(row: Row) -> bool:
    """Whether a run takes longer than its goal."""
    return max(number(row, "first_ratio"), number(row, "cached_ratio")) > number(row, "goal")


def whole_programs(rows: Sequence[Row]) -> Iterator[str]:
    """A line a program: times of native."""
    yield from (WHOLE, "|---|---|---|---|---|---|---|")
    for row in rows:
        ratios = " | ".join(f"{number(row, f'{kind}_ratio'):.2f}" for kind in KINDS)
        mark = "missed" if missed(row) else ""
        yield f"| {row['row']} | {number(row, 'native'):.1f} | {ratios} | {number(row, 'goal'):.2f} | {mark} |"


def cells(rows: Sequence[Row]) -> Iterator[str]:
    """A line a benchmark: speeds, native time / time, their geometric mean and the least."""
    yield from (CELLS, "|---|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(row["row"] for row in rows):
        own = [row for row in rows if row["row"] == name]
        words = []
        for kind in KINDS:
            speeds = {str(row["part"]): 1 / number(row, f"{kind}_ratio") for row in own}
            slowest = min(speeds, key=lambda part: speeds[part])
            words += [f"{statistics.geometric_mean(speeds.values()):.2f}", f"{speeds[slowest]:.2f} ({slowest} B)"]
        yield f"| {name} | {len(own)} | {' | '.join(words)} | {sum(map(missed, own))} |"


def span(values: Iterable[int] | Iterable[str]) -> str:
    """From the least to the greatest."""
    found = sorted(values)
    return f"{found[0]}" if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def tables(rows: Sequence[Row]) -> str:
    """A heading and up to two tables for each MPI and load."""
    lines = []
    for mpi, load in dict.fromkeys((row["mpi"], row["load"]) for row in rows):
        own = [row for row in rows if (row["mpi"], row["load"]) == (mpi, load)]
        beside = f"beside {load} processes that compute" if int(str(load)) else "no load beside"
        days = span(str(row["date"]) for row in own)
        turns = span(int(str(row["pairs"])) for row in own)
        lines += [f"### {mpi}, {beside}", "", f"Measured {days}, {turns} turns a row."]
        programs = [row for row in own if not row["part"]]
        for part, write in ((programs, whole_programs), ([row for row in own if row["part"]], cells)):
            lines += ["", *write(part), ""] if part else []
    return "\n".join(lines)


def main() -> None:
    """Reads the file of kept rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    text = tables(read_rows(RESULTS, FIELDS))
    if options.write:
        write_between_marks(options.write, MARKS, text)
    else:
        print(text)


if __name__ == "__main__":
    main()
