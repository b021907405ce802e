#!/usr/bin/env python3
"""Reproduces figures of the papers by simulation, and writes their pages.

run.py --list                              names, expected CPU seconds at most, rows that results.csv has
run.py --build build/dev [--only NAME]...  simulates what results.csv lacks, then writes docs/papers

A run that was interrupted continues: every start of the simulator adds its rows to results.csv, or to placed.csv for
treematch-2013, reorder-2011, hsplit-2018 and the targets `-better`. --again drops a target's rows first. Needs SimGrid
(Debian: simgrid, libsimgrid-dev) and the targets ranktree, _core, ranktree_core, ranktree_platform,
ranktree_preload_smpi and ranktree_mpi_c_smpi of the build; for rows of placed.csv also numpy, for treematch-2013 METIS
and Scotch (Debian: libmetis5, libscotch-7.0), for SUMMA cblas (Debian: libopenblas-serial-dev).
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pages
import placed
from placed import PLACED_TARGETS, PlacedTarget
from rows import RESULTS, Key, Time, change, key, load, missing, save
from targets import BLUEGENE, TARGETS, Sweep, Target, target_named

ROOT = Path(__file__).resolve().parents[2]
TIME_LIMIT = 1800  # seconds for one start of the simulator
SMPI_NAMES = {"broadcast": "bcast"}
MODEL = ["1", "packed", "2e-6/5e-10", "3e-7", "once"]  # of simulate.cpp: what its formulas take, and sends at once


class Simulator:
    """Compiled programs, and how they are started."""

    def __init__(self, build: Path, folder: Path) -> None:
        """Compiles both programs for SMPI."""
        self.command = build.resolve() / "bin/ranktree"
        self.schedules, self.groups = folder / "schedules", folder / "groups"
        core = build.resolve() / "lib/libranktree_core.a"
        options = ["-std=c++20", "-O2", "-DCHECKED_BYTES=-1", "-DFOLLOWED_STEPS=0", f"-I{ROOT / 'src'}"]
        self.compile([*options, ROOT / "bench/collect/simulate.cpp", core, "-o", self.schedules])
        self.compile(["-std=c++20", "-O2", ROOT / "bench/papers/groups.cpp", "-o", self.groups])
        found = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=False, timeout=60)
        version = re.search(r"\d+\.\d+(\.\d+)?", found.stdout + found.stderr)
        if version is None:
            raise RuntimeError("smpirun: its version is not known")
        self.version = version[0]

    def compile(self, arguments: list[object]) -> None:
        """One program."""
        words = [self.command, "simulate", "--compile", "--", "c++", *arguments]
        subprocess.run(list(map(str, words)), check=True, timeout=TIME_LIMIT)

    def run(self, sweep: Sweep, groups: tuple[int, ...]) -> dict[Key, Time]:
        """All of these numbers of groups in one start."""
        words: list[object] = [self.command, "simulate", "--quiet", "--share-globals", "--order", sweep.order]
        words += ["--machine", ROOT / f"machines/{sweep.machine}.json", "--np", sweep.ranks]
        if sweep.splits:
            method, _, name = sweep.algorithm.partition("smpi=")
            if sweep.machine.startswith(BLUEGENE):
                words += ["--algorithm", "barrier:ompi_tree"]  # has few messages
            words += ["--algorithm", f"{SMPI_NAMES.get(sweep.collective, sweep.collective)}:{name}"] if name else []
            words += ["--", self.groups, sweep.collective, sweep.size, method or "native", *groups]
        else:
            choices = [f"{sweep.collective},{sweep.size},{choice(sweep, each)}" for each in groups]
            words += ["--", self.schedules, *MODEL, *choices]
        done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, text=True, check=True, timeout=TIME_LIMIT)
        times = split_times(done.stdout) if sweep.splits else schedule_times(done.stdout, sweep.collective)
        if len(times) != len(groups):
            raise RuntimeError(f"{sweep}: expected {len(groups)} times, found {len(times)}")
        return {
            key(sweep, each): Time(seconds, splits, self.version)
            for each, (seconds, splits) in zip(groups, times, strict=True)
        }


def choice(sweep: Sweep, groups: int) -> str:
    """The papers' form of G groups: in an allreduce, ranks of one index in all groups, which is not the default."""
    form = ":form=same-index" if sweep.collective == "allreduce" and groups > 1 else ""
    return f"messages:{sweep.algorithm}{form}:groups={groups}"


def split_times(text: str) -> list[tuple[float, float]]:
    """Lines of groups.cpp."""
    found = re.findall(r"^groups,\d+,([^,\n]+),([^,\n]+)$", text, re.MULTILINE)
    return [(float(took), float(splits)) for splits, took in found]


def schedule_times(text: str, collective: str) -> list[tuple[float, float]]:
    """Lines of simulate.cpp."""
    found = re.findall(rf"^{collective},\d+,[^,\n]+,([^,\n]+),", text, re.MULTILINE)
    return [(float(took), 0.0) for took in found]


def reproduce(
    targets: list[Target], simulator: Simulator, results: Path, show: Callable[[int, int, str], None]
) -> None:
    """Simulates what is missing; each start's rows are saved at once."""
    rows = load(results)
    starts = [(target, sweep) for target in targets for sweep in target.sweeps]
    for done, (target, sweep) in enumerate(starts):
        show(done, len(starts), f"{target.name}: {sweep.collective} {sweep.algorithm}, {sweep.size} bytes")
        groups = missing(sweep, rows)
        if groups:
            rows = change(results, load, save, add=simulator.run(sweep, groups))
    show(len(starts), len(starts), "done")


def reproduce_placed(targets: list[PlacedTarget], build: Path, results: Path) -> None:
    """Needs the build's package, unlike the rest."""
    sys.path.insert(0, str(build.resolve() / "python"))
    import placements  # noqa: PLC0415  only some targets need it

    with tempfile.TemporaryDirectory(prefix="ranktree-papers-") as folder:
        placements.reproduce(targets, build, Path(folder), results, progress_bar)


def progress_bar(done: int, of: int, text: str) -> None:
    """On a terminal one line that is written again and again, elsewhere a line a start."""
    filled = 30 * done // max(of, 1)
    if sys.stderr.isatty():
        print(f"\r\x1b[K[{'#' * filled}{'.' * (30 - filled)}] {done}/{of} {text}", end="", file=sys.stderr, flush=True)
        if done == of:
            print(file=sys.stderr)
    else:
        print(f"{done}/{of} {text}", file=sys.stderr, flush=True)


def listing(results: Path, placed_results: Path) -> str:
    """A line a target."""
    rows, placed_rows = load(results), placed.load(placed_results)
    lines = []
    for target in TARGETS:
        wanted = sum(len(sweep.groups) for sweep in target.sweeps)
        have = wanted - sum(len(missing(sweep, rows)) for sweep in target.sweeps)
        lines.append(line_of(target, have, wanted))
    for each in PLACED_TARGETS:
        wanted = len(each.keys)
        lines.append(line_of(each, wanted - len(placed.missing(each, placed_rows)), wanted))
    return "\n".join(lines)


def line_of(target: Target | PlacedTarget, have: int, wanted: int) -> str:
    """Of the list."""
    return f"{target.name:34} {target.seconds:4} CPU s  {have:3} of {wanted:3} rows  {target.title}"


def chosen(names: list[str] | None) -> tuple[list[Target], list[PlacedTarget]]:
    """Of both kinds. Raises ValueError with the names there are."""
    if not names:
        return list(TARGETS), list(PLACED_TARGETS)
    others = {target.name: target for target in PLACED_TARGETS}
    return [target_named(name) for name in names if name not in others], [others[n] for n in names if n in others]


def forget(targets: list[Target], others: list[PlacedTarget], options: argparse.Namespace) -> None:
    """Drops the rows of these targets."""
    stale = {key(sweep, each) for target in targets for sweep in target.sweeps for each in sweep.groups}
    change(options.results, load, save, drop=stale)
    gone = {each for target in others for each in target.keys}
    change(options.placed, placed.load, placed.save, drop=gone)


def main() -> int:
    """Lists, or runs and writes the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--only", action="append", metavar="NAME", help="of --list; several times")
    parser.add_argument("--again", action="store_true", help="simulate these targets' rows anew")
    parser.add_argument("--results", type=Path, default=RESULTS, help="another results.csv; then no page is written")
    parser.add_argument("--placed", type=Path, default=placed.PLACED, help="another placed.csv; the same")
    options = parser.parse_args()
    if options.list:
        print(listing(options.results, options.placed))
        return 0
    if options.build is None:
        parser.error("expected --build or --list")
    try:
        targets, others = chosen(options.only)
        if options.again:
            forget(targets, others, options)
        if targets:
            with tempfile.TemporaryDirectory(prefix="ranktree-papers-") as folder:
                reproduce(targets, Simulator(options.build, Path(folder)), options.results, progress_bar)
        if others:
            reproduce_placed(others, options.build, options.placed)
    except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 1
    if (options.results, options.placed) == (RESULTS, placed.PLACED):
        pages.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
