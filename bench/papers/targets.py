"""The figures of the papers that can be reproduced: what is simulated for each, and how long that takes."""

from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
GRAPHENE = "graphene-ib"
ETHERNET = "graphene-gige"
SIZES = (16 * KIB, MIB, 16 * MIB)
BLUEGENE = "bluegene-p-"  # and the number of nodes
# Methods that groups.cpp runs on communicators of groups; core/schedule has all others. smpi=NAME: SMPI's algorithm.
SPLIT = ("native", "smpi=", "chains=", "scatter-ring=")
RING = "scatter-ring=8"
RING_NOTE = (
    "In each ring of more ranks, the first 8 steps are simulated, and the rest take as long as these: with 5,000 "
    "processes all would be 25 million messages."
)
CHAINS = "Open MPI's algorithm `chain` is four chains from the root unless set otherwise"


def order_of(machine: str, ranks: int) -> str:
    """One rank a node on BlueGene/P, and on Graphene where its 144 nodes suffice; else all cores."""
    alone = machine.startswith(BLUEGENE) or (machine in (GRAPHENE, ETHERNET) and ranks <= 144)
    return "round-robin" if alone else "packed"


@dataclass(frozen=True)
class Sweep:
    """One algorithm and size for several numbers of groups. One start of the simulator."""

    machine: str  # of machines/
    ranks: int
    collective: str
    size: int  # bytes
    algorithm: str  # with a segment, if any
    groups: tuple[int, ...]

    @property
    def order(self) -> str:
        """Where the ranks are."""
        return order_of(self.machine, self.ranks)

    @property
    def splits(self) -> bool:
        """Whether groups.cpp runs it, on communicators of groups."""
        return self.algorithm.startswith(SPLIT)


@dataclass(frozen=True)
class Target:
    """One figure."""

    name: str
    paper: str
    title: str
    seconds: int  # CPU seconds of the simulations at most, by an estimate
    sweeps: tuple[Sweep, ...]
    against: str = "groups"  # or "bytes": the horizontal axis
    note: str = ""  # what differs from the paper's figure
    reason: str = ""  # of claims with an alternative in published.csv
    model: bool = False  # whether formula 12 stands beside the times


@dataclass(frozen=True)
class Paper:
    """Its page's title, and what the page lists before its figures."""

    name: str
    title: str
    missing: str  # figures without a target
    slower: str = ""  # why ours is slower than the paper's best somewhere


def powers(least: int, most: int) -> tuple[int, ...]:
    """1, then the powers of two from `least` to `most`."""
    return (1, *(1 << bit for bit in range(least.bit_length() - 1, most.bit_length())))


REDUCE, BROADCAST = "hier-reduce-2016", "hier-bcast-2014"
PAPERS = (
    Paper(
        REDUCE,
        "K. Hasanov, A. Lastovetsky, *Hierarchical redesign of classic MPI reduction algorithms*, "
        "J. Supercomputing 2016",
        "16 MB by the pipeline in Figure 5; 16 MB by the rings and by SMPI's algorithms in Figure 6",
    ),
    Paper(
        BROADCAST,
        "K. Hasanov, J.-N. Quintin, A. Lastovetsky, *High-level topology-oblivious optimization of MPI broadcast "
        "algorithms on extreme-scale platforms*, Euro-Par 2014 workshops",
        "Figures 9 and 10, which are of broadcasts that BlueGene/P's own MPI carries out by its network",
        "With 16 MiB, ours has all its segments in flight at once. In SMPI they share the link, which the prediction "
        "does not know. The pipelines of Figure 14 show the difference: segments of 64 KiB follow each other, those of "
        "32 KiB, which SMPI sends before they are received, share.",
    ),
)


def reduce_sweeps(ranks: int, sizes: tuple[int, ...], groups: tuple[int, ...]) -> tuple[Sweep, ...]:
    """The six algorithms of Figure 5, and the native one."""
    methods = {
        "native": (SIZES[0], 128 * KIB, *SIZES[1:]),
        "flat": sizes,
        "chain": sizes,
        "pipeline:segment=32K": sizes[:-1],
    }
    methods |= dict.fromkeys(("binary", "binomial", "in-order-binary"), sizes)
    return tuple(Sweep(GRAPHENE, ranks, "reduce", size, each, groups) for each in methods for size in methods[each])


def allreduce_sweeps() -> tuple[Sweep, ...]:
    """Figure 6, right: the algorithms of core/schedule, then those of SMPI."""
    ours = ("linear", "non-overlapping", "recursive-doubling")
    theirs = ("native", "smpi=redbcast", "smpi=ompi_ring_segmented")
    return (
        *(Sweep(GRAPHENE, 256, "allreduce", size, each, (1, 8, 16, 32)) for each in ours for size in SIZES),
        Sweep(GRAPHENE, 64, "allreduce", SIZES[0], "ring", (1, 4, 8, 16)),
        *(Sweep(GRAPHENE, 64, "allreduce", size, each, (1, 4, 8, 16)) for each in theirs for size in SIZES[:2]),
    )


def chains(figure: int, size: int, text: str) -> Target:
    """One chain, as the paper says, beside the four that Open MPI has."""
    return Target(
        f"hier-bcast-2014-figure-{figure}",
        BROADCAST,
        f"Figure {figure}: broadcast by chains, {text}, 128 processes",
        15,
        tuple(Sweep(ETHERNET, 128, "broadcast", size, each, powers(2, 64)) for each in ("chain", "chains=4")),
        reason=CHAINS,
    )


def rings(figure: int, ranks: int, size: int, text: str, groups: tuple[int, ...]) -> Target:
    """A scatter and a ring, on one rank a node."""
    return Target(
        f"hier-bcast-2014-figure-{figure}",
        BROADCAST,
        f"Figure{f's {figure} and {figure + 2}' if ranks == 5000 else f' {figure}'}: scatter-ring-allgather, {text}, "
        f"{ranks:,} processes of BlueGene/P",
        ranks // 40,
        (Sweep(f"{BLUEGENE}{ranks}", ranks, "broadcast", size, RING, groups),),
        note=RING_NOTE,
        model=True,
    )


TARGETS = (
    Target(
        "hier-reduce-2016-figure-3",
        REDUCE,
        "Figure 3: the splits beside the native reduce of 1 KB, 512 processes",
        45,
        (Sweep(GRAPHENE, 512, "reduce", KIB, "native", (1, 8, 32, 128)),),
        note="SMPI chooses the algorithm as Open MPI does. Its MPI_Comm_split gathers to rank 0.",
    ),
    Target(
        "hier-reduce-2016-figure-4",
        REDUCE,
        "Figure 4: reduce by a pipeline, 16 KB in segments of 1 KB, 512 processes",
        60,
        (Sweep(GRAPHENE, 512, "reduce", 16 * KIB, "pipeline:segment=1K", powers(2, 256)),),
    ),
    *(
        Target(
            f"hier-reduce-2016-figure-5-{side}",
            REDUCE,
            f"Figure 5, {side}: gain of groups in a reduce, {ranks} processes",
            ranks,
            (
                *reduce_sweeps(ranks, sizes, groups),
                Sweep(GRAPHENE, 128, "reduce", 16 * KIB, "binary", (1, 8, 16, 32)),
            ),
            against="bytes",
            note=f"Gain: one group / the best of {', '.join(map(str, groups[1:]))} groups or one. "
            "The paper's text does not separate 256 and 512.",
            reason="four ranks share a node's link, and a binary tree that is numbered level by level sends "
            "most edges over it",
        )
        for side, ranks, sizes, groups in (
            ("left", 256, (SIZES[0], 128 * KIB, *SIZES[1:]), (1, 8, 16, 32)),
            ("right", 512, SIZES, (1, 16, 32)),
        )
    ),
    Target(
        "hier-reduce-2016-figure-6-left",
        REDUCE,
        "Figure 6, left: linear allreduce of 16 KB, 512 processes",
        60,
        (Sweep(GRAPHENE, 512, "allreduce", 16 * KIB, "linear", (1, 8, 16, 32, 64)),),
    ),
    Target(
        "hier-reduce-2016-figure-6-right",
        REDUCE,
        "Figure 6, right: gain of groups in an allreduce",
        120,
        allreduce_sweeps(),
        against="bytes",
        note="256 processes, 64 for the rings and what SMPI translates from Open MPI, whose messages may grow with the "
        "square of the processes; the paper has 512. NT is `native`; NOV is `smpi=redbcast`, too: the reduce and the "
        "broadcast that Open MPI chooses; SRG is `smpi=ompi_ring_segmented`, in segments of 1 MB.",
        reason="in ours, reduce and broadcast use one tree of segments; Open MPI's call its own reduce, then its own "
        "broadcast",
    ),
    Target(
        "hier-bcast-2014-rings",
        BROADCAST,
        "Scatter-ring-allgather of 128 processes, by a part of the steps and by all",
        20,
        tuple(
            Sweep(f"{BLUEGENE}2048", 128, "broadcast", size, each, (1, 8))
            for size in (32 * KIB, 128 * KIB)
            for each in (RING, "smpi=scatter_LR_allgather")
        ),
        note="Blocks as large as in Figures 3 and 4. `scatter-ring=8` simulates 8 steps of each longer ring, and the "
        "rest take as long; SMPI's algorithm sends all.",
    ),
    rings(3, 2048, 512 * KIB, "512 KB", (1, 8, 32, 64, 256)),
    rings(4, 2048, 2 * MIB, "2 MB", (1, 32)),
    rings(5, 5000, 512 * KIB, "512 KB", (1, 50)),
    rings(6, 5000, 2 * MIB, "2 MB", (1, 50)),
    Target(
        "hier-bcast-2014-fluctuations",
        BROADCAST,
        "§4.1: algorithms that groups do not change on BlueGene/P, 512 KB, 512 processes",
        40,
        tuple(
            Sweep(f"{BLUEGENE}2048", 512, "broadcast", 512 * KIB, each, (1, 16))
            for each in ("binomial", "scatter-doubling-allgather")
        ),
    ),
    Target(
        "hier-bcast-2014-others",
        BROADCAST,
        "§3.1, §3.3, §3.6: the algorithms without a figure, 128 processes",
        30,
        tuple(
            Sweep(ETHERNET, 128, "broadcast", size, each, powers(2, 64))
            for each in ("binary", "split-binary", "flat")
            for size in (16 * KIB, 16 * MIB)
        ),
        note="On Graphene. The paper derives whether groups gain.",
    ),
    chains(11, 16 * KIB, "16 KB"),
    chains(12, 16 * MIB, "16 MB"),
    Target(
        "hier-bcast-2014-figure-13",
        BROADCAST,
        "Figure 13: broadcast by a pipeline, 16 KB, 128 processes",
        20,
        (Sweep(ETHERNET, 128, "broadcast", 16 * KIB, "pipeline:segment=1K", powers(2, 64)),),
        note="Segments of 1 KB. The paper has no segment size for this figure.",
    ),
    Target(
        "hier-bcast-2014-figure-14",
        BROADCAST,
        "Figure 14: broadcast by a pipeline, 16 MB, 128 processes",
        120,
        (
            Sweep(ETHERNET, 128, "broadcast", 16 * MIB, "pipeline:segment=128K", (1, 8, 16)),
            *(Sweep(ETHERNET, 128, "broadcast", 16 * MIB, f"pipeline:segment={each}K", (1,)) for each in (64, 32)),
            Sweep(ETHERNET, 128, "broadcast", 16 * MIB, "chains=1", powers(2, 64)),
        ),
        note="Segments of 128 KB, without groups also of 64 and 32 KB. The paper has no segment size for this figure.",
        reason="a pipeline without segments, which Open MPI runs where the segment size is 0, gains as the "
        "paper reports",
    ),
)


def target_named(name: str) -> Target:
    """Raises ValueError with the names there are."""
    for target in TARGETS:
        if target.name == name:
            return target
    raise ValueError(f"{name}: expected one of {', '.join(each.name for each in TARGETS)}")
