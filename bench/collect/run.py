#!/usr/bin/env python3
"""Hierarchical collectives against native ones: writes results.csv, from which report.py makes the tables.

run.py --build build/dev [--only PART]... [--quick] [--csv results.csv]

bytes    bytes between nodes for one operation of 1 MiB, counted on the wires of emulated clusters of 4x4 and 4,4,4,3
         ranks, packed and round robin: Open MPI tuned and HAN, auto, manual choices, and the lower bound
cluster  times on the emulated cluster, 4x4 ranks, links of 200 Mbit/s and 200 microseconds, Open MPI
node     times on one node, 2 to 16 ranks: Open MPI by default, and the best of several of its settings
auto     auto against native: every collective, 8 bytes to 16 MiB on one node, to 1 MiB on the cluster
large    the same with 4 and 16 MiB on a cluster with links of 1 Gbit/s and 50 microseconds
mpich5-cluster, mpich5-auto, mpich5-large
         the same with MPICH 5; on one node with more ranks than cores up to 256 KiB
applications
         SUMMA and vector processing (examples/) over several hierarchies, on the cluster and on one node
fallthrough
         the time that the preload library adds to a passed-through call, in C and in Fortran, Open MPI

Variants run in turn in one process, so that other load on the machine affects all alike. Failures and timeouts are
printed on stderr and left out; the other cases continue. Rows of parts that are not run stay in the file.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import report  # noqa: E402
from applications import application_rows  # noqa: E402
from cases import NOT_SLOWER  # noqa: E402
from endings import Ended, end_by_exception  # noqa: E402
from launches import (  # noqa: E402
    PACKED,
    ROUND_ROBIN,
    BenchError,
    Cluster,
    Mpi,
    Start,
    built_mpis,
    compiled,
    counted,
    figures,
    on_one_node,
    output,
)
from rows import RESULTS, Row, load, save  # noqa: E402

KIB, MIB = 1 << 10, 1 << 20
ALL = ("broadcast", "reduce", "allreduce", "barrier", "gather", "scatter", "allgather", "reduce_scatter", "alltoall")
COUNTED = ("broadcast", "reduce", "allreduce", "allgather", "reduce_scatter")
SHAPES = {"4x4": (4, 4, 4, 4), "4,4,4,3": (4, 4, 4, 3)}
PLACEMENTS = (PACKED, ROUND_ROBIN)
# A manual hierarchical choice for each collective, measured beside auto, which may choose native.
BY_HAND = {
    "broadcast": "shared:pipeline:segment=32K",
    "reduce": "shared:pipeline:segment=32K",
    "allreduce": "shared:ring:segment=128K",
    "allgather": "messages:ring",
    "reduce_scatter": "messages:ring",
}
BY_MESSAGES = {
    "broadcast": "messages:pipeline/binomial:segment=32K",
    "reduce": "messages:pipeline/binomial:segment=32K",
    "allreduce": "messages:ring:segment=512K",
}
NODE_SIZES = (8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, 2 * MIB, 16 * MIB)
CLUSTER_SIZES = (8, KIB, 16 * KIB, 256 * KIB, MIB)
LARGE_SIZES = (4 * MIB, 16 * MIB)
SPINNING_SIZES = (8, 4 * KIB, 256 * KIB)
SLOW_LINKS, FAST_LINKS = (200, 200), (1000, 50)
CLUSTERS = tuple((shape, placement) for shape in SHAPES for placement in PLACEMENTS)
HAN = ("--mca", "coll_han_priority", "100")
# Settings of Open MPI, of which the best one counts: no single copy, and algorithms by number.
TUNED = ("--mca", "coll_tuned_use_dynamic_rules", "1")
SETTINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "broadcast": {
        "no single copy": ("--mca", "btl_vader_single_copy_mechanism", "none"),
        "binomial": (*TUNED, "--mca", "coll_tuned_bcast_algorithm", "6"),
        "pipeline": (*TUNED, "--mca", "coll_tuned_bcast_algorithm", "3"),
        "scatter ring": (*TUNED, "--mca", "coll_tuned_bcast_algorithm", "9"),
    },
    "allreduce": {
        "no single copy": ("--mca", "btl_vader_single_copy_mechanism", "none"),
        "ring": (*TUNED, "--mca", "coll_tuned_allreduce_algorithm", "4"),
        "rabenseifner": (*TUNED, "--mca", "coll_tuned_allreduce_algorithm", "6"),
        "recursive doubling": (*TUNED, "--mca", "coll_tuned_allreduce_algorithm", "3"),
    },
    "barrier": {
        "recursive doubling": (*TUNED, "--mca", "coll_tuned_barrier_algorithm", "3"),
        "tree": (*TUNED, "--mca", "coll_tuned_barrier_algorithm", "6"),
    },
}


@dataclass(frozen=True)
class Bench:
    """What all parts share."""

    mpis: dict[str, Mpi]
    cluster: Cluster
    cores: int
    reduced: bool

    def mpi(self, name: str) -> Mpi:
        """Raises BenchError when the build does not have the MPI."""
        if name not in self.mpis:
            raise BenchError(f"{name}: ranktree-bench-{name} is not built")
        return self.mpis[name]

    def some(self, sizes: Sequence[int]) -> Sequence[int]:
        """All sizes, or every third one in a reduced run."""
        return sizes[::3] if self.reduced else sizes

    def seconds(self, usual: float) -> float:
        """The time limit for one case."""
        return usual / 4 if self.reduced else usual


def timed(about: tuple[str, str, str, str], lines: Sequence[dict]) -> Iterator[Row]:
    """The rows for the output of a launch."""
    for line in lines:
        yield Row(
            *about,
            line["collective"],
            line["bytes"],
            line["variant"],
            *(line.get(name) for name in ("calls", "min", "median", "mean", "high", "cpu", "ratio")),
            wrong=line.get("wrong", ""),
        )


def words(
    collectives: Sequence[str], sizes: Sequence[int], variants: Sequence[str], seconds: float, *more: object
) -> list:
    """Arguments of ranktree-bench."""
    options = [word for variant in variants for word in ("--variant", variant)]
    return [",".join(collectives), "--sizes", ",".join(map(str, sizes)), "--seconds", seconds, *options, *more]


# -- bytes --


HEADERS = 90  # per frame: preamble, Ethernet, IP and TCP with time stamps, gap
CALLS = 4


def bytes_part(bench: Bench) -> Iterator[Row]:
    """Both shapes and placements, on fast links, because only bytes count."""
    mpi = bench.mpi("openmpi")
    with bench.cluster.up(4, 1000, 50) as cluster:
        for shape, per_node in SHAPES.items():
            for placement in PLACEMENTS:
                start = cluster.start(mpi, per_node, placement)
                machine = f"{shape} {placement}"
                for collective in COUNTED:
                    arguments = words([collective], [MIB], ["native", "auto", *hierarchical(collective)], 1)
                    lines = counted(cluster, start, mpi, arguments, CALLS, 60)
                    yield from (counted_row(("bytes", mpi.name, machine, ""), line) for line in lines)
                arguments = words(COUNTED, [MIB], ["native"], 1)
                lines = counted(cluster, start.with_options(*HAN), mpi, arguments, CALLS, 60)
                yield from (counted_row(("bytes", mpi.name, machine, "HAN"), line) for line in lines)


def hierarchical(collective: str) -> list[str]:
    """The manual choices."""
    return [each[collective] for each in (BY_HAND, BY_MESSAGES) if collective in each]


def counted_row(about: tuple[str, str, str, str], line: dict) -> Row:
    """Subtracts the frames' headers from the counted bytes; acknowledgements are headers only."""
    payload = line["inter_node_bytes"] - HEADERS * line["frames"]
    case = (line["collective"], line["bytes"], line["variant"])
    return Row(*about, *case, calls=CALLS, inter_node_bytes=line["inter_node_bytes"], payload_bytes=payload)


# -- times --


def cluster_part(bench: Bench) -> Iterator[Row]:
    """4x4 ranks on slow links, where times are steady."""
    yield from cluster_cases(bench, "cluster", bench.mpi("openmpi"), bench.seconds(6))


def cluster_cases(bench: Bench, part: str, mpi: Mpi, seconds: float) -> Iterator[Row]:
    """Broadcast, reduce and allreduce of 256 KiB to 4 MiB."""
    sizes = [MIB] if bench.reduced else [256 * KIB, MIB, 4 * MIB]
    with bench.cluster.up(4, 200, 200) as cluster:
        for placement in PLACEMENTS:
            start = cluster.start(mpi, SHAPES["4x4"], placement)
            for collective in ("broadcast", "reduce", "allreduce"):
                variants = ["native", "auto", *hierarchical(collective)]
                arguments = words([collective], sizes, variants, seconds, "--rounds", "3:50")
                lines = figures(start, mpi, arguments, 240)
                yield from timed((part, mpi.name, f"4x4 {placement}", ""), lines)


def node_part(bench: Bench) -> Iterator[Row]:
    """One node: auto and shared memory against Open MPI by default; then Open MPI with other settings."""
    mpi = bench.mpi("openmpi")
    sizes = [
        size for size in (8, KIB, 32 * KIB, 128 * KIB, 512 * KIB, 2 * MIB, 8 * MIB) if size >= KIB or not bench.reduced
    ]
    for ranks in (4, 8) if bench.reduced else (2, 4, 8, 16):
        start = on_one_node(mpi, ranks)
        for collective in ("broadcast", "allreduce", "barrier"):
            shared = "shared:dissemination" if collective == "barrier" else "shared:binomial"
            shared = "shared:recursive-doubling" if collective == "allreduce" else shared
            arguments = words([collective], sizes, ["native", "auto", shared], bench.seconds(1.2))
            yield from timed(("node", mpi.name, f"{ranks} ranks", ""), figures(start, mpi, arguments, 90))
            if bench.reduced:
                continue
            for setting, options in SETTINGS[collective].items():
                arguments = words([collective], sizes, ["native"], bench.seconds(0.4))
                lines = figures(start.with_options(*options), mpi, arguments, 60)
                yield from timed(("node", mpi.name, f"{ranks} ranks", setting), lines)


def auto_part(bench: Bench) -> Iterator[Row]:
    """All collectives, on one node and on the cluster."""
    mpi = bench.mpi("openmpi")
    yield from auto_on_node(bench, "auto", mpi, (4,) if bench.reduced else (2, 4, 8, 16), NODE_SIZES)
    yield from auto_on_cluster(bench, "auto", mpi, CLUSTER_SIZES, SLOW_LINKS, CLUSTERS)


@dataclass(frozen=True)
class Request:
    """A measurement of auto against native."""

    collective: str
    sizes: Sequence[int]
    seconds: float  # for each size
    rounds: tuple[str, ...]


def beside_native(start: Start, mpi: Mpi, request: Request) -> list[dict]:
    """Measures a case again for 10x as long when it misses the strictest limit; the second result counts, because some
    of 300 cases are slower by chance.
    """
    both = ["native", "auto"]
    lines = figures(start, mpi, words([request.collective], request.sizes, both, request.seconds, *request.rounds), 240)
    for i, line in enumerate(lines):
        if line["variant"] == "auto" and line.get("ratio", 1) < NOT_SLOWER:
            size = request.sizes[i // 2]
            longer = words([request.collective], [size], both, 10 * request.seconds, "--rounds", "15:2000")
            again = figures(start, mpi, longer, 240)
            lines[i - 1 : i + 1] = again if len(again) == len(both) else lines[i - 1 : i + 1]
    return lines


def auto_on_node(  # noqa: PLR0913, PLR0917
    bench: Bench, part: str, mpi: Mpi, counts: Sequence[int], sizes: Sequence[int], seconds: float = 0.5
) -> Iterator[Row]:
    """All collectives on one node."""
    for ranks in counts:
        for collective in ALL:
            request = Request(collective, bench.some(sizes), bench.seconds(seconds), ())
            lines = beside_native(on_one_node(mpi, ranks), mpi, request)
            yield from timed((part, mpi.name, f"{ranks} ranks", ""), lines)


def auto_on_cluster(  # noqa: PLR0913, PLR0917
    bench: Bench, part: str, mpi: Mpi, sizes: Sequence[int], links: tuple[int, int], shapes: Sequence[tuple[str, str]]
) -> Iterator[Row]:
    """All collectives on the cluster; links in Mbit/s and microseconds."""
    with bench.cluster.up(4, *links) as cluster:
        for shape, placement in shapes:
            start = cluster.start(mpi, SHAPES[shape], placement)
            for collective in ALL:
                # The median of a few calls has little meaning; large messages take too long for more.
                rounds = ("--rounds", "15:200") if links == SLOW_LINKS else ()
                request = Request(collective, bench.some(sizes), bench.seconds(1.2), rounds)
                lines = beside_native(start, mpi, request)
                yield from timed((part, mpi.name, f"{shape} {placement}", ""), lines)


def large_part(bench: Bench) -> Iterator[Row]:
    """Large messages, which would take hours on links of 200 Mbit/s."""
    yield from auto_on_cluster(bench, "large", bench.mpi("openmpi"), LARGE_SIZES, FAST_LINKS, CLUSTERS)


def mpich5_cluster_part(bench: Bench) -> Iterator[Row]:
    """The cluster with MPICH 5."""
    yield from cluster_cases(bench, "mpich5-cluster", bench.mpi("mpich5"), bench.seconds(4))


def mpich5_auto_part(bench: Bench) -> Iterator[Row]:
    """MPICH 5 spins without yielding: with more ranks than cores, a call may take seconds."""
    mpi = bench.mpi("mpich5")
    yield from auto_on_node(bench, "mpich5-auto", mpi, (bench.cores,), NODE_SIZES)
    yield from auto_on_node(bench, "mpich5-auto", mpi, (2 * bench.cores, 4 * bench.cores), SPINNING_SIZES, 4)
    yield from auto_on_cluster(bench, "mpich5-auto", mpi, CLUSTER_SIZES, SLOW_LINKS, CLUSTERS)


def mpich5_large_part(bench: Bench) -> Iterator[Row]:
    """Large messages with MPICH 5."""
    yield from auto_on_cluster(bench, "mpich5-large", bench.mpi("mpich5"), LARGE_SIZES, FAST_LINKS, CLUSTERS)


def applications_part(bench: Bench) -> Iterator[Row]:
    """On grids whose rows are nodes, and on grids whose rows span two."""
    mpi = bench.mpi("openmpi")
    with bench.cluster.up(4, 200, 200) as cluster:
        for placement in PLACEMENTS:
            start = cluster.start(mpi, SHAPES["4x4"], placement)
            yield from application_rows(mpi, f"4x4 {placement}", start, ["4x4", "2x8"])
    yield from application_rows(mpi, "8 ranks", on_one_node(mpi, 8), ["2x4"])


# -- passed-through calls --


def fallthrough_part(bench: Bench) -> Iterator[Row]:
    """Calls without bytes and without a rule: in turn without and with the preload library."""
    mpi = bench.mpi("openmpi")
    library = {"LD_PRELOAD": str(bench.cluster.build / f"lib/libranktree_collect_{mpi.name}.so")}
    variants = {
        "alone": {},
        "unset": library,
        "rules": {**library, "RANKTREE_COLL": "allreduce=messages:binomial:groups=1"},
    }
    for language, compiler, source in (("C", "mpicc", "fallthrough.c"), ("Fortran", "mpifort", "fallthrough.F90")):
        with tempfile.TemporaryDirectory(prefix="ranktree_bench_") as folder:
            program = compiled(bench.cluster.build, mpi, compiler, source, Path(folder))
            found = in_turns(mpi, program, variants, 5 if bench.reduced else 15)
        for (communicator, call, variant), times in found.items():
            machine = "2 ranks" if communicator == "world" else "1 rank"
            about = ("fallthrough", mpi.name, machine, language, call, 0, variant)
            yield Row(*about, calls=len(times), least=min(times), median=median(times), high=max(times))


def in_turns(
    mpi: Mpi, program: Path, variants: dict[str, dict[str, str]], rounds: int
) -> dict[tuple[str, str, str], list[float]]:
    """Seconds of a call by communicator, call and variant, one for each round."""
    found: dict[tuple[str, str, str], list[float]] = {}
    start = on_one_node(mpi, 2)
    for _ in range(rounds):
        for name, variables in variants.items():
            within = ["env", *(f"{key}={value}" for key, value in variables.items())]
            words = [*start.words, *within, program, 200]
            for line in output(words, start.variables).splitlines():
                communicator, nanoseconds, call = line.split(maxsplit=2)
                found.setdefault((communicator, call, name), []).append(float(nanoseconds) * 1e-9)
    return found


PARTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "bytes": bytes_part,
    "cluster": cluster_part,
    "node": node_part,
    "auto": auto_part,
    "large": large_part,
    "mpich5-cluster": mpich5_cluster_part,
    "mpich5-auto": mpich5_auto_part,
    "mpich5-large": mpich5_large_part,
    "applications": applications_part,
    "fallthrough": fallthrough_part,
}


# -- all of it --


def do(name: str, bench: Bench, path: Path) -> bool:
    """Measures one part and saves its rows as they come; returns False when it failed."""
    rows = [row for row in load(path) if row.part != name]
    start = time.monotonic()
    count = len(rows)
    try:
        for row in PARTS[name](bench):
            rows.append(row)
            save(path, rows)
            report.print_row(row)
    except BenchError as error:
        print(f"bench: {name}: {error}", file=sys.stderr)
        return False
    print(f"{name}: {len(rows) - count} rows in {time.monotonic() - start:.0f} s", flush=True)
    return len(rows) > count


def main() -> int:
    """Exit code 0 when all parts have figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--quick", dest="reduced", action="store_true", help="fewer sizes and ranks, 1/4 of the time")
    parser.add_argument("--csv", type=Path, default=RESULTS)
    options = parser.parse_args()
    end_by_exception()
    build = options.build.resolve()
    try:
        with tempfile.TemporaryDirectory(prefix="ranktree_bench_") as folder:
            cluster = Cluster(build, Path(folder))
            bench = Bench(built_mpis(build), cluster, 2, options.reduced)
            done = [do(name, bench, options.csv) for name in options.only or PARTS]
    except Ended:
        print("bench: ended by a signal", file=sys.stderr)
        return 1
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
