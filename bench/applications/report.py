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


def means(rows: list[dict[str, str]]) -> list[str]:
    """Geometric means over the applications of a machine of the median time, packed = 1."""
    times: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        times.setdefault((row["machine"], row["application"], row["variant"]), []).append(float(row["seconds"]))
    medians = {key: statistics.median(found) for key, found in times.items()}
    lines = [f"| machine | applications | {' | '.join(MEANS)} |", "|" + "---|" * (2 + len(MEANS))]
    for machine in dict.fromkeys(machine for machine, _, _ in medians):
        packed = {name: each for (on, name, variant), each in medians.items() if (on, variant) == (machine, "packed")}
        for label, least in (("all {}", 0.0), (f"{{}} of {LONG:.0f} s and more", LONG)):
            names = [name for name, seconds in packed.items() if seconds >= least]
            cells = [
                mean([medians[machine, name, each] / packed[name] for name in names])
                if all((machine, name, each) in medians for name in names)
                else ""
                for each in MEANS
            ]
            if names:
                lines.append(f"| {machine} | {label.format(len(names))} | {' | '.join(cells)} |")
    return lines


def mean(ratios: list[float]) -> str:
    """Their geometric mean, where there are some."""
    return f"{statistics.geometric_mean(ratios):.2f}" if ratios else ""


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
        calls = [f"{int(run['served']):,} of {int(run['calls']):,}" for run in runs if int(run["calls"] or 0)]
        traffic = f"{statistics.median(counted) / 1e6:.1f}" if counted else ""
        beside = times_packed(groups.get((*key[:2], "packed"), []), runs)
        cells = (*key, len(runs), right, same, f"{seconds:.1f}", beside, f"{load:.0f}", traffic, (calls or [""])[-1])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def times_packed(packed: list[dict[str, str]], runs: list[dict[str, str]]) -> str:
    """The ratio of medians with its interval, where both have the same rounds, and enough of them."""
    from ranktree.runs.statistics import FEWEST, ratio_interval  # noqa: PLC0415

    pairs = [{run["round"]: float(run["seconds"]) for run in each} for each in (runs, packed)]
    if len(runs) < FEWEST or pairs[0].keys() != pairs[1].keys() or runs is packed:
        return ""
    own, others = ([times[key] for key in sorted(pairs[1])] for times in pairs)
    low, high = ratio_interval(own, others, paired=True)
    return f"{statistics.median(own) / statistics.median(others):.2f} ({low:.2f} to {high:.2f})"


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
