"""What is placed, simulated and timed for each figure of treematch-2013, reorder-2011 and hsplit-2018.

One row for each case in placed.csv.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACED = HERE / "placed.csv"
TREEMATCH, REORDER, HSPLIT = "treematch-2013", "reorder-2011", "hsplit-2018"
HEADER = ("machine", "kernel", "ranks", "placement", "hop_bytes", "between_nodes", "seconds", "answer", "version")
ONE_SWITCH, TWO_SWITCHES, NARROW = "1 switch", "2 switches", "2 switches, 4:1"
PAPER_TREE, PAPER_NODE, ARITIES = "128 switches", "figure 5(b)", "any level"
EXAMPLE, ARITY, ALL_PAIRS, CALL = "figure 5(a)", "arity", "all pairs", "reordering"
NAS = ("cg.C", "ft.C", "lu.C", "cg.D", "ft.D", "lu.D")
LONGEST = "lu.D"  # of 256 ranks: minutes a placement
NAS_SECONDS = {"cg.C": 15, "lu.C": 30, "ft.C": 15}  # CPU seconds of one simulation of 128 ranks at most
ZEUS, ZEUS_SHORT = "zeus.16", "zeus.16s"
RINGS = ("rings.4K", "rings.64K", "rings.1M")
WIEDEMANN = ("wiedemann.1M", "wiedemann.4M")
SIZES = (64, 128, 256)
ORDERS = ("packed", "round robin", "over nodes", "random")
OURS = ("engine", "engine, time")
PEERS = ("Scotch", "Scotch, large weights", "METIS")
BY_METRIC = ("TreeMatch size", "TreeMatch msg", "TreeMatch avg")
BY_NODE = ("TreeMatch by node, size", "TreeMatch by node, msg")
PLACEMENTS = (*BY_METRIC, *OURS, *ORDERS, *PEERS)
POINT_TO_POINT = " p2p"  # placed without the messages of collective calls
BY_CALLS = tuple(f"{name}{POINT_TO_POINT}" for name in BY_METRIC[:2])
REORDERED = (*BY_METRIC[:2], *OURS, "packed", "round robin", "over nodes")
NAS_PLACEMENTS = (*BY_METRIC, *OURS, "packed", "round robin", "random", "Scotch", "METIS")
NAS_BY_CLASS = tuple(name for name in NAS_PLACEMENTS if name not in ("TreeMatch avg", "random"))  # those of the figures
TIMED = ("TreeMatch", "engine", "Scotch", "METIS")  # on a matrix of all pairs
MODES = ("central", "node")  # of a call that reorders
# Of hsplit-2018: its machines with their ranks; collectives; what takes the place of a placement.
MACHINES = {"ntw10e5": 240, "smp20e7": 160, "smp12e5": 96}
COLLECTIVES = {
    "broadcast": ("linear", "chain", "pipeline", "binary", "split-binary", "binomial"),
    "reduce": ("linear", "chain", "pipeline", "binary", "binomial", "in-order-binary"),
}
# By Ranktree: the variant that is cheapest by the model, and the fastest of the four that are.
PREDICTED, TRIED = "predicted", "fastest of four"
AMOUNTS = ("1K", "16K", "256K", "4M")
LEVELS = "levels"
BY_LEVELS, VECTORS = ("flat", "levels"), ("vectors.1K", "vectors over nodes.1K")
BY_SOCKET, OVER_NODES = " by socket", " over nodes"
UNEVEN, SLOW = ", uneven links", ", slow network"
SUMMA = ("summa.128", "summa binary.128", "summa linear.128")
SUMMA_OVER_NODES = tuple(f"summa {each}{OVER_NODES}.128" for each in ("binary", "linear"))
IN_TURN = " `over nodes`: ranks are dealt to the nodes in turn, else they are packed."
SLOW_NOTE = (
    "`slow network`: 5 us and 1 GB/s between nodes, 0.5 us and 5 GB/s between packages, 0.1 us and 8 GB/s inside them "
    "(assumed; the paper states none)."
)
PRODUCTS = ("simple", "groups-2", "groups-4", "groups-8", "topology")
HIERARCHIES = ("H_topo", "H_conf1", "H_conf2", "H_conf3", "H_conf4")
# What the papers' best algorithms, numbers of groups and levels are compared with.
BROADCAST, REDUCE = "hier-bcast-2014", "hier-reduce-2016"
DEFAULTS = (
    (BROADCAST, 60, (("graphene-gige", ("broadcast.16K", "broadcast.16M"), 128),)),
    (
        REDUCE,
        120,
        (
            ("graphene-ib", tuple(f"reduce.{size}" for size in ("16K", "128K", "1M")), 256),
            ("graphene-ib", ("allreduce.16K", "allreduce.1M"), 256),
            ("graphene-ib", ("reduce.1K", "reduce.16K"), 512),
        ),
    ),
    (HSPLIT, 60, (("smp12e5", tuple(f"{each}.{size}" for each in COLLECTIVES for size in AMOUNTS), 96),)),
)
BY_PROGRAM = (HSPLIT, BROADCAST, REDUCE)  # no ranks are placed
NAS_NOTE = "One iteration after one that is not counted."
BY_CLASS = "treematch-2013-figures-11-12"
DIVIDED = tuple(k for k in range(4, 129) if any(k % d == 0 for d in range(2, k)))

Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class Result:
    """Of one case. Empty fields are None."""

    hop_bytes: float | None = None
    between_nodes: float | None = None  # bytes
    seconds: float | None = None  # simulated, an iteration; CPU seconds where a mapping is timed
    answer: str = ""  # in words: leaves, a division, or why there is no time
    version: str = ""  # of SimGrid, or the processor that was timed


Rows = Mapping[Key, Result]


@dataclass(frozen=True)
class PlacedTarget:
    """One figure or table, and its rows."""

    name: str
    title: str
    seconds: int  # CPU seconds at most, by an estimate
    keys: tuple[Key, ...]
    note: str = ""
    paper: str = TREEMATCH


def cases(machine: str, kernels: tuple[str, ...], sizes: tuple[int, ...], placements: tuple[str, ...]) -> Iterator[Key]:
    """All combinations."""
    for kernel in kernels:
        for ranks in sizes:
            for placement in placements:
                yield machine, kernel, ranks, placement


def program_of(kernel: str) -> str:
    """In names of targets: class C alone is not named."""
    program, size = kernel.split(".")
    return program if size == "C" else f"{program}-{size}"


def powers(least: int, most: int) -> tuple[int, ...]:
    """Powers of two."""
    return tuple(1 << bit for bit in range(least.bit_length() - 1, most.bit_length()))


def collective_targets() -> Iterator[PlacedTarget]:
    """Figures 5 to 10."""
    figure = 5
    for collective, algorithms in COLLECTIVES.items():
        for machine, ranks in MACHINES.items():
            named = tuple(f"{collective} {each}.{size}" for each in algorithms for size in AMOUNTS)
            yield PlacedTarget(
                f"hsplit-2018-figure-{figure}",
                f"Figure {figure}: {collective} on {machine.upper()}, {ranks} processes",
                60,
                tuple(cases(machine, named, (ranks,), BY_LEVELS)),
                paper=HSPLIT,
            )
            figure += 1


def product_targets() -> Iterator[PlacedTarget]:
    """Figures 11 to 13."""
    for figure, (machine, ranks) in enumerate(MACHINES.items(), 11):
        nodes = machine.startswith("ntw")
        yield PlacedTarget(
            f"hsplit-2018-figure-{figure}",
            f"Figure {figure}: SUMMA on {machine.upper()}, {ranks} processes",
            20,
            (
                *cases(machine, (*SUMMA, *SUMMA_OVER_NODES) if nodes else SUMMA, (ranks,), PRODUCTS),
                *cases(f"{machine}{SLOW}", SUMMA_OVER_NODES if nodes else (), (ranks,), PRODUCTS),
            ),
            "`examples/summa`, communication alone, by the broadcast that Open MPI chooses, or by Open MPI's "
            "binary one, as in the paper, or by the linear one. "
            "128 x 128 doubles in panels of 8, which is at most about one block of 8 x 8 for a process."
            f"{f'{IN_TURN} {SLOW_NOTE}' if nodes else ''}",
            HSPLIT,
        )


PLACED_TARGETS = (
    PlacedTarget(
        "treematch-2013-figure-5",
        "Figures 5 and 6: the worked example",
        1,
        tuple(cases(PAPER_NODE, (EXAMPLE,), (8,), ("TreeMatch size", "engine", "packed", "round robin"))),
        "Hop-bytes count 1 for a level of the tree. The leaves are numbered as in Figure 5(b): even ones left.",
    ),
    PlacedTarget(
        "treematch-2013-table-2",
        "Table 2: above how many processes to divide a level",
        1,
        tuple((ARITIES, ARITY, arity, "division") for arity in DIVIDED),
    ),
    *(
        PlacedTarget(
            f"treematch-2013-figure-7-{kernel.partition('.')[0]}",
            f"Figure 7: {kernel} on 16 nodes of one switch, and on 8 of each of two",
            seconds,
            tuple(
                key
                for machine in (ONE_SWITCH, TWO_SWITCHES, NARROW)
                for key in cases(machine, (kernel,), (128,), ("TreeMatch size",))
            ),
            "As in the paper, TreeMatch takes the nodes as equally near in all three cases.",
        )
        for kernel, seconds in NAS_SECONDS.items()
    ),
    PlacedTarget(
        "treematch-2013-figure-8",
        "Figure 8: time of the mapping",
        400,
        tuple(cases(PAPER_TREE, (ALL_PAIRS,), powers(64, 8192), TIMED)),
        "CPU seconds, the least of 3 runs, for matrices without a zero on 128 switches of 16 nodes of 2 x 4 cores. "
        "Up to 8,192 processes; the paper has 16,384. METIS is in the place of ParMETIS.",
    ),
    *(
        PlacedTarget(
            f"treematch-2013-figures-9-10-{program_of(kernel)}",
            f"Figures 9 and 10: {kernel} by placement and metric, 64 processes",
            60,
            tuple(cases(ONE_SWITCH, (kernel,), SIZES[:1], NAS_PLACEMENTS)),
            NAS_NOTE,
        )
        for kernel in NAS
    ),
    *(
        PlacedTarget(
            f"treematch-2013-figure-13-{program_of(kernel)}",
            f"Figure 13: {kernel} by number of processes",
            300,
            (
                *cases(ONE_SWITCH, (kernel,), SIZES[:2], NAS_PLACEMENTS),
                *cases(TWO_SWITCHES, (kernel,) if kernel != LONGEST else (), SIZES[2:], NAS_PLACEMENTS),
            ),
            NAS_NOTE,
        )
        for kernel in NAS
    ),
    PlacedTarget(
        BY_CLASS,
        "Figures 11 and 12: class C and class D",
        600,
        tuple(cases(ONE_SWITCH, NAS, SIZES[:2], NAS_BY_CLASS)),
        "One iteration after one that is not counted. Computing takes as long under all placements: the operations "
        "that the benchmarks count, at 1e9 a second on each core (assumed: §5.1 has no rate).",
    ),
    PlacedTarget(
        "treematch-2013-figure-14",
        "Figure 14: ZEUS-MP/2 by placement, 64 and 128 processes",
        100,
        tuple(cases(ONE_SWITCH, (ZEUS,), SIZES[:2], PLACEMENTS)),
        "Two cycles of the mhd blast. The paper has no shape of the grid of tiles: ours is that of MPI_Dims_create.",
    ),
    PlacedTarget(
        "treematch-2013-figure-14-256",
        "Figure 14: ZEUS-MP/2 by placement, 256 processes",
        100,
        tuple(cases(TWO_SWITCHES, (ZEUS,), SIZES[2:], PLACEMENTS)),
        "8 x 8 x 4 tiles, the last dimension of which varies fastest.",
    ),
    PlacedTarget(
        "treematch-2013-figure-14-grid",
        "Figure 14 with another grid of tiles",
        60,
        tuple(cases(TWO_SWITCHES, (ZEUS_SHORT,), SIZES[2:], (*BY_METRIC[:2], "engine", "packed", "round robin"))),
        "4 x 8 x 8 tiles in place of 8 x 8 x 4: the ranks of a node are then a line of tiles, not a block.",
    ),
    PlacedTarget(
        "treematch-2013-figure-15",
        "Figure 15: one process places all, or each node its own",
        60,
        tuple(cases(ONE_SWITCH, (ZEUS,), SIZES[:1], (*PLACEMENTS, *BY_NODE))),
        "`by node`: the ranks start round robin, and each node reorders those that it has.",
    ),
    PlacedTarget(
        "reorder-2011-figure-1",
        "Figure 1: rings, 64 processes",
        20,
        tuple(cases(ONE_SWITCH, RINGS, SIZES[:1], (*BY_CALLS, *REORDERED))),
        "8 rings of 8 processes: a token goes around each, then the first processes of all rings exchange theirs by an "
        "allgather. The paper's text has no size of the token: here 4 KiB, 64 KiB and 1 MiB. "
        "`p2p`: placed by the point-to-point calls alone, as the paper traces calls (§3.2); others by all messages.",
        REORDER,
    ),
    PlacedTarget(
        "reorder-2011-figure-2",
        "Figure 2: ZEUS-MP/2, 64 processes",
        30,
        tuple(cases(ONE_SWITCH, (ZEUS,), SIZES[:1], REORDERED)),
        "Two cycles of the mhd blast. The paper varies their number; the messages of all cycles are equal.",
        REORDER,
    ),
    PlacedTarget(
        "reorder-2011-figure-3",
        "Figure 3: block Wiedemann, 64 processes",
        60,
        tuple(cases(ONE_SWITCH, WIEDEMANN, SIZES[:1], REORDERED)),
        "The paper's program was not available. Ours multiplies a square matrix, 8 x 8 blocks on 64 processes, by a "
        "block of 64 vectors over GF(2): a reduce-scatter along rows, an allgather along columns. Of 2^20 and 2^22 "
        "rows; RSA-768 has 1.9e8.",
        REORDER,
    ),
    PlacedTarget(
        "reorder-2011-overhead",
        "§4: time of the call that reorders",
        120,
        tuple(cases(ONE_SWITCH, (CALL,), SIZES[:1], MODES)),
        "`ranktree_Comm_reorder` by the messages of ZEUS-MP/2, ranks started over the nodes in turn. Messages are "
        "simulated; computing takes as long as here, on one core (least of three runs).",
        REORDER,
    ),
    PlacedTarget(
        "hsplit-2018-table-1",
        "Table 1: levels of the machines",
        10,
        tuple((machine, LEVELS, ranks, "levels") for machine, ranks in ({**MACHINES, "ntw24e5": 576}).items()),
        "The ranks of rank 0's communicator of roots on each level, the outermost first, and of the smallest part.",
        HSPLIT,
    ),
    *collective_targets(),
    PlacedTarget(
        "hsplit-2018-figure-7-links",
        "Figure 7 with other links and another order of ranks",
        10,
        tuple(
            cases(
                f"smp12e5{UNEVEN}",
                tuple(f"broadcast pipeline{BY_SOCKET}.{each}" for each in ("16K", "64K")),
                (96,),
                BY_LEVELS,
            )
        ),
        "`uneven links`: 1 us and 1 GB/s between pairs of NUMA nodes, 0.5 us and 3 GB/s inside a pair, 0.1 us and "
        "8 GB/s inside a NUMA node (assumed; Figure 7 has equal links). `by socket`: ranks are dealt to the sockets in "
        "turn, which Open MPI 2.0 does by default; the paper names no order.",
        HSPLIT,
    ),
    PlacedTarget(
        "hsplit-2018-figure-8-links",
        "Figure 8 with other links and another order of ranks",
        60,
        tuple(
            cases(
                f"ntw10e5{SLOW}",
                tuple(f"reduce {name}.{size}" for name in ("linear", f"pipeline{OVER_NODES}") for size in AMOUNTS[:3]),
                (240,),
                BY_LEVELS,
            )
        ),
        f"{SLOW_NOTE}{IN_TURN}",
        HSPLIT,
    ),
    *product_targets(),
    PlacedTarget(
        "hsplit-2018-figure-14",
        "Figure 14: vector processing on five levels, NTW24E5, 576 processes",
        60,
        tuple(cases("ntw24e5", VECTORS, (576,), HIERARCHIES)),
        "`examples/vectors`, communication alone: Algorithm 5 on Ranktree's hierarchy (`H_topo`) and on the paper's "
        f"four hierarchies of consecutive ranks. Vectors of 2^10 doubles.{IN_TURN}",
        HSPLIT,
    ),
    PlacedTarget(
        "hsplit-2018-figure-14-links",
        "Figure 14 with other links",
        60,
        tuple(cases(f"ntw24e5{SLOW}", VECTORS[1:], (576,), HIERARCHIES)),
        f"{SLOW_NOTE}{IN_TURN}",
        HSPLIT,
    ),
    *(
        PlacedTarget(
            f"{paper}-better",
            "What we do better",
            seconds,
            tuple(
                key
                for machine, kernels, ranks in groups
                for key in cases(machine, kernels, (ranks,), (PREDICTED, TRIED))
            ),
            paper=paper,
        )
        for paper, seconds, groups in DEFAULTS
    ),
)


def load(path: Path = PLACED) -> dict[Key, Result]:
    """Empty where there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["machine"], row["kernel"], int(row["ranks"]), row["placement"]): Result(
                number(row["hop_bytes"]),
                number(row["between_nodes"]),
                number(row["seconds"]),
                row["answer"],
                row["version"],
            )
            for row in csv.DictReader(file)
        }


def number(text: str) -> float | None:
    """None where there is none."""
    return float(text) if text else None


def save(rows: Rows, path: Path = PLACED) -> None:
    """Replaces the file at once, rows in the order of the targets."""
    temporary = path.with_suffix(".new")
    ordered = dict.fromkeys(key for target in PLACED_TARGETS for key in target.keys if key in rows)
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for key in ordered:
            each = rows[key]
            numbers = ["" if n is None else f"{n:.7g}" for n in (each.hop_bytes, each.between_nodes, each.seconds)]
            writer.writerow([*key, *numbers, each.answer, each.version])
    temporary.replace(path)


def missing(target: PlacedTarget, rows: Rows) -> list[Key]:
    """Cases without a row."""
    return [key for key in target.keys if key not in rows]
