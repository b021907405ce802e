#!/usr/bin/env python3
"""The performance gate: compares figures that noise cannot tip with those of table.csv.

run.py --build build/dev [--only NAME]...         exit code 1 when a figure is above its limit
run.py --build build/dev --update --why REASON    writes what was measured into table.csv, with the reason

instructions  of one call or one placement, counted by valgrind in the program's function measured()
cost          of the placement of an instance, which is the same in every run; by an objective, modelled nanoseconds
steps         collective calls that `--collectives auto` adds to a program that it must leave alone
bytes         between the emulated nodes for one collective operation of 1 MiB, headers subtracted
ratio         native time over ours, median of paired calls that slow links dominate; the limit is half of what is usual
times         instructions of a plan by time over those of a plan by bytes with the same preset; the limit is always 2

A figure may exceed the table's by its tolerance; a ratio may not fall below the table's. What cannot be measured here
(no valgrind, no network namespaces) is named and skipped.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "collect"))

from launches import (  # noqa: E402
    AS_ROOT,
    PACKED,
    BenchError,
    Cluster,
    Mpi,
    Start,
    built_mpis,
    counted,
    figures,
    on_one_node,
)

TABLE = HERE / "table.csv"
KIB, MIB = 1 << 10, 1 << 20
SECONDS = 300
INSTANCES = ("grid", "geometric", "power-law", "gravity", "uneven", "torus")
PRESETS = ("fast", "default", "strong")
MOST_TIMES = 2.0  # what placing by time may take beside placing by bytes
BROADCASTS = {"8 B": (8, 2000), "64 KiB": (64 * KIB, 200)}
# The variant of each collective whose bytes between nodes are counted, and the calls counted together.
VARIANTS = {
    "broadcast": "shared:pipeline:segment=32K",
    "reduce": "shared:pipeline:segment=32K",
    "allreduce": "shared:ring:segment=128K",
    "barrier": "shared:dissemination",
    "gather": "shared:flat",
    "scatter": "shared:flat",
    "allgather": "messages:ring",
    "reduce_scatter": "messages:ring",
    "alltoall": "messages:flat",
}
CALLS = 4
HEADERS = 90  # bytes of a frame: preamble, Ethernet, IP and TCP with its time stamps, gap
# Programs that are left alone (bench/regret/calls.c): communicators of few calls and few calls, which are over before a
# set-up pays, and a stream in which the root runs ahead.
SHORT_PROGRAMS = {
    "200 communicators x 40 calls": ("communicators", 200, 40),
    "9 collectives, 5 times": ("mix", 5),
    "3,000 broadcasts of 8 B": ("stream", "bcast", 8, 3000),
}
TOLERANCE = {"instructions": 0.03, "steps": 0.0, "cost": 0.005, "bytes": 0.02, "ratio": 0.0, "times": 0.0}


class Skipped(Exception):
    """Why a figure cannot be measured here."""


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    name: str
    kind: str
    value: float
    tolerance: float
    why: str = ""

    def limit(self) -> float:
        """The largest value that passes; of a ratio, the smallest."""
        return self.value * (1 + self.tolerance)

    def passes(self, measured: float) -> bool:
        """Whether what was measured is within the limit."""
        return measured >= self.limit() if self.kind == "ratio" else measured <= self.limit()


def read_table(path: Path = TABLE) -> dict[str, Figure]:
    """By name."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        row["name"]: Figure(row["name"], row["kind"], float(row["value"]), float(row["tolerance"]), row["why"])
        for row in rows
    }


def write_table(figures_by_name: dict[str, Figure], path: Path = TABLE) -> None:
    """Sorted by name, so that a change is a change of lines."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "kind", "value", "tolerance", "why"])
        for name in sorted(figures_by_name):
            each = figures_by_name[name]
            writer.writerow([name, each.kind, f"{each.value:.10g}", f"{each.tolerance:g}", each.why])


# -- instructions --


def instructions(words: list[object], variables: dict[str, str]) -> tuple[int, str]:
    """Of the function measured() in a run of a command, with what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        options = ["--tool=callgrind", "--toggle-collect=measured", f"--callgrind-out-file={folder}/out"]
        command = ["valgrind", *options, f"--log-file={log}", *map(str, words)]
        environment = {**os.environ, **AS_ROOT, **variables}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        if result.returncode:
            raise BenchError(f"{' '.join(command)}: exit {result.returncode}: {result.stderr.strip()[-300:]}")
        found = [line for line in log.read_text(encoding="utf-8").splitlines() if "Collected" in line]
        if not found:
            raise BenchError(f"{' '.join(command)}: valgrind printed no count")
        return int(found[0].split()[-1]), result.stdout


def per_call(words: list[object], calls: int, variables: dict[str, str] | None = None) -> float:
    """Instructions of one call."""
    return instructions([*words, calls], variables or {})[0] / calls


class Gate:
    """Measures the figures of one build."""

    def __init__(self, build: Path) -> None:
        """Nothing is measured yet."""
        self.build = build
        self.bin = build / "bin"

    def all(self) -> Iterator[tuple[str, str, Callable[[], dict[str, float]]]]:
        """Name of the group, how it may run (`counted` beside others, `alone`), and what measures it."""
        for instance in INSTANCES:
            yield f"place {instance}", "counted", lambda instance=instance: self.place(instance)
        for preset in PRESETS:
            yield f"place by objective, {preset}", "counted", lambda preset=preset: self.objectives(preset)
        yield "trace", "counted", self.trace
        yield "pass through", "counted", self.pass_through
        yield "communicator", "counted", self.communicator
        for size in BROADCASTS:
            yield f"shared broadcast {size}", "counted", lambda size=size: self.shared(size)
        yield "auto", "alone", self.auto
        yield "bytes", "alone", self.bytes
        yield "ratio", "alone", self.ratio

    def place(self, instance: str) -> dict[str, float]:
        """Cost of a placement and its instructions."""
        count, printed = instructions([self.bin / "gate_place", instance], {})
        return {f"place {instance}: instructions": count, f"place {instance}: cost": float(printed.split()[1])}

    def objectives(self, preset: str) -> dict[str, float]:
        """Modelled nanoseconds of the plans by bytes and by time, their instructions, and the quotient of these."""
        found = {}
        for name in ("bytes", "time"):
            count, printed = instructions([self.bin / "gate_objective", name, preset], {})
            group = f"place by {name}, {preset}"
            found |= {f"{group}: instructions": count, f"{group}: cost": float(printed.split()[1])}
        by_time, by_bytes = (found[f"place by {name}, {preset}: instructions"] for name in ("time", "bytes"))
        return found | {f"place by time over bytes, {preset}: times": by_time / by_bytes}

    def calls(self, mpi: str, call: str, count: int, variables: dict[str, str]) -> float:
        """Instructions of one call of an MPI program of one process."""
        return per_call([self.bin / f"gate_calls_{mpi}", call], count, variables)

    def trace(self) -> dict[str, float]:
        """What tracing adds to a message of a process to itself."""
        found = {}
        for mpi in self.mpis():
            with tempfile.TemporaryDirectory() as folder:
                traced = {"LD_PRELOAD": self.library("preload", mpi), "RANKTREE_TRACE": f"{folder}/t.npz"}
                added = self.calls(mpi, "send", 2000, traced) - self.calls(mpi, "send", 2000, {})
            found[f"trace one message, {mpi}: instructions"] = added
        return found

    def pass_through(self) -> dict[str, float]:
        """What a broadcast takes more that the collectives' library passes through to the MPI."""
        found = {}
        for mpi in self.mpis():
            served = {"LD_PRELOAD": self.library("collect", mpi), "RANKTREE_COLL": "auto"}
            added = self.calls(mpi, "broadcast", 20000, served) - self.calls(mpi, "broadcast", 20000, {})
            found[f"pass one broadcast through, {mpi}: instructions"] = added
        return found

    def communicator(self) -> dict[str, float]:
        """What `auto` adds to a communicator of one process and 40 calls, from MPI_Comm_dup to MPI_Comm_free."""
        found = {}
        for mpi in self.mpis():
            tuned = {"LD_PRELOAD": self.library("collect", mpi), "RANKTREE_COLL": "auto"}
            added = self.calls(mpi, "communicator", 200, tuned) - self.calls(mpi, "communicator", 200, {})
            found[f"auto, communicator of 40 calls, {mpi}: instructions"] = added
        return found

    def auto(self) -> dict[str, float]:
        """Ranktree's own steps in short programs of four ranks: those of MPI_Init, and no other."""
        mpi = built_mpis(self.build).get("openmpi")
        if mpi is None:
            raise Skipped("no Open MPI was built")
        start = on_one_node(mpi, 4)
        preload = f"{self.library('collect', mpi.name)}:{self.build}/lib/libgate_own_steps_{mpi.name}.so"
        found = {}
        for name, words in SHORT_PROGRAMS.items():
            program = [*start.words, "env", f"LD_PRELOAD={preload}", "RANKTREE_COLL=auto"]
            command = [str(word) for word in (*program, self.bin / f"gate_programs_{mpi.name}", *words)]
            environment = {**os.environ, **start.variables}
            result = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
            )
            steps = [int(number) for number in re.findall(r"own steps (\d+)", result.stderr)]
            if result.returncode or not steps:
                raise BenchError(f"{name}: exit {result.returncode}: {result.stderr.strip()[-300:]}")
            found[f"auto, {name}: steps"] = max(steps)
        return found

    def shared(self, size: str) -> dict[str, float]:
        """One broadcast in shared memory, all four ranks together."""
        count, calls = BROADCASTS[size]
        return {f"shared broadcast {size}: instructions": per_call([self.bin / "gate_shared", count], calls)}

    @contextmanager
    def cluster(self, rate: int, latency: int) -> Iterator[tuple[Cluster, Start, Mpi]]:
        """Four emulated nodes of four ranks, whose links have so many Mbit/s and microseconds."""
        mpi = built_mpis(self.build).get("openmpi")
        if mpi is None:
            raise Skipped("no Open MPI was built")
        with tempfile.TemporaryDirectory() as folder:
            cluster = Cluster(self.build, Path(folder))
            refusal = cluster.refusal()
            if refusal:
                raise Skipped(refusal)
            with cluster.up(4, rate, latency):
                yield cluster, cluster.start(mpi, (4, 4, 4, 4), PACKED), mpi

    def bytes(self) -> dict[str, float]:
        """Between nodes, of one operation of each collective."""
        found = {}
        with self.cluster(1000, 50) as (cluster, start, mpi):
            for collective, variant in VARIANTS.items():
                size = 64 * KIB if collective == "alltoall" else MIB
                words = [collective, "--sizes", size, "--seconds", 1, "--variant", variant]
                for line in counted(cluster, start, mpi, words, CALLS, SECONDS):
                    payload = line["inter_node_bytes"] - HEADERS * line["frames"]
                    found[f"{collective} {variant}: bytes"] = payload
        if len(found) < len(VARIANTS):
            raise BenchError(f"{len(found)} of {len(VARIANTS)} collectives gave a figure")
        return found

    def ratio(self) -> dict[str, float]:
        """A broadcast of 256 KiB, whose time the links decide and not the load of this machine."""
        variant = VARIANTS["broadcast"]
        words = ["broadcast", "--sizes", 256 * KIB, "--seconds", 3, "--variant", "native", "--variant", variant]
        with self.cluster(200, 200) as (_, start, mpi):
            ours = [line for line in figures(start, mpi, words, SECONDS) if line["variant"] == variant]
        if not ours:
            raise BenchError("broadcast 256 KiB: no figure")
        return {f"broadcast 256 KiB, native over {variant}: ratio": ours[0]["ratio"]}

    def mpis(self) -> list[str]:
        """Those that the calls were built for."""
        found = [mpi for mpi in ("openmpi", "mpich") if (self.bin / f"gate_calls_{mpi}").exists()]
        if not found:
            raise Skipped("no MPI was built")
        return found

    def library(self, kind: str, mpi: str) -> str:
        """A preload library."""
        path = self.build / f"lib/libranktree_{kind}_{mpi}.so"
        if not path.exists():
            raise BenchError(f"{path}: not built")
        return str(path)


def measure(gate: Gate, only: list[str]) -> tuple[dict[str, float], list[str], list[str]]:
    """What was measured, what was skipped with the reason, and what failed. Counting does not mind company: it runs on
    all cores at the same time.
    """
    found: dict[str, float] = {}
    skipped: list[str] = []
    failed: list[str] = []

    def one(group: tuple[str, str, Callable[[], dict[str, float]]]) -> None:
        name, _, run = group
        start = time.monotonic()
        try:
            measured = run()
            found.update(measured)
            print(f"  {name}: {len(measured)} figures in {time.monotonic() - start:.0f} s", file=sys.stderr)
        except Skipped as reason:
            skipped.append(f"{name}: {reason}")
        except (BenchError, subprocess.TimeoutExpired) as error:
            failed.append(f"{name}: {error}")

    groups = [group for group in gate.all() if not only or any(group[0].startswith(each) for each in only)]
    if any(how == "counted" for _, how, _ in groups) and shutil.which("valgrind") is None:
        skipped.append("instructions: valgrind is not installed")
        groups = [group for group in groups if group[1] == "alone"]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(one, [group for group in groups if group[1] == "counted"]))
    for group in groups:
        if group[1] == "alone":
            one(group)
    return found, skipped, failed


def compare(table: dict[str, Figure], found: dict[str, float]) -> list[str]:
    """Prints one line a figure; the names of those above their limits, or unknown to the table."""
    missed = []
    for name in sorted(found):
        measured = found[name]
        if name not in table:
            print(f"{name:<62} {measured:>14.6g}  not in {TABLE.name}: run with --update --why REASON")
            missed.append(name)
            continue
        figure = table[name]
        change = measured / figure.value - 1 if figure.value else 0.0
        verdict = "ok" if figure.passes(measured) else f"MISSED: the limit is {figure.limit():.6g}"
        print(f"{name:<62} {measured:>14.6g}  table {figure.value:.6g} ({change:+.1%})  {verdict}")
        if not figure.passes(measured):
            missed.append(name)
    return missed


def updated(table: dict[str, Figure], found: dict[str, float], why: str) -> dict[str, Figure]:
    """The table with what was measured. A ratio's limit is half of it, that of times stays; what moved by less than its
    tolerance stays.
    """
    result = dict(table)
    for name, measured in found.items():
        kind = name.rsplit(": ", 1)[1]
        known = table.get(name)
        if kind in ("ratio", "times"):
            if known is None:
                limit = measured / 2 if kind == "ratio" else MOST_TIMES
                result[name] = Figure(name, kind, limit, TOLERANCE[kind], why)
        elif known is None:
            result[name] = Figure(name, kind, measured, TOLERANCE[kind], why)
        elif abs(measured - known.value) > known.tolerance * known.value / 3:
            result[name] = replace(known, value=measured, why=why)
    return result


def print_names(lists: dict[str, list[str]]) -> None:
    """A line for each."""
    for what, names in lists.items():
        for name in names:
            print(f"{what}: {name}")


def main() -> int:
    """Measures and compares, or writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="the build folder")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="groups of figures whose names begin so: place, trace, pass through, shared broadcast, auto, bytes, ratio",
    )
    parser.add_argument("--update", action="store_true", help="write the table")
    parser.add_argument("--why", help="with --update: the reason, which the table keeps")
    options = parser.parse_args()
    if options.update and not options.why:
        parser.error("--update: expected --why REASON")
    names = [name for name, _, _ in Gate(options.build).all()]
    unknown = [each for each in options.only if not any(name.startswith(each) for name in names)]
    if unknown:
        parser.error(f"--only {unknown[0]}: expected the beginning of one of: {', '.join(names)}")
    found, skipped, failed = measure(Gate(options.build.resolve()), options.only)
    table = read_table() if TABLE.exists() else {}
    if options.update:
        write_table(updated(table, found, options.why))
        table = read_table()
    missed = compare(table, found)
    absent = [] if options.only else sorted(set(table) - set(found))
    print_names({"not measured": absent, "skipped": skipped, "failed": failed})
    print(f"{len(found) - len(missed)} figures within their limits, {len(missed)} above, {len(skipped)} groups skipped")
    return 1 if missed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
