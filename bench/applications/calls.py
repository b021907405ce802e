#!/usr/bin/env python3
"""Which MPI calls the applications make: writes calls.csv, and prints it as Markdown.

calls.py --build BUILD [APPLICATION.npz...]        patterns that `run.py --patterns FOLDER` kept
"""

import argparse
import csv
import json
import subprocess
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "calls.csv"
VECTORS = "messages of v and w collectives"  # patterns hold their pairs of ranks, not their calls
FIELDS = ("application", "call", "calls", "bytes")


def rows_of(application: str, report: dict) -> list[dict[str, object]]:
    """A row an MPI call, summed over the ranks, the most bytes first. A send counts as one call for each message."""
    sends = [(row["call"].removeprefix("MPI_"), row["messages"], row["bytes"]) for row in report["sends"]["calls"]]
    collectives = [(row["operation"], row["calls"], row["bytes"]) for row in report["calls"]]
    vectors = [
        (VECTORS, row["messages"], row["bytes"])
        for row in report["traffic"]["classes"]
        if row["name"] == "collective" and row["messages"]
    ]
    ordered = sorted(sends + collectives + vectors, key=lambda row: (-row[2], -row[1], row[0]))
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
    parser.add_argument("patterns", type=Path, nargs="*", metavar="APPLICATION.npz")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8") as file:
            rows.extend(csv.DictReader(file))
    for pattern in options.patterns:
        # The report needs a core for each rank; the calls do not depend on the machine.
        about = [pattern, "--machine", "core:64", "--collectives", "none", "--json"]
        words = [options.build / "bin/ranktree", "report", *about]
        report = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout
        rows = [row for row in rows if row["application"] != pattern.stem] + rows_of(pattern.stem, json.loads(report))
    rows.sort(key=lambda row: str(row["application"]))
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
