#!/usr/bin/env python3
"""Hierarchical collectives at scale on SimGrid's simulated MPI: simulated seconds against the models.

simulate.py --build build/dev [--only groups|nodes]... [--quick] [--csv simulated.csv]

groups   hier-bcast-2014 §4.2 and hier-reduce-2016 §4: the same algorithm in G groups, ranks on nodes of their own
nodes    16 nodes of 8 ranks each: schedules over nodes against flat ones and SMPI's own choices

Needs SimGrid with SMPI (Debian: simgrid, libsimgrid-dev) and a built libranktree_core.a. The simulation covers every
message, on links of fixed latency and bandwidth that messages share (SimGrid's CM02, no cross traffic), and o
seconds of a rank for each send or receive. A rank sends in turn, each message when the one before has arrived, as in
the papers' models, or at once, as the library does: then its messages to different ranks share its link. It does not
cover computation, copies, combining, and an MPI's protocols and caches.
Markdown tables go to stdout, progress to stderr, rows to the csv file. The script makes the platforms itself.
"""

import argparse
import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KIB, MIB = 1 << 10, 1 << 20
TIME_LIMIT = 900  # seconds for one start of the simulator
NATIVES = ("ompi", "mpich")  # SMPI's imitations of their choices
FLAT, PACKED, ROUND_ROBIN = "flat", "packed", "round-robin"
TURN, ONCE = "turn", "once"


@dataclass(frozen=True)
class Link:
    """Of the network between two ranks, without what the ranks do for a message."""

    latency: float  # seconds
    rate: float  # bytes a second


@dataclass(frozen=True)
class Platform:
    """`nodes` nodes of `width` ranks; `inside` is not used where the width is 1."""

    name: str
    nodes: int
    width: int
    overhead: float
    between: Link
    inside: Link

    @property
    def ranks(self) -> int:
        """All of them."""
        return self.nodes * self.width

    def links(self) -> str:
        """The models' latencies have the overheads of both ends in them."""
        used = (self.between,) if self.width == 1 else (self.between, self.inside)
        return ",".join(f"{link.latency + 2 * self.overhead!r}/{1 / link.rate!r}" for link in used)


GIGABIT = Link(50e-6, 125e6)
INFINIBAND = Link(2e-6, 2.5e9)
MODERN, MEMORY = Link(1.4e-6, 10e9), Link(0.4e-6, 12.5e9)


def graphene(ranks: int, link: Link) -> Platform:
    """Like Grid'5000 Graphene with one rank a node, equal links as in the papers' models."""
    name = "Gigabit Ethernet" if link is GIGABIT else "20 Gb/s InfiniBand"
    return Platform(name, ranks, 1, 0.5e-6, link, link)


def cluster(nodes: int, width: int) -> Platform:
    """100 Gb/s between nodes, shared by the ranks of a node."""
    return Platform(f"{nodes} nodes x {width}", nodes, width, 0.3e-6, MODERN, MEMORY)


@dataclass(frozen=True)
class Case:
    """One operation: `choice` as in rules, or `native`."""

    collective: str
    size: int
    choice: str


@dataclass(frozen=True)
class Row:
    """Seconds; None where a model has none."""

    platform: str
    placement: str
    case: Case
    by: str  # TURN, ONCE, or whose choices native ones are
    simulated: float
    closed: float | None
    hockney: float | None
    loggp: float | None


def platform_xml(platform: Platform) -> Iterator[str]:
    """Hosts are ranks; those of a node share one wire per direction, which messages to and from other nodes cross."""
    yield '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    yield '<platform version="4.1">'
    one = platform.width == 1
    link = platform.between if one else platform.inside
    shape = f'speed="1Gf" bw="{link.rate}Bps" lat="{link.latency / 2}s" sharing_policy="SPLITDUPLEX"'
    if one:
        yield f'<cluster id="all" prefix="n" suffix="-0" radical="0-{platform.nodes - 1}" {shape}/></platform>'
        return
    yield '<zone id="all" routing="Full">'
    for node in range(platform.nodes):
        radical = f'radical="0-{platform.width - 1}" router_id="r{node}"'
        yield f'<cluster id="z{node}" prefix="n{node}-" suffix="" {radical} {shape}/>'
    half = (platform.between.latency - platform.inside.latency) / 2
    for node in range(platform.nodes):
        wire = f'bandwidth="{platform.between.rate}Bps" latency="{half}s" sharing_policy="SPLITDUPLEX"'
        yield f'<link id="w{node}" {wire}/>'
    for a in range(platform.nodes):
        for b in range(platform.nodes):
            if a != b:
                ends = f'src="z{a}" dst="z{b}" gw_src="r{a}" gw_dst="r{b}" symmetrical="NO"'
                wires = f'<link_ctn id="w{a}" direction="UP"/><link_ctn id="w{b}" direction="DOWN"/>'
                yield f"<zoneRoute {ends}>{wires}</zoneRoute>"
    yield "</zone></platform>"


def hosts(platform: Platform, placement: str) -> list[str]:
    """Of the ranks."""
    if placement == ROUND_ROBIN:
        return [f"n{rank % platform.nodes}-{rank // platform.nodes}" for rank in range(platform.ranks)]
    return [f"n{rank // platform.width}-{rank % platform.width}" for rank in range(platform.ranks)]


class Simulator:
    """The compiled program, and where its files are."""

    def __init__(self, build: Path, folder: Path) -> None:
        """Compiles; needs smpicxx and the core library of `build`."""
        for tool in ("smpicxx", "smpirun"):
            if shutil.which(tool) is None:
                raise RuntimeError(f"{tool} is not here (Debian: simgrid, libsimgrid-dev)")
        library = build / "lib/libranktree_core.a"
        if not library.exists():
            raise RuntimeError(f"{library}: not there (ninja -C {build} ranktree_core)")
        self.folder = folder
        self.program = folder / "simulate"
        source = HERE / "simulate.cpp"
        command = ["smpicxx", "-std=c++20", "-O2", f"-I{ROOT / 'src'}", str(source), str(library)]
        subprocess.run([*command, "-o", str(self.program)], check=True, timeout=TIME_LIMIT)

    def run(self, platform: Platform, placement: str, cases: Sequence[Case], by: str) -> list[Row]:
        """All cases in one start."""
        xml, hostfile = self.folder / "platform.xml", self.folder / "hosts"
        xml.write_text("\n".join(platform_xml(platform)) + "\n", encoding="utf-8")
        hostfile.write_text("\n".join(hosts(platform, placement)) + "\n", encoding="utf-8")
        o = f"0:{platform.overhead!r}:0"
        settings = [
            "network/model:CM02",
            "network/crosstraffic:no",
            "network/TCP-gamma:0",
            "smpi/simulate-computation:no",
            "smpi/privatization:no",  # the program has no globals
            f"smpi/os:{o}",
            f"smpi/ois:{o}",
            f"smpi/or:{o}",
        ]
        if by == TURN:
            settings.append("smpi/send-is-detached-thresh:0")  # sends end when the message has arrived
        if by in NATIVES:
            settings.append(f"smpi/coll-selector:{by}")
        command = ["smpirun", "-np", str(platform.ranks), "-platform", str(xml), "-hostfile", str(hostfile)]
        command += [f"--cfg={setting}" for setting in settings]
        command += ["--log=root.thres:warning", str(self.program), str(platform.width)]
        command += ["packed" if placement == FLAT else placement, platform.links(), repr(platform.overhead)]
        command.append(TURN if by == TURN else ONCE)
        command += [f"{case.collective},{case.size},{case.choice}" for case in cases]
        lines = started(command).splitlines()
        rows = [row_of(platform.name, placement, by, line) for line in lines if line.count(",") == COMMAS]
        if len(rows) != len(cases):
            raise RuntimeError(f"{platform.name}: expected {len(cases)} results, found {len(rows)}")
        return rows


COMMAS = 6


def started(command: Sequence[str]) -> str:
    """What it wrote; smpirun's children end with it."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, _ = process.communicate(timeout=TIME_LIMIT)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode != 0:
        raise RuntimeError(f"smpirun ended with {process.returncode}: {' '.join(command[-3:])}")
    return out


def row_of(platform: str, placement: str, by: str, line: str) -> Row:
    """One line of the program's."""
    collective, size, choice, *seconds = line.split(",")
    simulated, closed, hockney, loggp = (None if text == "-" else float(text) for text in seconds)
    if simulated is None:
        raise RuntimeError(f"no time: {line}")
    return Row(platform, placement, Case(collective, int(size), choice), by, simulated, closed, hockney, loggp)


# --- groups of equal links


@dataclass(frozen=True)
class Sweep:
    """One algorithm on one platform for every G."""

    platform: Platform
    collective: str
    size: int
    algorithm: str  # with a segment, if any

    def case(self, groups: int) -> Case:
        """The papers' form of G groups."""
        return Case(self.collective, self.size, f"messages:{self.algorithm}:groups={groups}")


def sweeps(reduced: bool) -> list[Sweep]:
    """The papers' cases, and larger ones."""
    ranks = 16 if reduced else 128
    found = []
    for link in (GIGABIT, INFINIBAND):
        platform = graphene(ranks, link)
        for size in (16 * KIB, 16 * MIB):
            found += [Sweep(platform, kind, size, "chain") for kind in ("broadcast", "reduce")]
        found += [Sweep(platform, kind, 16 * KIB, "pipeline:segment=1K") for kind in ("broadcast", "reduce")]
        found += [Sweep(platform, kind, 16 * MIB, "pipeline:segment=64K") for kind in ("broadcast", "reduce")]
    gigabit = graphene(ranks, GIGABIT)
    found += [Sweep(gigabit, "broadcast", size, "scatter-ring-allgather") for size in (64 * KIB, 512 * KIB, 4 * MIB)]
    if not reduced:
        large = graphene(1024, GIGABIT)
        found += [Sweep(large, "broadcast", size, "chain") for size in (16 * KIB, 16 * MIB)]
        found.append(Sweep(large, "reduce", 16 * MIB, "chain"))
        found.append(Sweep(large, "broadcast", 16 * MIB, "pipeline:segment=256K"))
    return found


def powers(most: int) -> list[int]:
    """1, 2, 4, ... most."""
    return [1 << bit for bit in range(most.bit_length())]


def group_rows(simulator: Simulator, reduced: bool) -> tuple[list[Row], str]:
    """Every sweep, and its table."""
    rows: list[Row] = []
    table = [
        "| links | ranks | operation | in turn: G = 1 | best G | gain | formula: best G | gain"
        " | at once: G = 1 | best G | gain | LogGP: best G | gain |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for sweep in sweeps(reduced):
        groups = powers(sweep.platform.ranks)[:-1]  # G = p is G = 1
        cells = [
            sweep.platform.name,
            str(sweep.platform.ranks),
            f"{sweep.collective} {size_text(sweep.size)} {sweep.algorithm.replace(':segment=', ', ')}",
        ]
        for by in (TURN, ONCE):
            found = simulator.run(sweep.platform, FLAT, [sweep.case(each) for each in groups], by)
            rows += found
            cells.append(time_text(found[0].simulated))
            cells += best_of(groups, [row.simulated for row in found])
            cells += best_of(groups, [row.closed if by == TURN else row.loggp for row in found])
        table.append("| " + " | ".join(cells) + " |")
        progress(table[-1])
    return rows, "\n".join(table)


def best_of(groups: list[int], times: list[float | None]) -> list[str]:
    """The G whose time is least, and how much less than that of G = 1."""
    known = [each for each in times if each is not None]
    if len(known) < len(times):
        return ["-", "-"]
    best = known.index(min(known))
    return [str(groups[best]), f"{known[0] / known[best]:.2f}"]


# --- nodes


def node_cases(reduced: bool) -> dict[tuple[str, int], list[str]]:
    """Choices for each collective and size: one over all ranks, then over nodes."""
    trees = ["messages:binomial:groups=1", "messages:binomial:form=leaders"]
    cases = {
        ("broadcast", 8): trees,
        ("broadcast", MIB): [
            "messages:binomial:groups=1",
            "messages:pipeline:segment=64K:groups=1",
            "messages:pipeline/binomial:form=leaders:segment=64K",
        ],
        ("reduce", MIB): [
            "messages:binomial:groups=1",
            "messages:rabenseifner:groups=1",
            "messages:pipeline/binomial:form=leaders:segment=64K",
            "messages:rabenseifner:form=lanes",
        ],
        ("allreduce", 8): [
            "messages:recursive-doubling:groups=1",
            "messages:recursive-doubling/binomial:form=leaders",
        ],
        ("allreduce", MIB): [
            "messages:rabenseifner:groups=1",
            "messages:rabenseifner:form=same-index",
            "messages:rabenseifner:form=lanes",
        ],
        ("alltoall", 8): [
            "messages:bruck:groups=1",
            "messages:bruck:form=lanes",
            "messages:bruck/binomial:form=leaders",
        ],
        ("alltoall", KIB): [
            "messages:flat:groups=1",
            "messages:flat:form=lanes",
            "messages:flat/binomial:form=leaders",
        ],
        ("alltoall", 16 * KIB): ["messages:flat:groups=1", "messages:flat:form=lanes"],
    }
    if reduced:
        del cases["alltoall", 16 * KIB]
    return cases


def node_rows(simulator: Simulator, reduced: bool) -> tuple[list[Row], str]:
    """Each placement."""
    rows: list[Row] = []
    platform = cluster(4, 4) if reduced else cluster(16, 8)
    for placement in (PACKED, ROUND_ROBIN):
        rows += placed_rows(simulator, platform, placement, reduced)
    table = [
        "| platform | placement | operation | choice | at once | Open MPI / MPICH | in turn | closed | Hockney |"
        " LogGP / at once |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    seconds = {(row.platform, row.placement, row.case, row.by): row.simulated for row in rows}
    for row in rows:
        if row.by != ONCE:
            continue
        native = Case(row.case.collective, row.case.size, "native")
        others = [seconds[row.platform, row.placement, native, name] / row.simulated for name in NATIVES]
        turn = seconds[row.platform, row.placement, row.case, TURN]
        cells = [
            row.platform,
            row.placement,
            f"{row.case.collective} {size_text(row.case.size)}",
            row.case.choice.removeprefix("messages:"),
            time_text(row.simulated),
            " / ".join(f"{each:.2f}" for each in others),
            time_text(turn),
            ratio(row.closed, turn),
            ratio(row.hockney, turn),
            ratio(row.loggp, row.simulated),
        ]
        table.append("| " + " | ".join(cells) + " |")
    return rows, "\n".join(table)


def ratio(model: float | None, simulated: float) -> str:
    """How right a model is."""
    return f"{model / simulated:.2f}" if model else "-"


def placed_rows(simulator: Simulator, platform: Platform, placement: str, reduced: bool) -> list[Row]:
    """Ours, then SMPI's own by each imitation."""
    choices = node_cases(reduced)
    cases = [Case(*key, choice) for key, found in choices.items() for choice in found]
    rows = simulator.run(platform, placement, cases, ONCE) + simulator.run(platform, placement, cases, TURN)
    natives = [Case(*key, "native") for key in choices]
    for selector in NATIVES:
        rows += simulator.run(platform, placement, natives, selector)
    progress(f"{platform.name} {placement}")
    return rows


# --- output


def progress(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def size_text(size: int) -> str:
    """`64 KiB`."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def time_text(seconds: float) -> str:
    """`1.23 ms`."""
    for unit, name in ((1, "s"), (1e-3, "ms")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e6:.3g} us"


def save(path: Path, rows: list[Row]) -> None:
    """Atomically."""
    temporary = path.with_suffix(path.suffix + ".new")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["platform", "placement", "by", "collective", "bytes", "choice", "simulated", "closed", "hockney", "loggp"]
        )
        for row in rows:
            case = [row.case.collective, row.case.size, row.case.choice]
            times = ["" if each is None else each for each in (row.simulated, row.closed, row.hockney, row.loggp)]
            writer.writerow([row.platform, row.placement, row.by, *case, *times])
    temporary.replace(path)


def main() -> int:
    """Runs the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--only", action="append", choices=("groups", "nodes"))
    parser.add_argument("--quick", dest="reduced", action="store_true", help="16 ranks, to see that it works")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    parts = {"groups": group_rows, "nodes": node_rows}
    rows: list[Row] = []
    try:
        with tempfile.TemporaryDirectory(prefix="ranktree-simulate-") as folder:
            simulator = Simulator(options.build, Path(folder))
            for name, part in parts.items():
                if options.only and name not in options.only:
                    continue
                found, table = part(simulator, options.reduced)
                rows += found
                print(table + "\n", flush=True)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"simulate.py: {error}", file=sys.stderr)
        return 1
    if options.csv:
        save(options.csv, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
