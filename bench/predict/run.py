#!/usr/bin/env python3
"""Predicted beside measured times of collectives in groups, on an emulated cluster of 4 nodes with 4 ranks each.

run.py --build build/dev [--write docs/benchmarks/predictions.md]

`ranktree calibrate` measures the links, `ranktree bench` the algorithms of hier-bcast-2014 and hier-reduce-2016 in
1, 2, 4 and 8 groups by messages, and the models of `ranktree predict` foretell them. Two tables: for each size and
algorithm the measured times, the least and largest ratio of predicted to measured time by each model, and the
predicted best number of groups with its measured time over the best measured one. --keep FOLDER keeps what was
measured; --reuse FOLDER measures nothing.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]

from demo import LATENCY, RATE, EmulatedCluster, Programs, run  # noqa: E402
from marked_page import write_between_marks  # noqa: E402

RANKS = 16
MACHINE = "node:4 core:4"
GROUPS = (1, 2, 4, 8)
SIZES = ("4K", "64K", "256K", "1M")
ALGORITHMS = {
    "bcast": ("flat", "binary", "binomial", "chain", "pipeline:segment=16K", "scatter-ring-allgather"),
    "reduce": ("flat", "binary", "binomial", "chain", "pipeline:segment=16K"),
}
MODELS = ("loggp", "hockney", "closed")
MARKS = ("<!-- tables: bench/predict/run.py -->", "<!-- end of tables -->")
BYTES_IN_MEGABYTE = 1e6


@dataclass
class Case:
    """One algorithm at one size: by number of groups the measured seconds, and the predicted ones of each model."""

    collective: str
    size: int
    algorithm: str
    measured: dict[int, float] = field(default_factory=dict)
    predicted: dict[str, dict[int, float]] = field(default_factory=dict)

    def ratios(self, model: str) -> list[float]:
        """Predicted over measured time of all groups that the model knows."""
        return [seconds / self.measured[groups] for groups, seconds in self.predicted[model].items()]

    def choice(self, model: str) -> int:
        """The number of groups that the model calls best; of equal ones the fewest."""
        return min(self.predicted[model], key=lambda groups: (round(self.predicted[model][groups], 12), groups))

    def regret(self, model: str) -> float:
        """The measured time of the predicted best groups over the best measured one."""
        return self.measured[self.choice(model)] / min(self.measured.values())


def variant(algorithm: str, groups: int) -> str:
    """As `ranktree bench --variant` takes it."""
    return f"messages:{algorithm}:groups={groups}"


def measure(build: Path, folder: Path, seconds: float) -> None:
    """Writes links.json, and bench.json with a line for each variant of each size."""
    programs = Programs(build)
    with EmulatedCluster(programs, folder / "cluster").up() as cluster, (folder / "bench.json").open("w") as lines:
        launcher = cluster.launcher("-np", RANKS)
        run([programs.ranktree, "calibrate", "-o", folder / "links.json", "--", *launcher])
        for collective, algorithms in ALGORITHMS.items():
            for size in SIZES:
                variants = [variant(each, groups) for each in algorithms for groups in GROUPS]
                options = [word for each in variants for word in ("--variant", each)]
                options += ["--sizes", size, "--seconds", seconds, "--json"]
                command = [programs.ranktree, "bench", collective, *options, "--", *launcher]
                words = list(map(str, command))
                result = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=10 * seconds + 60, check=True)
                lines.write(result.stdout)


def cases_of(lines: Iterable[str], links: Path, build: Path) -> Iterator[Case]:
    """The cases of a measured file. Predictions are of the machine that was measured."""
    sys.path.insert(0, str(build / "python"))
    from ranktree import _core  # noqa: PLC0415  of the build tree

    launch = _core.model_launch(_core.load_machine(MACHINE, None).cut_at("Core"), RANKS, str(links), False)
    found: dict[tuple[str, int, str], Case] = {}
    for row in map(json.loads, lines):
        name = row["variant"].removeprefix("messages:").rpartition(":groups=")
        if not name[0] or "median" not in row:
            continue
        key = (row["collective"], row["bytes"], name[0])
        case = found.setdefault(key, Case(*key, predicted={model: {} for model in MODELS}))
        groups = int(name[2])
        case.measured[groups] = row["median"]
        for model in MODELS:
            seconds = _core.predict_cost(*key[:2], row["variant"], launch.hierarchy, launch.parameters, model)
            if seconds is not None:
                case.predicted[model][groups] = seconds
    yield from found.values()


def size_text(size: int) -> str:
    """Kilobytes or megabytes, of 1,024."""
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K"


def table(cases: Iterable[Case]) -> Iterator[str]:
    """The Markdown table of all cases."""
    yield (
        "| collective | bytes | algorithm | measured, ms: G = "
        + " | ".join(map(str, GROUPS))
        + " | "
        + " | ".join(f"{model}, predicted / measured | best G | costs" for model in MODELS)
        + " |"
    )
    yield "|" + "---|" * (3 + len(GROUPS) + 3 * len(MODELS))
    for case in cases:
        times = [f"{case.measured[groups] * 1e3:.1f}" for groups in GROUPS]
        words = [f"{case.collective}", size_text(case.size), case.algorithm, *times]
        for model in MODELS:
            ratios = case.ratios(model)
            if not ratios:
                words += ["-", "-", "-"]
                continue
            words += [f"{min(ratios):.2f} to {max(ratios):.2f}", str(case.choice(model)), f"{case.regret(model):.2f}x"]
        yield "| " + " | ".join(words) + " |"


def quantile(values: Iterable[float], share: float) -> float:
    """A value of the list, such that `share` of them are smaller."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def summary(cases: list[Case]) -> Iterator[str]:
    """By size and model: quartiles of the ratios, and what following the model costs."""
    head = "predicted / measured: lower quartile | median | upper quartile | best G within 10 % | worst"
    yield f"| bytes | model | {head} |"
    yield "|" + "---|" * 7
    for size in sorted({case.size for case in cases}):
        for model in MODELS:
            here = [case for case in cases if case.size == size and case.ratios(model)]
            ratios = [ratio for case in here for ratio in case.ratios(model)]
            quartiles = [f"{quantile(ratios, share):.2f}" for share in (0.25, 0.5, 0.75)]
            regrets = [case.regret(model) for case in here]
            good = sum(regret <= 1.1 for regret in regrets)
            cells = [size_text(size), model, *quartiles, f"{good} of {len(regrets)}", f"{max(regrets):.2f}x"]
            yield "| " + " | ".join(cells) + " |"


def report(cases: list[Case], links: dict) -> str:
    """Both tables, with the day and the links."""
    node = links["levels"][0]
    found = f"{node['latency_s'] * 1e6:.0f} us and {1 / node['s_per_byte'] / BYTES_IN_MEGABYTE:.1f} MB/s between nodes"
    texts = [
        f"Measured on {date.today():%d %B %Y} with {links['mpi'].split(',')[0]}; links of {RATE} Mbit/s and",
        f"{LATENCY} us in one direction, two between nodes; `ranktree calibrate` found {found}.",
        "",
        *summary(cases),
        "",
        *table(cases),
    ]
    return "\n".join(texts) + "\n"


def main() -> None:
    """Measures, and prints or writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=20, help="of each collective and size (20)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables between the marks of a page")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--reuse", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = arguments.reuse or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ranktree_predict_")))
        if not arguments.reuse:
            measure(arguments.build.resolve(), folder, arguments.seconds)
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            for name in ("links.json", "bench.json"):
                shutil.copy(folder / name, arguments.keep / name)
        lines = (folder / "bench.json").read_text(encoding="utf-8").splitlines()
        cases = list(cases_of(lines, folder / "links.json", arguments.build.resolve()))
        text = report(cases, json.loads((folder / "links.json").read_text(encoding="utf-8")))
    if arguments.write:
        write_between_marks(arguments.write, MARKS, text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
