#!/usr/bin/env python3
"""The placement engine of one build beside that of another: cost and CPU seconds, new over old, by preset.

    compare.py --old BUILD --new BUILD [--large] [--dense] [--patterns] [--seeds 1 2] [INSTANCE...]

Costs are deterministic. What the old build reaches is kept in a file (--cache), so that several variants are compared
with one base in a few minutes; CPU seconds are compared only where both builds run (--paired).
"""

import argparse
import csv
import json
import math
import statistics
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from instances import CASES, made, ranks_of
from run import COSTS, PRESETS, chosen, output_of, short

HERE = Path(__file__).resolve().parent
LIMIT = 900  # CPU seconds
LEAST_SECONDS = 0.02  # of the results whose times are compared
Key = tuple[str, str, str]
Lines = list[tuple[float, float]]  # cost and CPU seconds by seed


def measured(program: Path, arguments: argparse.Namespace, key: Key) -> Lines:
    """Cost and CPU seconds of each seed."""
    name, costs, preset = key
    seeds = [str(seed) for seed in arguments.seeds]
    tree = CASES[name].tree
    command = [str(program), str(made(arguments.data, name)), tree, short(costs, tree), preset, *seeds]
    lines, status = output_of(command, LIMIT)
    if status != "ok":
        raise RuntimeError(f"{' '.join(command)}: {status}")
    return [(float(line[0]), float(line[1])) for line in lines]


def geometric_mean(values: list[float]) -> float:
    """1 for none."""
    return math.exp(sum(map(math.log, values)) / max(len(values), 1))


def best_peer(path: Path) -> dict[tuple[str, str], float]:
    """The lowest cost of any method of results.csv that is not ours, by instance and costs."""
    best: dict[tuple[str, str], float] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["method"] in (*PRESETS, "identity") or not row["cost"]:
                continue
            key = (row["instance"], row["costs"])
            best[key] = min(best.get(key, math.inf), float(row["cost"]))
    return best


@dataclass
class Tally:
    """What one preset reached: cost and seconds new over old, and cost over the best peer's."""

    ratios: list[tuple[float, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    over_peer: list[tuple[float, str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def add(self, where: str, before: Lines, after: Lines, peer: float) -> float:
        """One result; returns its cost, new over old."""
        ratio = 1.0 if before[0][0] == 0 else sum(line[0] for line in after) / sum(line[0] for line in before)
        spent = [sum(line[1] for line in lines) for lines in (before, after)]
        self.ratios.append((ratio, where))
        self.seconds = [a + b for a, b in zip(self.seconds, spent, strict=True)]
        if min(spent) > LEAST_SECONDS:
            self.times.append(spent[1] / spent[0])
        if peer > 0:
            self.over_peer.append((statistics.median_low([line[0] for line in after]) / peer, where))
        return ratio

    def __str__(self) -> str:
        """One line."""
        worst, where = max(self.ratios)
        peer, at = max(self.over_peer, default=(0.0, "none"))
        mean = geometric_mean([ratio for ratio, _ in self.ratios])
        return (
            f"{len(self.ratios)} results: cost {mean:.5f}, worst {worst:.4f} ({where}), "
            f"seconds {self.seconds[0]:.2f} -> {self.seconds[1]:.2f}, "
            f"time {geometric_mean(self.times):.3f} of {len(self.times)}, over the best peer {peer:.4f} ({at})"
        )


def compare(arguments: argparse.Namespace, known: dict[str, Lines]) -> dict[str, Tally]:
    """By preset; `known` is what the old build reaches."""
    old, new = (each / "bin" / "bench_place" if each.is_dir() else each for each in (arguments.old, arguments.new))
    peers = best_peer(HERE / "results.csv")
    tallies = {preset: Tally() for preset in arguments.presets}
    names = [name for name in chosen(arguments) if arguments.least <= ranks_of(name) <= arguments.most]
    for name, costs, preset in product(names, arguments.costs, arguments.presets):
        key = (name, costs, preset)
        text = " ".join((*key, *map(str, arguments.seeds)))
        if arguments.paired or text not in known:
            known[text] = measured(old, arguments, key)
        after = known[text] if old == new else measured(new, arguments, key)
        ratio = tallies[preset].add(f"{name} {costs}", known[text], after, peers.get((name, costs), 0))
        if abs(ratio - 1) >= arguments.show:
            print(f"  {preset:<8}{name:<28}{costs:<15}{ratio:.4f}", flush=True)
    return tallies


def main() -> None:
    """One line an instance that got worse or better by a share, one line a preset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True, help="a build folder, or its bench_place")
    parser.add_argument("--new", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="keep the instances here")
    parser.add_argument("--cache", type=Path, help="keep what the old build reaches here")
    parser.add_argument("--paired", action="store_true", help="run the old build too, in turn, and compare times")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--patterns", action="store_true")
    parser.add_argument("--most", type=int, default=100000, help="ranks of the largest instance")
    parser.add_argument("--least", type=int, default=0, help="ranks of the smallest instance")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--costs", nargs="+", default=list(COSTS), help="innermost first")
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=list(PRESETS))
    parser.add_argument("--show", type=float, default=0.01, help="name instances whose cost changes by this share")
    parser.add_argument("instances", nargs="*")
    arguments = parser.parse_args()
    known: dict[str, Lines] = {}
    if arguments.cache and arguments.cache.exists():
        known = json.loads(arguments.cache.read_text())
    for preset, tally in compare(arguments, known).items():
        print(f"{preset:<8}{tally}")
    if arguments.cache:
        arguments.cache.write_text(json.dumps(known))


if __name__ == "__main__":
    main()
