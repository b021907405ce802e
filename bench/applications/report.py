#!/usr/bin/env python3
"""Prints the tables of results.csv as Markdown.

report.py [FILE]
"""

import csv
import statistics
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results.csv"
HEAD = "| application | machine | variant | runs | right | same output | median s | load | MB between nodes |"


def table(rows: list[dict[str, str]]) -> list[str]:
    """A line a variant, in the order of the file."""
    lines = [HEAD, "|" + "---|" * HEAD.count(" | ") + "---|"]
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault((row["application"], row["machine"], row["variant"]), []).append(row)
    for key, runs in groups.items():
        right, same = (sum(run[column] == "True" for run in runs) for column in ("right", "same"))
        seconds, load = (statistics.median(float(run[column]) for run in runs) for column in ("seconds", "load"))
        counted = [int(run["bytes"]) for run in runs if run["bytes"]]
        traffic = f"{statistics.median(counted) / 1e6:.1f}" if counted else ""
        cells = (*key, len(runs), right, same, f"{seconds:.1f}", f"{load:.0f}", traffic)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def main() -> int:
    """Reads the file of measured runs."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    with path.open(encoding="utf-8") as file:
        print("\n".join(table(list(csv.DictReader(file)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
