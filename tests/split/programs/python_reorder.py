"""The reordering calls of ranktree.mpi once, on 4 ranks, the machine and the bindings of test_languages.py. Prints ok.

Usage: python_reorder.py PATTERN. PATTERN: vertices 0 and 3 exchange 1,000 bytes in each direction.
"""

import ctypes
import sys
from collections.abc import Callable

import numpy
import ranktree.mpi as machine
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
PAIR = ([0, 3], [1, 1], [3, 0])
NOTHING = ([], [], [])


def expect(holds: bool, what: object) -> None:
    """Ends the run unless it holds."""
    if not holds:
        print(f"rank {WORLD.rank}: expected {what}", file=sys.stderr, flush=True)
        WORLD.Abort(1)


def expect_error(error_class: int, reason: str, function, *arguments) -> None:
    """The call raises MPI's exception with this class and a note that holds the reason."""
    try:
        function(*arguments)
    except MPI.Exception as error:
        expect(error.Get_error_class() == error_class, f"error class {error_class}, found {error.Get_error_class()}")
        expect(reason in error.__notes__[0], f"'{reason}' in {error.__notes__}")
    else:
        expect(False, f"an error from {function.__name__}")


def check_pair(comm: MPI.Intracomm) -> None:
    """Vertices 0 and 3 sit where ranks 1 and 2 were, below one cache."""
    expect((comm.rank in {0, 3}) == (WORLD.rank in {1, 2}), "the pair below one cache")
    said = machine.Get_reorder_info(comm)
    expect(said["ranktree_reorder"] == "central" and "ranktree_reorder_reason" not in said, "the mode")
    expect(float(said["ranktree_reorder_after"]) < float(said["ranktree_reorder_before"]), "a lower cost")


def check_graphs(pattern: str) -> None:
    """Neighbours as declared for the vertex that this rank owns now."""
    read = machine.Read_pattern(pattern, WORLD)
    expect(
        read == ([0, 1, 2, 3], [1, 0, 0, 1], [3, 0], [1000, 1000]) if WORLD.rank == 0 else not any(read), "the graph"
    )
    graph = machine.Create_dist_graph(WORLD, *read)
    check_pair(graph)
    neighbours = [3 - graph.rank] if graph.rank in {0, 3} else []
    weights = [1000] * len(neighbours)
    expect(graph.Get_dist_neighbors() == (neighbours, neighbours, (weights, weights)), "neighbours and weights")
    unweighted = machine.Create_dist_graph(WORLD, *(PAIR if WORLD.rank == 1 else NOTHING))
    check_pair(unweighted)
    expect(unweighted.Get_dist_neighbors() == (neighbours, neighbours, None), "no weights")
    listed = machine.Create_graph(WORLD, [1, 1, 1, 2], [3, 0])
    check_pair(listed)
    expect(listed.neighbors == neighbours, "the neighbours")
    for comm in (listed, unweighted, graph):
        comm.Free()


def check_objective() -> None:
    """A chain 3-0-1-2 whose pair 0, 3 has most bytes: the current order already has the fewest hops of its edges."""
    chain = ([0, 1], [2, 1], [3, 1, 2], [1000, 1, 1]) if WORLD.rank == 0 else (*NOTHING, [])
    info = MPI.Info.Create()
    info.Set("ranktree_objective", "bytes")
    by_bytes = machine.Create_dist_graph(WORLD, *chain, info)
    check_pair(by_bytes)
    info.Set("ranktree_objective", "messages")
    by_messages = machine.Create_dist_graph(WORLD, *chain, info)
    expect(machine.Get_reorder_info(by_messages)["ranktree_reorder"] == "identity", "no other order by messages")
    for owned in (by_messages, by_bytes, info):
        owned.Free()


def check_ring() -> None:
    """All edges of a vertex declared by its rank, kept in their order."""
    around = [(WORLD.rank + 1) % 4, (WORLD.rank - 1) % 4]
    ring = machine.Create_dist_graph_adjacent(WORLD, around, around, [5, 7], [7, 5])
    expected = [(ring.rank + 1) % 4, (ring.rank - 1) % 4]
    expect(ring.Get_dist_neighbors() == (expected, expected, ([5, 7], [7, 5])), "the ring")
    still = machine.Create_dist_graph_adjacent(WORLD, around, around, reorder=False)
    expect(still.rank == WORLD.rank, "no other rank without reorder")
    still.Free()
    ring.Free()


def check_grid() -> None:
    """A grid of 2 x 1 leaves two ranks out."""
    grid = machine.Create_cart(WORLD, [2, 2], [True, False])
    expect(grid.Get_topo()[:2] == ([2, 2], [True, False]), "the grid")
    grid.Free()
    small = machine.Create_cart(WORLD, [2, 1])
    expect((small is None) == (WORLD.rank > 1), "nothing beyond the grid")
    if small is not None:
        small.Free()
    expect(machine.Compute_dims(WORLD, 2, [1, 100], [False, True]) == [4, 1], "cut where little is exchanged")
    expect(machine.Compute_dims(WORLD, numpy.int64(2), [1, 100], [False, True]) == [4, 1], "a number of numpy")
    chosen = machine.Create_cart_weighted(WORLD, [0, 2], [1, 100], [False, True])
    expect(chosen.Get_topo()[:2] == ([2, 2], [False, True]), "the dimension given")
    chosen.Free()
    equal = machine.Create_cart_weighted(WORLD, 3)
    expect(sorted(equal.dims) == [1, 2, 2], "as little traffic as there can be")
    equal.Free()
    expect_error(MPI.ERR_DIMS, "dims", machine.Compute_dims, WORLD, [3, 0])


def check_order() -> None:
    """An order without a topology, and none for want of a recording."""
    ordered = machine.Reorder(WORLD, *(PAIR if WORLD.rank == 2 else NOTHING), [0.5, 0.5] if WORLD.rank == 2 else [])
    check_pair(ordered)
    ordered.Free()
    expect_error(MPI.ERR_UNSUPPORTED_OPERATION, "trace", machine.Rebalance, WORLD)
    expect_error(MPI.ERR_FILE, "no such file", machine.Read_pattern, "no such file", WORLD)


def expect_refusal(field: str, function, *arguments) -> None:
    """Lists that do not fit together are refused before C reads beyond them."""
    try:
        function(WORLD, *arguments)
    except ValueError as error:
        expect(str(error).startswith(f"{field}: expected "), f"{field}, found {error}")
    else:
        expect(False, f"a refusal of {field}")


def expect_overflow(function: Callable[..., object], *arguments: object) -> None:
    """What is no C int, of which ctypes would take the lowest bits."""
    try:
        function(WORLD, *arguments)
    except (OverflowError, ctypes.ArgumentError) as error:
        expect("expected a C int" in str(error), f"a C int, found {error}")
    else:
        expect(False, "a refusal of an int of 33 bits")


def check_lengths() -> None:
    """Every list."""
    expect_refusal("degrees", machine.Create_dist_graph, [0], [1, 1], [1, 2])
    expect_refusal("destinations", machine.Create_dist_graph, [0], [5000], [1])
    expect_refusal("weights", machine.Reorder, [0], [2], [1, 2], [1.0])
    expect_refusal("sourceweights", machine.Create_dist_graph_adjacent, [0], [0], [], [1])
    expect_refusal("weights", machine.Create_dist_graph, [0], [2], [1, 2], [5, 2**32 + 5])
    expect_refusal("sourceweights", machine.Create_dist_graph_adjacent, [0], [0], [-(2**31) - 1], [1])
    expect_refusal("destweights", machine.Create_dist_graph_adjacent, [0], [0], [1], [1, 1])
    expect_overflow(machine.Create_dist_graph, [2**32], [1], [1])
    expect_overflow(machine.Create_cart, [2**32 + 1])
    expect_overflow(machine.Get_min_hlevel, [2**32])
    expect_overflow(machine.Hsplit, 2**31)
    expect_refusal("edges", machine.Create_graph, [1, 2], [1])
    expect_refusal("periods", machine.Create_cart, [1, 1], [True])
    expect_refusal("periods", machine.Compute_dims, 2, None, [True])
    expect_refusal("weights", machine.Create_cart_weighted, [0, 0], [1])


def main() -> None:
    """All of them."""
    check_graphs(sys.argv[1])
    check_objective()
    check_ring()
    check_grid()
    check_order()
    check_lengths()
    if WORLD.rank == 0:
        print("ok")


main()
