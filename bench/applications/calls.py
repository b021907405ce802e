#!/usr/bin/env python3
"""Which MPI calls the applications make: writes calls.csv, and prints it as Markdown.

calls.py --build BUILD [--write PAGE] [APPLICATION.npz...]        patterns that `run.py --patterns FOLDER` kept

Their pairs of ranks, with collective calls as the traced MPI's messages, go to patterns/APPLICATION.csv for gallery.py.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from marked_page import write_between_marks  # noqa: E402
from measured_rows import read_rows, write_rows  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "calls.csv"
MARKS = ("<!-- table: bench/applications/calls.py -->", "<!-- end of calls -->")
PATTERNS = RESULTS.with_name("patterns")
VECTORS = "messages of v and w collectives"  # patterns hold their pairs of ranks, not their calls
FIELDS = ("application", "call", "calls", "bytes")


def vectors_of(pattern: Path) -> tuple[int, int]:
    """Messages and bytes of v and w collectives, the only ones whose pairs a traced file holds."""
    with np.load(pattern) as arrays:
        kept = [arrays[name].sum() if name in arrays else 0 for name in ("collective_messages", "collective_bytes")]
    return int(kept[0]), int(kept[1])


def rows_of(application: str, report: dict, vectors: tuple[int, int]) -> list[dict[str, object]]:
    """A row an MPI call, summed over the ranks, the most bytes first. A send counts as one call for each message."""
    sends = [(row["call"].removeprefix("MPI_"), row["messages"], row["bytes"]) for row in report["sends"]["calls"]]
    collectives = [(row["operation"], row["calls"], row["bytes"]) for row in report["calls"]]
    others = [(VECTORS, *vectors)] if vectors[0] else []
    ordered = sorted(sends + collectives + others, key=lambda row: (-row[2], -row[1], row[0]))
    return [dict(zip(FIELDS, (application, *row), strict=True)) for row in ordered]


def table(rows: list[dict[str, object]]) -> list[str]:
    """Lines of Markdown."""
    lines = ["| application | call | calls of all ranks | bytes a call |", "|---|---|---|---|"]
    for row in rows:
        calls, size = int(str(row["calls"])), int(str(row["bytes"]))
        lines.append(f"| {row['application']} | {row['call']} | {calls:,} | {size / calls:,.0f} |")
    return lines


def main() -> int:
    """Replaces the rows of these applications."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("patterns", type=Path, nargs="*", metavar="APPLICATION.npz")
    options = parser.parse_args()
    rows = read_rows(RESULTS, FIELDS)
    for pattern in options.patterns:
        pairs = PATTERNS / f"{pattern.stem}.csv"
        words = [options.build / "bin/ranktree", "convert", pattern, "-o", pairs]
        subprocess.run(words, capture_output=True, timeout=60, check=True)
        # The report needs a core for each rank; the calls do not depend on the machine.
        about = [pattern, "--machine", "core:64", "--collectives", "none", "--json"]
        words = [options.build / "bin/ranktree", "report", *about]
        report = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
        found = rows_of(pattern.stem, json.loads(report), vectors_of(pattern))
        rows = [row for row in rows if row["application"] != pattern.stem] + found
    rows.sort(key=lambda row: str(row["application"]))
    write_rows(RESULTS, rows, FIELDS)
    text = "\n".join(table(rows))
    if options.write:
        write_between_marks(options.write, MARKS, text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
