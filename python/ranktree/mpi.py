"""Hierarchical communicators (hsplit-2018), rank reordering (reorder-2011) and collectives for mpi4py: ranktree/mpi.h.

    for level in ranktree.mpi.levels(MPI.COMM_WORLD):
        level.comm.Barrier()
    grid = ranktree.mpi.Create_cart(MPI.COMM_WORLD, [4, 4])

Calls that make communicators are collective over `comm`, and so is freeing what they made. A part that this rank has
not is None. MPI errors raise mpi4py.MPI.Exception; what is known beyond MPI's own text is added as a note.
"""

import ctypes
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self, overload

from ranktree.mpi_calls import call, communicator, function, integers
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
    from_handle,
    handle_of,
    info_handle,
    library_function,
    message,
)
from ranktree.mpi_reorder import (  # noqa: F401
    Compute_dims,
    Create_cart,
    Create_cart_weighted,
    Create_dist_graph,
    Create_dist_graph_adjacent,
    Create_graph,
    Get_reorder_info,
    Read_pattern,
    Rebalance,
    Reorder,
)

__all__ = [
    "Allgather",
    "Allgather_init",
    "Allgatherv",
    "Allgatherv_init",
    "Allreduce",
    "Allreduce_init",
    "Alltoall",
    "Alltoall_init",
    "Barrier",
    "Barrier_init",
    "Bcast",
    "Bcast_init",
    "COMM_TYPE_HW_GUIDED",
    "COMM_TYPE_HW_UNGUIDED",
    "COMM_TYPE_RESOURCE_GUIDED",
    "COMM_TYPE_SHARED",
    "Compute_dims",
    "Create_cart",
    "Create_cart_weighted",
    "Create_dist_graph",
    "Create_dist_graph_adjacent",
    "Create_graph",
    "Gather",
    "Gather_init",
    "Gatherv",
    "Gatherv_init",
    "Get_hlevel_info",
    "Get_hw_resource_info",
    "Get_location",
    "Get_min_hlevel",
    "Get_reorder_info",
    "Hsplit",
    "Hsplit_all",
    "Hsplit_with_roots",
    "Iallgather",
    "Iallgatherv",
    "Iallreduce",
    "Ialltoall",
    "Ibarrier",
    "Ibcast",
    "Igather",
    "Igatherv",
    "Ireduce",
    "Ireduce_scatter",
    "Ireduce_scatter_block",
    "Iscatter",
    "Iscatterv",
    "Level",
    "Levels",
    "Read_pattern",
    "Rebalance",
    "Reduce",
    "Reduce_init",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Reduce_scatter_block_init",
    "Reduce_scatter_init",
    "Reorder",
    "Request",
    "Scatter",
    "Scatter_init",
    "Scatterv",
    "Scatterv_init",
    "Set_reproducible",
    "Split_type",
    "levels",
    "message",
]

MAX_TYPE = 32  # RANKTREE_MAX_TYPE
LEVELS_AT_ONCE = 64
LONGEST_CHAIN = 256

COMM_TYPE_SHARED = 0x52540001
COMM_TYPE_HW_UNGUIDED = 0x52540002
COMM_TYPE_HW_GUIDED = 0x52540003
COMM_TYPE_RESOURCE_GUIDED = 0x52540004


class Level:
    """A communicator of the ranks of one object of the machine, and what it stands for."""

    def __init__(self, comm: MPI.Intracomm, roots: MPI.Intracomm | None) -> None:
        """Takes over both communicators."""
        self.comm = comm  # the ranks of this object
        self.roots = roots  # the roots of all parts with the same parent; None where this rank is no root
        self.type, self.index, self.count = Get_hlevel_info(comm)  # "Package", index of count with the same parent

    def Free(self) -> None:
        """Free the communicators. Collective over each; a second time does nothing.

        Raises
        ------
        mpi4py.MPI.Exception
            Where MPI returns an error.
        """
        for comm in (self.roots, self.comm):
            if comm is not None and comm != MPI.COMM_NULL:
                comm.Free()

    def __enter__(self) -> Self:
        """The level itself."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Frees the communicators."""
        self.Free()

    def __repr__(self) -> str:
        """For example: <Package 0 of 2, 4 ranks>."""
        size = "freed" if self.comm == MPI.COMM_NULL else f"{self.comm.size} ranks"
        return f"<{self.type} {self.index} of {self.count}, {size}>"


class Levels(Sequence[Level]):
    """All levels that a rank belongs to, the widest first; freed at the end of a `with`, or by Free()."""

    def __init__(self, levels: Sequence[Level]) -> None:
        """Takes over the levels."""
        self._levels = tuple(levels)

    def __len__(self) -> int:
        """The number of levels; ranks may differ."""
        return len(self._levels)

    @overload
    def __getitem__(self, index: int) -> Level: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Level, ...]: ...

    def __getitem__(self, index: int | slice) -> Level | tuple[Level, ...]:
        """A level, or a tuple of them for a slice."""
        return self._levels[index]

    def __iter__(self) -> Iterator[Level]:
        """The widest first."""
        return iter(self._levels)

    def Free(self) -> None:
        """Free all levels, the deepest first on every rank, so that no two ranks wait for each other.

        Raises
        ------
        mpi4py.MPI.Exception
            Where MPI returns an error.
        """
        for level in reversed(self._levels):
            level.Free()

    def __enter__(self) -> Self:
        """The levels themselves."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Frees all levels."""
        self.Free()

    def __repr__(self) -> str:
        """The levels as a list."""
        return repr(list(self._levels))


def levels(comm: MPI.Intracomm, info: MPI.Info | None = None) -> Levels:
    """Split a communicator by every level of the machine. Collective over comm. hsplit-2018 §3.4.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    Levels
        Those that this rank belongs to, the widest first.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    found: list[Level] = []
    parent, more = comm, True
    while more:
        made, roots = Hsplit_all(parent, LEVELS_AT_ONCE, info)
        found += [Level(level, root) for level, root in zip(made, roots, strict=True)]
        more = len(made) == LEVELS_AT_ONCE  # on all ranks of the deepest one
        parent = made[-1] if made else parent
    return Levels(found)


def Hsplit(comm: MPI.Intracomm, key: int = 0, info: MPI.Info | None = None) -> MPI.Intracomm | None:
    """Split one level down, the highest first. Collective over comm. hsplit-2018 §3.2.1.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    key : int
        Orders the ranks of a part; ties keep the order of comm.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    mpi4py.MPI.Intracomm or None
        This rank's part, None where it has none.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    made = handle_of(MPI.COMM_NULL)
    call("Comm_hsplit", comm, key, info_handle(info), ctypes.byref(made))
    return communicator(made.value, MPI.Intracomm)


def Hsplit_with_roots(
    comm: MPI.Intracomm, info: MPI.Info | None = None
) -> tuple[MPI.Intracomm | None, MPI.Intracomm | None]:
    """Split one level down, with the communicator of the roots. Collective over comm. hsplit-2018 §3.2.3.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    tuple
        This rank's part, and at rank 0 of each part the communicator of all of these; None where there is none.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    made, roots = handle_of(MPI.COMM_NULL), handle_of(MPI.COMM_NULL)
    call("Comm_hsplit_with_roots", comm, info_handle(info), ctypes.byref(made), ctypes.byref(roots))
    return communicator(made.value, MPI.Intracomm), communicator(roots.value, MPI.Intracomm)


def Hsplit_all(
    comm: MPI.Intracomm, most: int, info: MPI.Info | None = None
) -> tuple[list[MPI.Intracomm], list[MPI.Intracomm | None]]:
    """Split by several levels at once; levels() makes all. Collective over comm. hsplit-2018 §3.4.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    most : int
        Levels at most, equal on all ranks.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    tuple of lists
        The communicators, the widest first, and the roots of each level (None where this rank is no root).

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    count = INT()
    made, roots = ((HANDLE * max(most + 1, 1))() for _ in range(2))
    call("Comm_hsplit_all", comm, info_handle(info), most, ctypes.byref(count), made, roots)
    return (
        [from_handle(MPI.Intracomm, handle) for handle in made[: count.value]],
        [communicator(handle, MPI.Intracomm) for handle in roots[: count.value]],
    )


def Split_type(
    comm: MPI.Intracomm, split_type: int, key: int = 0, info: MPI.Info | None = None
) -> MPI.Intracomm | None:
    """Split by MPI_Comm_split_type of MPI 5.0 §7.4.2. Collective over comm.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    split_type : int
        COMM_TYPE_SHARED, COMM_TYPE_HW_UNGUIDED, COMM_TYPE_HW_GUIDED or COMM_TYPE_RESOURCE_GUIDED.
    key : int
        Orders the ranks of a part.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    mpi4py.MPI.Intracomm or None
        This rank's part.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    made = handle_of(MPI.COMM_NULL)
    call("Comm_split_type", comm, split_type, key, info_handle(info), ctypes.byref(made))
    return communicator(made.value, MPI.Intracomm)


def Get_hlevel_info(comm: MPI.Intracomm) -> tuple[str, int, int]:
    """Return the object of the machine that a communicator represents. Local. hsplit-2018 §3.3.1.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.

    Returns
    -------
    tuple
        Type, index among the parts of the same parent, and their number.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    count, index, length = INT(), INT(), INT()
    name = ctypes.create_string_buffer(MAX_TYPE)
    pointers = (ctypes.byref(count), ctypes.byref(index), name, MAX_TYPE, ctypes.byref(length))
    call("Comm_get_hlevel_info", comm, *pointers)
    return name.value.decode(), index.value, count.value


def Get_min_hlevel(comm: MPI.Intracomm, ranks: Sequence[int]) -> str:
    """Return the lowest level that ranks share. Collective over comm. hsplit-2018 §3.3.2.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    ranks : sequence of int
        Ranks in comm; each rank may query other ones.

    Returns
    -------
    str
        "Unknown" where the caller is not among them.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    name, length = ctypes.create_string_buffer(MAX_TYPE), INT()
    call("Comm_get_min_hlevel", comm, len(ranks), integers(ranks), name, MAX_TYPE, ctypes.byref(length))
    return name.value.decode()


def Get_location(comm: MPI.Intracomm, rank: int) -> list[tuple[str, int]]:
    """Return the chain of a rank. Collective over comm; each rank may query another one.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    rank : int
        A rank in comm.

    Returns
    -------
    list of tuple
        (type, number), outermost first.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    count = INT()
    names, numbers = (ctypes.c_char * MAX_TYPE * LONGEST_CHAIN)(), (ctypes.c_int64 * LONGEST_CHAIN)()
    call("Comm_get_location", comm, rank, LONGEST_CHAIN, ctypes.byref(count), names, numbers)
    return [(names[i].value.decode(), numbers[i]) for i in range(min(count.value, LONGEST_CHAIN))]


def Get_hw_resource_info() -> dict[str, bool]:
    """Return the resources of this machine. Local. MPI 5.0 §9.1.2.

    Returns
    -------
    dict
        True for each resource that the caller is bound within one instance of, by its name.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    made = handle_of(MPI.INFO_NULL)
    check(function("Get_hw_resource_info")(ctypes.byref(made)), "Get_hw_resource_info", MPI.COMM_NULL)
    info = from_handle(MPI.Info, made.value)
    found = {key: value == "true" for key, value in info.items()}
    info.Free()
    return found
