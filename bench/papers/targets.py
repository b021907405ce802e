"""The figures of the papers that can be reproduced: what is simulated for each, and how long that takes."""

from dataclasses import dataclass

KIB, MIB = 1 << 10, 1 << 20
GRAPHENE = "graphene-ib"
ETHERNET = "graphene-gige"
SPLIT = ("native", "chains=")  # methods that groups.cpp runs on split communicators; core/schedule has all others
CHAINS = "Open MPI's algorithm `chain` is four chains from the root unless set otherwise"


def order_of(ranks: int) -> str:
    """One rank a node where Graphene's 144 nodes suffice, else all cores."""
    return "round-robin" if ranks <= 144 else "packed"


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
        return order_of(self.ranks)

    @property
    def splits(self) -> bool:
        """Whether the time of MPI_Comm_split is part of the rows."""
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


@dataclass(frozen=True)
class Paper:
    """Its page's title, and what the page lists before its figures."""

    name: str
    title: str
    missing: str  # figures without a target


def powers(least: int, most: int) -> tuple[int, ...]:
    """1, then the powers of two from `least` to `most`."""
    return (1, *(1 << bit for bit in range(least.bit_length() - 1, most.bit_length())))


REDUCE, BROADCAST = "hier-reduce-2016", "hier-bcast-2014"
PAPERS = (
    Paper(
        REDUCE,
        "K. Hasanov, A. Lastovetsky, *Hierarchical redesign of classic MPI reduction algorithms*, "
        "J. Supercomputing 2016",
        "16 MB in Figures 5 and 6, Figure 5 right (512 processes), the native allreduce of Figure 6",
    ),
    Paper(
        BROADCAST,
        "K. Hasanov, J.-N. Quintin, A. Lastovetsky, *High-level topology-oblivious optimization of MPI broadcast "
        "algorithms on extreme-scale platforms*, Euro-Par 2014 workshops",
        "Figures 3 to 10, which are of 2,048 and 5,000 processes of BlueGene/P",
    ),
)


def reduce_sweeps(ranks: int, groups: tuple[int, ...]) -> tuple[Sweep, ...]:
    """The six algorithms of Figure 5, and the native one."""
    sizes = (16 * KIB, 128 * KIB, MIB)
    methods = ("native", "flat", "chain", "pipeline:segment=32K", "binary", "binomial", "in-order-binary")
    return tuple(
        Sweep(GRAPHENE, ranks, "reduce", size, each, groups)
        for each in methods
        for size in (sizes[:1] if each == "native" else sizes)
    )


def allreduce_sweeps() -> tuple[Sweep, ...]:
    """Figure 6, right."""
    sizes = (16 * KIB, MIB)
    few = ("linear", "non-overlapping", "recursive-doubling")
    many = ("ring", "segmented-ring:segment=1K")
    return (
        *(Sweep(GRAPHENE, 256, "allreduce", size, each, (1, 8, 16, 32)) for each in few for size in sizes),
        *(Sweep(GRAPHENE, 64, "allreduce", sizes[0], each, (1, 4, 8, 16)) for each in many),
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
    Target(
        "hier-reduce-2016-figure-5-left",
        REDUCE,
        "Figure 5, left: gain of groups in a reduce, 256 processes",
        80,
        (
            *reduce_sweeps(256, (1, 8, 16, 32)),
            Sweep(GRAPHENE, 128, "reduce", 16 * KIB, "binary", (1, 8, 16, 32)),
        ),
        against="bytes",
        note="Sizes up to 1 MB. Gain: one group / the best of 8, 16, 32 groups or one. "
        "The paper's text does not separate 256 and 512.",
        reason="four ranks share a node's link, and a binary tree that is numbered level by level sends "
        "most edges over it",
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
        note="Up to 1 MB. 256 processes, and 64 and only 16 KB for both rings, whose messages grow with the square of "
        "the processes; the paper has 512.",
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
            Sweep(ETHERNET, 128, "broadcast", 16 * MIB, "chains=1", powers(2, 64)),
        ),
        note="Segments of 128 KB. The paper has no segment size for this figure.",
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
