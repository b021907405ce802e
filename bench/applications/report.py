#!/usr/bin/env python3
"""Prints the tables of results.csv as Markdown: means by machine, and all variants.

report.py --build BUILD [--write PAGE] [FILE]        --write puts it between the marks of a page

From five rounds on, the time of a variant beside packed order has a 95 % interval, as in `ranktree compare`: rounds are
drawn, for what slows a round down slows all its runs.
"""

import argparse
import csv
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from marked_page import write_between_marks  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results.csv"
MARKS = ("<!-- table: bench/applications/report.py -->", "<!-- end of runs -->")
HEAD = (
    "| application | machine | variant | runs | right | same output | median s | times packed (95 % interval) | load "
    "| MB between nodes | calls served |"
)
MEANS = ("traced", "round robin", "plan", "reordered", "reordered by time", "auto, first run", "auto, cached", "all")
LONG = 5.0  # seconds of a packed run, in which starting counts for little
Runs = list[dict[str, str]]


def by_variant(rows: Runs) -> dict[tuple[str, str, str], Runs]:
    """The runs by application, machine and variant, in the order of the file."""
    groups: dict[tuple[str, str, str], Runs] = {}
    for row in rows:
        groups.setdefault((row["application"], row["machine"], row["variant"]), []).append(row)
    return groups


def median(runs: Runs, column: str) -> float:
    """Of numbers."""
    return statistics.median(float(run[column]) for run in runs)


def means(rows: Runs) -> list[str]:
    """Geometric means over the applications of a machine of the median time, packed = 1."""
    seconds = {key: median(runs, "seconds") for key, runs in by_variant(rows).items()}
    lines = [f"| machine | applications | {' | '.join(MEANS)} |", "|" + "---|" * (2 + len(MEANS))]
    for machine in dict.fromkeys(machine for _, machine, _ in seconds):
        every = [name for name, on, variant in seconds if (on, variant) == (machine, "packed")]
        long = [name for name in every if seconds[name, machine, "packed"] >= LONG]
        for label, names in ((f"all {len(every)}", every), (f"{len(long)} of {LONG:.0f} s and more", long)):
            if names:
                cells = [mean(seconds, names, machine, variant) for variant in MEANS]
                lines.append(f"| {machine} | {label} | {' | '.join(cells)} |")
    return lines


def mean(seconds: dict[tuple[str, str, str], float], names: list[str], machine: str, variant: str) -> str:
    """Of one variant; empty where an application has none."""
    if not all((name, machine, variant) in seconds for name in names):
        return ""
    ratios = [seconds[name, machine, variant] / seconds[name, machine, "packed"] for name in names]
    return f"{statistics.geometric_mean(ratios):.2f}"


def table(rows: Runs) -> list[str]:
    """A line a variant, in the order of the file."""
    lines = [HEAD, "|" + "---|" * HEAD.count(" | ") + "---|"]
    groups = by_variant(rows)
    for key, runs in groups.items():
        right, same = (sum(run[column] == "True" for run in runs) for column in ("right", "same"))
        seconds, load = median(runs, "seconds"), median(runs, "load")
        counted = [int(run["bytes"]) for run in runs if run["bytes"]]
        calls = [f"{int(run['served']):,} of {int(run['calls']):,}" for run in runs if int(run["calls"] or 0)]
        traffic = f"{statistics.median(counted) / 1e6:.1f}" if counted else ""
        beside = times_packed(groups.get((*key[:2], "packed"), []), runs)
        cells = (*key, len(runs), right, same, f"{seconds:.1f}", beside, f"{load:.0f}", traffic, (calls or [""])[-1])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def times_packed(packed: Runs, runs: Runs) -> str:
    """The ratio of medians where both have the same rounds, with its interval where there are enough of them."""
    from ranktree.runs.statistics import FEWEST, ratio_interval  # noqa: PLC0415

    pairs = [{run["round"]: float(run["seconds"]) for run in each} for each in (runs, packed)]
    if not runs or pairs[0].keys() != pairs[1].keys() or runs is packed:
        return ""
    own, others = ([times[key] for key in sorted(pairs[1])] for times in pairs)
    ratio = f"{statistics.median(own) / statistics.median(others):.2f}"
    if len(runs) < FEWEST:
        return ratio
    low, high = ratio_interval(own, others, paired=True)
    return f"{ratio} ({low:.2f} to {high:.2f})"


def main() -> int:
    """Reads the file of measured runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="has the package of Python")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("path", type=Path, nargs="?", default=RESULTS, metavar="FILE")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build / "python"))
    with options.path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    text = "\n".join([*means(rows), "", *table(rows)])
    if options.write:
        write_between_marks(options.write, MARKS, text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
