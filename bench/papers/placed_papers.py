"""What the pages of treematch-2013, reorder-2011 and hsplit-2018 have before their figures."""

from dataclasses import dataclass

from placed import BY_CALLS, BY_METRIC, HSPLIT, OURS, PREDICTED, REORDER, TREEMATCH, TRIED


@dataclass(frozen=True)
class PlacedPaper:
    """A page."""

    name: str
    title: str
    method: str  # with {versions} of SimGrid and {sizes}: numbers of ranks
    missing: str  # figures without a target
    best: tuple[str, ...] = BY_METRIC[:2]  # the paper's placements
    ours: tuple[str, ...] = OURS
    beside: str = "Time under the faster of `TreeMatch size` and `TreeMatch msg` / time under ours, communication alone"


STATED = """The text of the paper was available, its pictures were not: the paper's values are those that its text
states. Ours agrees with a number within 25 %, with *gain* from 1.05x on, with *no gain* between 0.75x and 1.25x.
Several kernels, numbers of ranks or placements: the geometric mean."""
TREEMATCH_METHOD = f"""`bench/kernels/kernels.c` has the messages of CG, FT and LU of the NAS Parallel Benchmarks
3.4 and of ZEUS-MP/2, and nothing else. A test compares them with recorded patterns of the programs: messages and
bytes of each pair differ by less than 5 %. Each kernel is traced, placed by its pattern, and run under the
placement on SMPI, the MPI of SimGrid {{versions}}, with {{sizes}} ranks on as many cores of
`machines/plafrim.json`.

FT is traced in class A with up to 128 processes, and in class C with 256: pairs and their proportions are those of
each class, bytes in the tables those of the traced one. Its times are of the class that is named.

**The times are of communication alone.** The paper's are of whole programs, so its quotients are nearer to 1.

`round robin` is the paper's RR: rank i is on PU i of the operating system, whose numbers alternate between both
packages of a node. `over nodes` deals ranks to the nodes in turn. `TreeMatch size`, `msg`, `avg`: the paper's
metrics. `Scotch` has the paper's small weights 4, 3, 2 for the levels, `large weights` 500, 100, 50. `engine` is
Ranktree's search by bytes, `engine, time` by [the objective](../explanation/objectives.md) `time`.

On two switches, a message from one to the other has 0.2 us more latency, and as much bandwidth as the nodes have
(assumed).

{STATED}"""
REORDER_METHOD = f"""`bench/kernels/kernels.c` has the messages of the three programs, and nothing else: rings as
§4.1 describes them, ZEUS-MP/2, whose messages a test compares with a recorded pattern, and a block Wiedemann step.
Each is traced, placed by its pattern, and run under the placement on SMPI, the MPI of SimGrid {{versions}}, with
{{sizes}} ranks on as many cores of `machines/plafrim.json`, which are the nodes of §4. Collective calls are pairs
as in Open MPI, in the pattern and on SMPI: recursive doubling for an allgather, a ring for a reduce-scatter.

**The times are of communication alone.** The paper's are of whole programs, so its quotients are nearer to 1.

A reordered communicator has the times of ranks that start under the same placement (§2.2), so each row is a
placement. `round robin` is the paper's Serial Ranking: a node's ranks in turn, on PUs in the order of the operating
system, whose numbers alternate between both packages (treematch-2013 §5.1; this paper does not state it). `packed`
is the same on PUs in the order of cores. `over nodes` is the paper's Round Robin: ranks are dealt to the nodes in
turn. `TreeMatch size` and `msg`: the paper's metrics. `engine` is Ranktree's search by bytes, `engine, time` by
[the objective](../explanation/objectives.md) `time`.

{STATED}"""
HSPLIT_METHOD = f"""Each case runs on SMPI, the MPI of SimGrid {{versions}}, with {{sizes}} ranks, one a core, on
the paper's machines in `machines/`. The paper has no latencies and bandwidths of them; the simulation takes [those
of an ordinary cluster](../explanation/simulation.md#what-is-simulated), 0.5 us and 5 GB/s on all levels inside a
node, 2 us and 10 GB/s between nodes. Caches, copies and page faults are not simulated, computing takes no time.

`flat` is a collective on all ranks by one algorithm of Open MPI; `levels` is a loop over the levels that
`ranktree_Comm_hsplit_all` finds, as in §7.2, with the same algorithm on the communicator of roots of each.
`predicted` is `ranktree_Bcast` or `ranktree_Reduce` by the messages that `ranktree predict` prints as the cheapest,
`fastest of four` the fastest of the four cheapest, each simulated.
The algorithms are SMPI's translations of Open MPI's, with three exceptions. Broadcasts by chains, of which four begin
at the root as is Open MPI's default, and by the binary tree, in segments of 32 KiB, are in
`bench/papers/broadcasts.h`. The split-binary one, with the same segments, is Ranktree's. `topology` and `groups-G`
are forms of `examples/summa`, hierarchies `H_` of `examples/vectors`.

The enhancement factor is the time of `flat` / the time of `levels`.

{STATED} `max`: the largest of all, `*` stands for all sizes or algorithms."""
PLACED_PAPERS = (
    PlacedPaper(
        TREEMATCH,
        "E. Jeannot, G. Mercier, F. Tessier, *Process placement in multicore clusters: algorithmic issues and "
        "practical techniques*, Inria RR-8269, 2013",
        TREEMATCH_METHOD,
        "Chaco and MPIPP in all figures; class D in Figure 7; 16,384 in Figure 8; 256 processes in Figures 11 and 12, "
        "and of lu.D in Figure 13; ParMETIS, in whose place is METIS; Table 1 and Figure 16, which measure a machine; "
        "the conclusion that TreeMatch outperforms graph partitioning (§5.2.3, §6): Scotch's and METIS's placements of "
        "ZEUS-MP/2 and lu.D take 0.74 to 0.81 of the time of TreeMatch's, in the tables below",
    ),
    PlacedPaper(
        REORDER,
        "G. Mercier, E. Jeannot, *Improving MPI applications performance on multicore clusters with rank reordering*, "
        "EuroMPI 2011",
        REORDER_METHOD,
        "computing, and with it the seconds on the axes of Figures 1 to 3",
        (*BY_METRIC[:2], *BY_CALLS),
        beside="Time under the fastest of the placements by `TreeMatch` / time under ours, communication alone",
    ),
    PlacedPaper(
        HSPLIT,
        "B. Goglin, E. Jeannot, F. Mansouri, G. Mercier, *Hardware topology management in MPI applications through "
        "hierarchical communicators*, Parallel Computing 2018",
        HSPLIT_METHOD,
        "computing in Figures 11 to 14, and with it the total times; in Figures 11 to 13 the communicators of roots "
        "(§7): a row or column is split once, and ranks of equal index are joined; in Figure 14 other sizes than 2^10, "
        "and elements of 4 bytes: here they have 8",
        ("levels",),
        (PREDICTED, TRIED),
        "Time of `levels` by the fastest algorithm / time of `predicted` and of `fastest of four`",
    ),
)
