"""Hierarchical communicators (hsplit-2018), rank reordering (reorder-2011) and collectives for mpi4py: ranktree/mpi.h.

    for level in ranktree.mpi.levels(MPI.COMM_WORLD):
        level.comm.Barrier()
    grid = ranktree.mpi.Create_cart(MPI.COMM_WORLD, [4, 4])

Calls that make communicators are collective over `comm`, and so is freeing what they made. A part that this rank has
not is None. MPI errors raise mpi4py.MPI.Exception; what is known beyond MPI's own text is added as a note.
"""

import ctypes
import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from ranktree.mpi_collect import (  # noqa: F401
    Allgather,
    Allgather_init,
    Allgatherv,
    Allgatherv_init,
    Allreduce,
    Allreduce_init,
    Alltoall,
    Alltoall_init,
    Barrier,
    Barrier_init,
    Bcast,
    Bcast_init,
    Gather,
    Gather_init,
    Gatherv,
    Gatherv_init,
    Iallgather,
    Iallgatherv,
    Iallreduce,
    Ialltoall,
    Ibarrier,
    Ibcast,
    Igather,
    Igatherv,
    Ireduce,
    Ireduce_scatter,
    Ireduce_scatter_block,
    Iscatter,
    Iscatterv,
    Reduce,
    Reduce_init,
    Reduce_scatter,
    Reduce_scatter_block,
    Reduce_scatter_block_init,
    Reduce_scatter_init,
    Request,
    Scatter,
    Scatter_init,
    Scatterv,
    Scatterv_init,
    Set_reproducible,
)
from ranktree.mpi_library import (  # noqa: F401
    HANDLE,
    INT,
    MPI,
    POINTER,
    check,
    info_handle,
    library_function,
    message,
)

MAX_TYPE = 32  # RANKTREE_MAX_TYPE
LEVELS_AT_ONCE = 64
LONGEST_CHAIN = 256
C_LIBRARY = ctypes.CDLL(None)

COMM_TYPE_SHARED = 0x52540001
COMM_TYPE_HW_UNGUIDED = 0x52540002
COMM_TYPE_HW_GUIDED = 0x52540003
COMM_TYPE_RESOURCE_GUIDED = 0x52540004

PARAMETERS = {
    "Comm_hsplit": [HANDLE, INT, HANDLE, POINTER],
    "Comm_hsplit_with_roots": [HANDLE, HANDLE, POINTER, POINTER],
    "Comm_hsplit_all": [HANDLE, HANDLE, INT, POINTER, POINTER, POINTER],
    "Comm_split_type": [HANDLE, INT, INT, HANDLE, POINTER],
    "Comm_get_hlevel_info": [HANDLE, POINTER, POINTER, POINTER, INT, POINTER],
    "Comm_get_min_hlevel": [HANDLE, INT, POINTER, POINTER, INT, POINTER],
    "Comm_get_location": [HANDLE, INT, INT, POINTER, POINTER, POINTER],
    "Get_hw_resource_info": [POINTER],
    "Dist_graph_create": [HANDLE, INT, POINTER, POINTER, POINTER, POINTER, HANDLE, INT, POINTER],
    "Dist_graph_create_adjacent": [HANDLE, *[INT, POINTER, POINTER] * 2, HANDLE, INT, POINTER],
    "Graph_create": [HANDLE, INT, POINTER, POINTER, INT, POINTER],
    "Cart_create": [HANDLE, INT, POINTER, POINTER, INT, POINTER],
    "Comm_reorder": [HANDLE, INT, POINTER, POINTER, POINTER, POINTER, HANDLE, POINTER, POINTER],
    "Comm_get_info": [HANDLE, POINTER],
    "read_pattern": [ctypes.c_char_p, HANDLE, ctypes.c_char_p, *[POINTER] * 5],
    "Comm_rebalance": [HANDLE, HANDLE, POINTER, POINTER],
}


class Level:
    """A communicator of the ranks of one object of the machine, and what it stands for."""

    def __init__(self, comm: MPI.Intracomm, roots: MPI.Intracomm | None) -> None:
        """Takes over both communicators."""
        self.comm = comm  # the ranks of this object
        self.roots = roots  # the roots of all parts with the same parent; None where this rank is no root
        self.type, self.index, self.count = Get_hlevel_info(comm)  # "Package", index of count with the same parent

    def free(self) -> None:
        """Frees the communicators. Collective over each; once is enough."""
        for comm in (self.roots, self.comm):
            if comm is not None and comm != MPI.COMM_NULL:
                comm.Free()

    def __enter__(self) -> Self:
        """The level itself."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Frees the communicators."""
        self.free()

    def __repr__(self) -> str:
        """For example: <Package 0 of 2, 4 ranks>."""
        size = "freed" if self.comm == MPI.COMM_NULL else f"{self.comm.size} ranks"
        return f"<{self.type} {self.index} of {self.count}, {size}>"


class Levels(Sequence[Level]):
    """All levels that a rank belongs to, the widest first; freed at the end of a `with`, or by free()."""

    def __init__(self, levels: Sequence[Level]) -> None:
        """Takes over the levels."""
        self._levels = tuple(levels)

    def __len__(self) -> int:
        """The number of levels; ranks may differ."""
        return len(self._levels)

    def __getitem__(self, index):
        """A level, or a tuple of them for a slice."""
        return self._levels[index]

    def __iter__(self) -> Iterator[Level]:
        """The widest first."""
        return iter(self._levels)

    def free(self) -> None:
        """Frees all levels, the deepest first, as every rank does: no two ranks wait for each other."""
        for level in reversed(self._levels):
            level.free()

    def __enter__(self) -> Self:
        """The levels themselves."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Frees all levels."""
        self.free()

    def __repr__(self) -> str:
        """The levels as a list."""
        return repr(list(self._levels))


def levels(comm: MPI.Intracomm, info: MPI.Info | None = None) -> Levels:
    """All levels that this rank belongs to, the widest first. Collective over comm. hsplit-2018 §3.4."""
    found: list[Level] = []
    parent, more = comm, True
    while more:
        made, roots = Hsplit_all(parent, LEVELS_AT_ONCE, info)
        found += [Level(level, root) for level, root in zip(made, roots, strict=True)]
        more = len(made) == LEVELS_AT_ONCE  # on all ranks of the deepest one
        parent = made[-1] if made else parent
    return Levels(found)


def Hsplit(comm: MPI.Intracomm, key: int = 0, info: MPI.Info | None = None) -> MPI.Intracomm | None:
    """One level down, the highest first; `key` orders its ranks. Collective over comm. hsplit-2018 §3.2.1."""
    made = HANDLE(MPI.COMM_NULL.handle)
    call("Comm_hsplit", comm, key, info_handle(info), ctypes.byref(made))
    return communicator(made.value)


def Hsplit_with_roots(
    comm: MPI.Intracomm, info: MPI.Info | None = None
) -> tuple[MPI.Intracomm | None, MPI.Intracomm | None]:
    """One level down, and at rank 0 of each part the communicator of all of these. Collective. hsplit-2018 §3.2.3."""
    made, roots = HANDLE(MPI.COMM_NULL.handle), HANDLE(MPI.COMM_NULL.handle)
    call("Comm_hsplit_with_roots", comm, info_handle(info), ctypes.byref(made), ctypes.byref(roots))
    return communicator(made.value), communicator(roots.value)


def Hsplit_all(
    comm: MPI.Intracomm, most: int, info: MPI.Info | None = None
) -> tuple[list[MPI.Intracomm], list[MPI.Intracomm | None]]:
    """The communicators and the roots of `most` levels or fewer. Collective; levels() gives all. hsplit-2018 §3.4."""
    count = INT()
    made, roots = ((HANDLE * max(most + 1, 1))() for _ in range(2))
    call("Comm_hsplit_all", comm, info_handle(info), most, ctypes.byref(count), made, roots)
    return (
        [communicator(handle) for handle in made[: count.value]],
        [communicator(handle) for handle in roots[: count.value]],
    )


def Split_type(
    comm: MPI.Intracomm, split_type: int, key: int = 0, info: MPI.Info | None = None
) -> MPI.Intracomm | None:
    """MPI_Comm_split_type as MPI 5.0 §7.4.2 says, for COMM_TYPE_* and the MPI's own types. Collective over comm."""
    made = HANDLE(MPI.COMM_NULL.handle)
    call("Comm_split_type", comm, split_type, key, info_handle(info), ctypes.byref(made))
    return communicator(made.value)


def Get_hlevel_info(comm: MPI.Intracomm) -> tuple[str, int, int]:
    """What a communicator stands for: type, index and count of siblings. Local. hsplit-2018 §3.3.1."""
    count, index, length = INT(), INT(), INT()
    name = ctypes.create_string_buffer(MAX_TYPE)
    pointers = (ctypes.byref(count), ctypes.byref(index), name, MAX_TYPE, ctypes.byref(length))
    call("Comm_get_hlevel_info", comm, *pointers)
    return name.value.decode(), index.value, count.value


def Get_min_hlevel(comm: MPI.Intracomm, ranks: Sequence[int]) -> str:
    """The lowest level that these ranks share; "Unknown" where the caller is not among them. hsplit-2018 §3.3.2.

    Collective over comm; each rank may ask about other ranks.
    """
    name, length = ctypes.create_string_buffer(MAX_TYPE), INT()
    asked = (INT * max(len(ranks), 1))(*ranks)
    call("Comm_get_min_hlevel", comm, len(ranks), asked, name, MAX_TYPE, ctypes.byref(length))
    return name.value.decode()


def Get_location(comm: MPI.Intracomm, rank: int) -> list[tuple[str, int]]:
    """The chain of a rank, outermost first: (type, number). Collective over comm; each rank may ask about another."""
    count = INT()
    names, numbers = (ctypes.c_char * MAX_TYPE * LONGEST_CHAIN)(), (ctypes.c_int64 * LONGEST_CHAIN)()
    call("Comm_get_location", comm, rank, LONGEST_CHAIN, ctypes.byref(count), names, numbers)
    return [(names[i].value.decode(), numbers[i]) for i in range(min(count.value, LONGEST_CHAIN))]


def Get_hw_resource_info() -> dict[str, bool]:
    """The resources of this machine, and whether the caller is bound within one instance. Local. MPI 5.0 §9.1.2."""
    made = HANDLE(MPI.INFO_NULL.handle)
    check(function("Get_hw_resource_info")(ctypes.byref(made)), "Get_hw_resource_info", MPI.COMM_NULL)
    info = MPI.Info.fromhandle(made.value)
    found = {key: value == "true" for key, value in info.items()}
    info.Free()
    return found


def Create_dist_graph(
    comm: MPI.Intracomm,
    sources: Sequence[int],
    degrees: Sequence[int],
    destinations: Sequence[int],
    weights: Sequence[int] | None = None,
    info: MPI.Info | None = None,
    reorder: bool = True,
) -> MPI.Distgraphcomm:
    """MPI_Dist_graph_create with reordering that works; weights None: MPI_UNWEIGHTED, on all ranks. Collective.

    Rank k of the result owns vertex k. reorder-2011 §3.
    """
    require_graph(sources, degrees, destinations, weights)
    made = HANDLE(MPI.COMM_NULL.handle)
    lists = (integers(sources), integers(degrees), integers(destinations), weight_list(weights))
    call("Dist_graph_create", comm, len(sources), *lists, info_handle(info), int(reorder), ctypes.byref(made))
    return MPI.Distgraphcomm.fromhandle(made.value)


def Create_dist_graph_adjacent(
    comm: MPI.Intracomm,
    sources: Sequence[int],
    destinations: Sequence[int],
    sourceweights: Sequence[int] | None = None,
    destweights: Sequence[int] | None = None,
    info: MPI.Info | None = None,
    reorder: bool = True,
) -> MPI.Distgraphcomm:
    """MPI_Dist_graph_create_adjacent with reordering: rank k declares all edges of vertex k. Collective over comm."""
    require_length("sourceweights", sourceweights, len(sources))
    require_length("destweights", destweights, len(destinations))
    made = HANDLE(MPI.COMM_NULL.handle)
    into = (len(sources), integers(sources), weight_list(sourceweights))
    out = (len(destinations), integers(destinations), weight_list(destweights))
    call("Dist_graph_create_adjacent", comm, *into, *out, info_handle(info), int(reorder), ctypes.byref(made))
    return MPI.Distgraphcomm.fromhandle(made.value)


def Create_graph(
    comm: MPI.Intracomm, index: Sequence[int], edges: Sequence[int], reorder: bool = True
) -> MPI.Graphcomm | None:
    """MPI_Graph_create with reordering: the whole graph on every rank; None beyond its vertices. Collective."""
    require_length("edges", edges, max(index, default=0))
    made = HANDLE(MPI.COMM_NULL.handle)
    call("Graph_create", comm, len(index), integers(index), integers(edges), int(reorder), ctypes.byref(made))
    return communicator(made.value, MPI.Graphcomm)


def Create_cart(
    comm: MPI.Intracomm, dims: Sequence[int], periods: Sequence[bool] | None = None, reorder: bool = True
) -> MPI.Cartcomm | None:
    """MPI_Cart_create, the grid tiled on the machine's tree; None beyond its size. Collective over comm."""
    require_length("periods", periods or None, len(dims))
    made = HANDLE(MPI.COMM_NULL.handle)
    periodic = integers([int(period) for period in periods or [False] * len(dims)])
    call("Cart_create", comm, len(dims), integers(dims), periodic, int(reorder), ctypes.byref(made))
    return communicator(made.value, MPI.Cartcomm)


def Reorder(
    comm: MPI.Intracomm,
    sources: Sequence[int],
    degrees: Sequence[int],
    destinations: Sequence[int],
    weights: Sequence[float] | None = None,
    info: MPI.Info | None = None,
) -> MPI.Intracomm:
    """All processes of comm in the order that the graph wants, without a topology. Collective over comm."""
    require_graph(sources, degrees, destinations, weights)
    made, rank = HANDLE(MPI.COMM_NULL.handle), INT()
    doubles = None if weights is None else (ctypes.c_double * max(len(weights), 1))(*weights)
    lists = (integers(sources), integers(degrees), integers(destinations), doubles)
    outputs = (ctypes.byref(rank), ctypes.byref(made))
    call("Comm_reorder", comm, len(sources), *lists, info_handle(info), *outputs)
    return MPI.Intracomm.fromhandle(made.value)


def Get_reorder_info(comm: MPI.Intracomm) -> dict[str, str]:
    """What reordering did to comm: ranktree_reorder, _before, _after, _reason where no rank has changed. Local."""
    made = HANDLE(MPI.INFO_NULL.handle)
    call("Comm_get_info", comm, ctypes.byref(made))
    info = MPI.Info.fromhandle(made.value)
    found = dict(info.items())
    info.Free()
    return found


def Read_pattern(
    file: str | os.PathLike[str], comm: MPI.Intracomm, metric: str = "size"
) -> tuple[list[int], list[int], list[int], list[int]]:
    """The graph of a recorded pattern: sources, degrees, destinations, weights; all at rank 0, empty lists elsewhere.

    metric: "size", "msg" or "avg". Collective over comm. treematch-2013 appendix A.
    """
    count, made = INT(), [ctypes.POINTER(INT)() for _ in range(4)]
    code = function("read_pattern")(
        os.fsencode(file), comm.handle, metric.encode(), ctypes.byref(count), *map(ctypes.byref, made)
    )
    check(code, "read_pattern", comm)
    edges = sum(made[1][: count.value]) if count.value else 0
    lists = [pointer[:length] for pointer, length in zip(made, [count.value] * 2 + [edges] * 2, strict=True)]
    for pointer in made:
        C_LIBRARY.free(pointer)
    return tuple(lists)


def Rebalance(comm: MPI.Intracomm, info: MPI.Info | None = None) -> tuple[MPI.Intracomm, list[int]] | None:
    """A better order for the traffic recorded since the last call, with the new rank of every rank of comm.

    None where the gain would not exceed the cost; message(comm) tells both. Collective over comm.
    """
    made, ranks = HANDLE(MPI.COMM_NULL.handle), (INT * comm.size)()
    call("Comm_rebalance", comm, info_handle(info), ranks, ctypes.byref(made))
    better = communicator(made.value)
    return None if better is None else (better, list(ranks))


def call(name: str, comm: MPI.Comm, *arguments: object) -> None:
    """Calls a function on a communicator; a code other than success is raised."""
    check(function(name)(comm.handle, *arguments), name, comm)


def communicator(handle: int | None, kind: type = MPI.Intracomm):
    """mpi4py's object for a handle; None for MPI_COMM_NULL."""
    made = kind.fromhandle(handle or 0)
    return None if made == MPI.COMM_NULL else made


def require_length(name: str, values: Sequence | None, length: int) -> None:
    """Raises ValueError unless a list that was given has this length: C would read beyond it."""
    if values is not None and len(values) != length:
        raise ValueError(f"{name}: expected {length} entries, found {len(values)}")


def require_graph(
    sources: Sequence[int], degrees: Sequence[int], destinations: Sequence[int], weights: Sequence[float] | None
) -> None:
    """Raises ValueError unless the lengths fit together. What is in the lists is checked by the call itself."""
    require_length("degrees", degrees, len(sources))
    edges = sum(max(degree, 0) for degree in degrees)
    require_length("destinations", destinations, edges)
    require_length("weights", weights, edges)


def integers(values: Sequence[int]) -> ctypes.Array:
    """A C array; of one entry where there are none."""
    return (INT * max(len(values), 1))(*values)


def weight_list(weights: Sequence[int] | None) -> ctypes.Array | int:
    """A C array, or the address that means MPI_UNWEIGHTED."""
    return MPI.UNWEIGHTED if weights is None else integers(weights)


def function(name: str):
    """A function of the library that was built for this process's MPI."""
    return library_function(name, *PARAMETERS[name])
