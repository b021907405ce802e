#!/usr/bin/env python3
"""Whole programs under `ranktree run --collectives auto` beside native runs: the time that auto may not lose.

run.py --build build/dev                    rows on one node, and on emulated nodes where there may be some (root)
run.py ... --load 2                         beside so many processes that compute
run.py ... --nas FOLDER --osu FOLDER --imb FOLDER
                                            also the programs of the NAS benchmarks (*.x), OSU's (osu_*) and Intel's
                                            (IMB-MPI1) there, which were built for the MPI of --mpi
run.py ... --only TEXT --pairs N            rows whose names have TEXT; runs of each kind (7)
run.py ... --decisions 20                   so many runs of each row, and how many ended with each variant: no times
run.py ... --record samples.csv             writes blocks of native calls for replay.cpp: no rows
run.py ... --results results.csv            keeps the rows there, in place of those of the same name (tables.py)

A row is run native, native again, under auto with an empty cache (first), and with the cache of an earlier run
(cached), in turn. The second native run shows what differs by chance.
Medians are printed in milliseconds, and medians of the paired ratios to native. The goal of a whole run is 1.02,
or 1 ms more, of OSU's and Intel's cells 1 / 0.95. Of decisions 19 of 20 runs end with the same variant or native.
Exit code 1 where a goal is missed. Recorded series are named quiet where the load average of the last minute is below
0.5, else busy; those of the same name are replaced.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "collect"), str(HERE.parent)]

from decisions import by_kind, flips, is_steady, last_decisions, text_of  # noqa: E402
from launches import PACKED, BenchError, Cluster, Mpi, Start, on_one_node  # noqa: E402
from measured_rows import rows_but, write_rows  # noqa: E402
from tables import FIELDS, KINDS, missed  # noqa: E402

SECONDS = 300
GOAL, GRACE, CELL_GOAL = 1.02, 1e-3, 1 / 0.95
STREAMS = [("bcast", 8), ("scatter", 8), ("scatter", 512), ("gather", 8), ("gather", 64)]
LOOPS = [("bcast", 8192), ("allreduce", 8), ("allreduce", 65536), ("reduce", 4096), ("barrier", 0)]
OSU = ("bcast", "reduce", "allreduce", "barrier", "gather", "scatter", "allgather", "reduce_scatter", "alltoall")
IMB_OPTIONS = ("-iter", 2000, "-msglog", "3:20")
SOURCES = ("nas", "osu", "imb")  # benchmarks that the user has built
AUTO = ("first", "cached")
# Recorded series: ranks, collective, bytes, calls of a block, blocks.
SERIES = [
    (4, "bcast", 8, 64, 400),
    (4, "allreduce", 8, 16, 400),
    (4, "allreduce", 65536, 16, 400),
    (4, "gather", 64, 64, 400),
    (4, "bcast", 65536, 16, 400),
    (2, "barrier", 0, 64, 400),
    (4, "allreduce", 1 << 20, 1, 400),
]
QUIET_LOAD = 0.5
TODAY = time.strftime("%Y-%m-%d")

Times = dict[str, float]  # seconds by the part of a program: "" for all of it, a size for a cell


@dataclass(frozen=True)
class Row:
    """A program with its words, and how its output is read."""

    name: str
    ranks: int
    words: list[object]
    read: Callable[[str], Times]
    goal: float = GOAL
    on_nodes: bool = False


def whole(output: str) -> Times:
    """The seconds that bench/regret/calls prints."""
    return {"": float(output.rsplit(maxsplit=1)[-1])}


def nas(output: str) -> Times:
    """The timed part of a NAS benchmark whose results are right."""
    found = re.search(r"Time in seconds\s*=\s*([0-9.]+)", output)
    if not found or not re.search(r"Verification\s*=\s*SUCCESSFUL", output):
        raise BenchError("the output has no 'Time in seconds', or no 'Verification = SUCCESSFUL'")
    if float(found[1]) == 0:
        raise BenchError("'Time in seconds' is 0: print more digits (common/*print_results.*)")
    return {"": float(found[1])}


def cells(output: str) -> Times:
    """Cells of OSU's or Intel's benchmarks: mean microseconds, the last column, by size.

    Barriers have no size: one column of OSU's, four of Intel's. Intel's calls without bytes are left out.
    """
    lines = [line.split() for line in output.splitlines() if re.fullmatch(r"[\s0-9.]*\d[\s0-9.]*", line)]
    by_size = {words[0] if len(words) in {2, 5} else "0": float(words[-1]) * 1e-6 for words in lines}
    return by_size if len(by_size) == 1 else {size: time for size, time in by_size.items() if size != "0"}


def rows_of(program: Path, options: argparse.Namespace) -> Iterator[Row]:
    """All rows, in the order of the table."""
    for times in (1, 5, 20, 100, 400):
        yield Row(f"9 collectives, {times} times", 4, [program, "mix", times], whole)
    yield Row("200 communicators x 40 calls", 4, [program, "communicators", 200, 40], whole)
    for what, size in STREAMS:
        yield Row(f"stream of 400 {what} {size} B", 4, [program, "stream", what, size, 400], whole)
    for what, size in LOOPS:
        yield Row(f"loop of 10,000 {what} {size} B", 4, [program, "isolated", what, size, 10000], whole)
    for times in (10, 100):
        yield Row(f"4x4 nodes, {times} small allreduces", 16, [program, "small", times], whole, on_nodes=True)
    for what, size, times in (("bcast", 8, 3000), ("reduce", 1024, 3000), ("bcast", 1 << 20, 150)):
        words = [program, "stream", what, size, times]
        yield Row(f"4x4 nodes, stream of {times} {what} {size} B", 16, words, whole, on_nodes=True)
    for binary in sorted(options.nas.glob("*.x")) if options.nas else []:
        yield Row(f"NAS {binary.stem}, 8 ranks", 8, [binary], nas)
        yield Row(f"4x4 nodes, NAS {binary.stem}", 16, [binary], nas, on_nodes=True)
    for name in OSU if options.osu else ():
        binary = options.osu / f"osu_{name}"
        if binary.exists():
            yield Row(f"OSU {name}", 4, [binary], cells, goal=CELL_GOAL)
    for name in OSU if options.imb else ():
        words = [options.imb / "IMB-MPI1", "-npmin", 4, *IMB_OPTIONS, name]
        yield Row(f"IMB {name}", 4, words, cells, goal=CELL_GOAL)


# In front of what the launch preloads itself: on the emulated cluster a library by which waiting ranks sleep.
PRELOADED = 'LD_PRELOAD=$0${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"'


def output_of(start: Start, variables: dict[str, object], program: list[object], library: Path | None = None) -> str:
    """What one run of a program prints, with a library preloaded."""
    preloaded = ["sh", "-c", PRELOADED, library] if library else []
    words = [*start.words, "env", *(f"{name}={value}" for name, value in variables.items()), *preloaded, *program]
    environment = {**os.environ, **start.variables}
    result = subprocess.run(
        list(map(str, words)), env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if result.returncode != 0:
        lines = [line for line in (result.stdout + result.stderr).splitlines() if re.search(r"\w", line)]
        raise BenchError(f"exit code {result.returncode}: {' / '.join(lines[-2:])[:300]}")
    return result.stdout


def run(start: Start, library: Path | None, cache: str, row: Row) -> Times:
    """The times of one run of a row, with the library and a folder of decisions."""
    variables: dict[str, object] = {"RANKTREE_COLL": "auto", "RANKTREE_COLL_CACHE": cache} if library else {}
    return row.read(output_of(start, variables, row.words, library))


def measure(start: Start, library: Path, row: Row, pairs: int) -> dict[str, list[Times]]:
    """So many runs of each kind, in turns that begin with another kind each time."""
    kinds = ("native", *KINDS)
    found: dict[str, list[Times]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory(prefix="regret-") as folder:
        run(start, library, f"{folder}/cached", row)
        for pair in range(pairs):
            first = pair % len(kinds)
            for kind in kinds[first:] + kinds[:first]:
                found[kind].append(run(start, library if kind in AUTO else None, f"{folder}/{kind}", row))
                shutil.rmtree(f"{folder}/first", ignore_errors=True)
    return found


def judged(row: Row, found: dict[str, list[Times]]) -> Iterator[dict[str, object]]:
    """A row of FIELDS for each part of a program; milliseconds."""
    for part in found["native"][0]:
        native = [times[part] for times in found["native"]]
        usual = statistics.median(native)
        values: dict[str, object] = {"row": row.name, "part": part, "native": round(usual * 1e3, 4)}
        for kind in KINDS:
            own = [times[part] for times in found[kind]]
            values[kind] = round(statistics.median(own) * 1e3, 4)
            ratios = (ours / theirs for ours, theirs in zip(own, native, strict=True))
            values[f"{kind}_ratio"] = round(statistics.median(ratios), 4)
        yield values | {"goal": round(row.goal + (GRACE / usual if row.goal == GOAL else 0.0), 4)}


def report(new: list[dict[str, object]], about: dict[str, object], results: Path | None) -> bool:
    """Prints the lines of a program, and keeps them; whether all reach the goal."""
    for each in new:
        name = f"{each['row']} {each['part']}".strip()
        numbers = " ".join(f"{each[kind]:10.3f} {each[f'{kind}_ratio']:6.3f}" for kind in KINDS)
        print(f"{name:44} {each['native']:10.3f} {numbers} {each['goal']:6.3f}", flush=True)
    if results and new:
        kept = rows_but(results, FIELDS, row=new[0]["row"], **about)
        write_rows(results, [*kept, *(about | each for each in new)], FIELDS)
    return not any(map(missed, new))


def report_decisions(start: Start, library: Path, row: Row, runs: int) -> bool:
    """Prints how many runs with an empty cache ended with each variant of each kind of call; whether they agree."""
    found = []
    with tempfile.TemporaryDirectory(prefix="regret-") as folder:
        for number in range(runs):
            log = Path(folder) / f"log{number}"
            output_of(start, {"RANKTREE_COLL": "auto", "RANKTREE_COLL_LOG": log}, row.words, library)
            found.append(last_decisions(log.read_text(encoding="utf-8") if log.exists() else ""))
    counts = by_kind(found)
    if not counts:
        print(f"{row.name:44} native {runs}", flush=True)
    for kind, of_kind in counts.items():
        print(f"{row.name:44} {kind}: {text_of(of_kind)}; {flips(of_kind)} flips", flush=True)
    return all(is_steady(each) for each in counts.values())


def record(mpi: Mpi, path: Path) -> None:
    """Adds blocks of native calls to a file of samples; series of the same names are replaced."""
    state = "quiet" if os.getloadavg()[0] < QUIET_LOAD else "busy"
    samples: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else ():
        samples.setdefault(line.split(",")[0], []).append(line)
    for ranks, what, size, calls, blocks in SERIES:
        name = f"{state} {ranks} ranks {what} {size} B {calls} calls"
        words = [mpi.program, "blocks", what, size, calls, blocks]
        printed = output_of(on_one_node(mpi, ranks), {}, words).split()
        samples[name] = [f"{name},{times}" for times in printed]
        print(f"{name}: {len(printed)} blocks", flush=True)
    lines = ["series,elapsed,in_calls", *(line for series in samples.values() for line in series)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextmanager
def loaded(processes: int) -> Iterator[None]:
    """Beside so many processes that compute."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def run_rows(rows: list[Row], start_of: Callable[[Row], Start], mpi: Mpi, options: argparse.Namespace) -> bool:
    """All rows; whether all reach their goals."""
    reached = True
    library = library_of(options.build, mpi.name)
    about = {"mpi": f"{mpi.name} {mpi.version}", "load": options.load}
    measured = {"pairs": options.pairs, "date": TODAY}
    for row in rows:
        try:
            if options.decisions:
                reached = report_decisions(start_of(row), library, row, options.decisions) and reached
            else:
                new = list(judged(row, measure(start_of(row), library, row, options.pairs)))
                reached = report([each | measured for each in new], about, options.results) and reached
        except (BenchError, subprocess.TimeoutExpired) as error:
            print(f"{row.name:44} not measured: {error}", flush=True)
            reached = False
    return reached


def library_of(build: Path, name: str) -> Path:
    """The preload library of an MPI."""
    return build / "lib" / f"libranktree_collect_{name}.so"


def run_mpi(entry: dict[str, str], options: argparse.Namespace, folder: Path) -> bool:
    """All rows of one MPI of the build."""
    program = folder / f"calls_{entry['name']}"
    subprocess.run([entry["mpicc"], "-O2", "-o", program, HERE / "calls.c"], check=True, timeout=60)
    mpi = Mpi(entry["name"], entry["family"], entry["version"], entry["mpiexec"], program)
    if options.record:
        with loaded(options.load):
            record(mpi, options.record)
        return True
    rows = [row for row in rows_of(program, options) if options.only in row.name]
    columns = f" {'native':>10}" + "".join(f" {kind:>10} {'ratio':>6}" for kind in KINDS) + "   goal"
    print(f"{mpi.name + ' ' + mpi.version:44}{' runs by their last variant' if options.decisions else columns}")
    with loaded(options.load):
        alone = [row for row in rows if not row.on_nodes]
        reached = run_rows(alone, lambda row: on_one_node(mpi, row.ranks), mpi, options)
        on_nodes = [row for row in rows if row.on_nodes]
        cluster = Cluster(options.build, folder)
        if not on_nodes or (refusal := cluster.refusal()):
            print(f"emulated nodes: {refusal if on_nodes else 'no rows'}")
            return reached
        with cluster.up(4, 200, 200):
            on_cluster = run_rows(on_nodes, lambda _: cluster.start(mpi, [4] * 4, PACKED), mpi, options)
        return on_cluster and reached


def main() -> int:
    """Exit code 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--mpi", help="one MPI of the build, else all")
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--decisions", type=int, default=0)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--results", type=Path)
    for source in SOURCES:
        parser.add_argument(f"--{source}", type=lambda text: Path(text).resolve())
    options = parser.parse_args()
    entries = json.loads((options.build / "mpis.json").read_text(encoding="utf-8"))
    built = [each for each in entries if library_of(options.build, each["name"]).exists()]
    mpis = [each for each in built if options.mpi in {None, each["name"]}]
    if not mpis:
        parser.error("no such MPI, or its library is not built")
    if (options.record or any(getattr(options, source) for source in SOURCES)) and len(mpis) > 1:
        parser.error("--record, --nas, --osu and --imb: expected --mpi, since series and programs are of one MPI")
    with tempfile.TemporaryDirectory(prefix="regret-") as folder:
        return 0 if all([run_mpi(entry, options, Path(folder)) for entry in mpis]) else 1


if __name__ == "__main__":
    sys.exit(main())
