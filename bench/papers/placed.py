"""treematch-2013: what is placed, simulated and timed for each figure; one row for each case in placed.csv."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACED = HERE / "placed.csv"
TREEMATCH = "treematch-2013"
HEADER = ("machine", "kernel", "ranks", "placement", "hop_bytes", "between_nodes", "seconds", "answer", "version")
ONE_SWITCH, TWO_SWITCHES, NARROW = "1 switch", "2 switches", "2 switches, 4:1"
PAPER_TREE, PAPER_NODE, ARITIES = "128 switches", "figure 5(b)", "any level"
EXAMPLE, ARITY, ALL_PAIRS = "figure 5(a)", "arity", "all pairs"
NAS = ("cg.C", "ft.C", "lu.C")
ZEUS, ZEUS_SHORT = "zeus.16", "zeus.16s"
SIZES = (64, 128, 256)
ORDERS = ("packed", "round robin", "over nodes", "random")
OURS = ("engine", "engine, time")
PEERS = ("Scotch", "Scotch, large weights", "METIS")
BY_METRIC = ("TreeMatch size", "TreeMatch msg", "TreeMatch avg")
BY_NODE = ("TreeMatch by node, size", "TreeMatch by node, msg")
PLACEMENTS = (*BY_METRIC, *OURS, *ORDERS, *PEERS)
NAS_PLACEMENTS = (*BY_METRIC, *OURS, "packed", "round robin", "random", "Scotch", "METIS")
TIMED = ("TreeMatch", "engine", "Scotch", "METIS")  # on a matrix of all pairs
NAS_NOTE = "Class C, one iteration after one that is not counted."
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


def powers(least: int, most: int) -> tuple[int, ...]:
    """Powers of two."""
    return tuple(1 << bit for bit in range(least.bit_length() - 1, most.bit_length()))


FRAGMENTED = tuple(
    key for machine in (ONE_SWITCH, TWO_SWITCHES, NARROW) for key in cases(machine, NAS, (128,), ("TreeMatch size",))
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
    PlacedTarget(
        "treematch-2013-figure-7",
        "Figure 7: 16 nodes on one switch, and 8 on each of two",
        60,
        FRAGMENTED,
        "As in the paper, TreeMatch takes the nodes as equally near in all three cases.",
    ),
    PlacedTarget(
        "treematch-2013-figure-8",
        "Figure 8: time of the mapping",
        200,
        tuple(cases(PAPER_TREE, (ALL_PAIRS,), powers(64, 2048), TIMED)),
        "CPU seconds, the least of 3 runs, for matrices without a zero on 128 switches of 16 nodes of 2 x 4 cores. "
        "Up to 2,048 processes; the paper has 16,384. METIS is in the place of ParMETIS.",
    ),
    *(
        PlacedTarget(
            f"treematch-2013-figures-9-10-{kernel.partition('.')[0]}",
            f"Figures 9 and 10: {kernel} by placement and metric, 64 processes",
            60,
            tuple(cases(ONE_SWITCH, (kernel,), SIZES[:1], NAS_PLACEMENTS)),
            NAS_NOTE,
        )
        for kernel in NAS
    ),
    PlacedTarget(
        "treematch-2013-figure-13",
        "Figure 13: NAS kernels by number of processes",
        200,
        tuple(cases(ONE_SWITCH, NAS, SIZES[:2], NAS_PLACEMENTS)),
        f"{NAS_NOTE} 64 and 128 processes; the paper has 256, too.",
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
