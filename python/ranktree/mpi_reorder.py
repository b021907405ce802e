"""Rank reordering (reorder-2011) for mpi4py: the calls of ranktree.mpi that make communicators in a better order."""

import ctypes
import numbers
import os
from collections.abc import Sequence
from typing import Any

from ranktree.mpi_calls import call, communicator, function, integers
from ranktree.mpi_library import INT, MPI, check, from_handle, handle_of, info_handle

C_LIBRARY = ctypes.CDLL(None)


def Create_dist_graph(
    comm: MPI.Intracomm,
    sources: Sequence[int],
    degrees: Sequence[int],
    destinations: Sequence[int],
    weights: Sequence[int] | None = None,
    info: MPI.Info | None = None,
    reorder: bool = True,
) -> MPI.Distgraphcomm:
    """Create a distributed graph topology with reordering. Collective over comm. reorder-2011 §3.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    sources : sequence of int
        Vertices whose edges this rank declares.
    degrees : sequence of int
        Number of edges of each source.
    destinations : sequence of int
        The other end of each edge.
    weights : sequence, optional
        The traffic of each edge; None on all ranks: every edge counts once.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.
    reorder : bool
        False: no rank changes.

    Returns
    -------
    mpi4py.MPI.Distgraphcomm
        Its rank k owns vertex k.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    ValueError
        Where the lengths of lists do not fit together, or a weight is no C int.
    """
    require_graph(sources, degrees, destinations, weights)
    made = handle_of(MPI.COMM_NULL)
    lists = (integers(sources), integers(degrees), integers(destinations), weight_list("weights", weights))
    call("Dist_graph_create", comm, len(sources), *lists, info_handle(info), int(reorder), ctypes.byref(made))
    return from_handle(MPI.Distgraphcomm, made.value)


def Create_dist_graph_adjacent(
    comm: MPI.Intracomm,
    sources: Sequence[int],
    destinations: Sequence[int],
    sourceweights: Sequence[int] | None = None,
    destweights: Sequence[int] | None = None,
    info: MPI.Info | None = None,
    reorder: bool = True,
) -> MPI.Distgraphcomm:
    """Create a graph topology with reordering: rank k declares all edges of vertex k. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    sources : sequence of int
        Vertices that send to this one.
    destinations : sequence of int
        Vertices that this one sends to.
    sourceweights : sequence of int, optional
        The traffic of each source.
    destweights : sequence of int, optional
        The traffic of each destination.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.
    reorder : bool
        False: no rank changes.

    Returns
    -------
    mpi4py.MPI.Distgraphcomm
        Its rank k owns vertex k.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    ValueError
        Where the lengths of lists do not fit together, or a weight is no C int.
    """
    require_length("sourceweights", sourceweights, len(sources))
    require_length("destweights", destweights, len(destinations))
    made = handle_of(MPI.COMM_NULL)
    into = (len(sources), integers(sources), weight_list("sourceweights", sourceweights))
    out = (len(destinations), integers(destinations), weight_list("destweights", destweights))
    call("Dist_graph_create_adjacent", comm, *into, *out, info_handle(info), int(reorder), ctypes.byref(made))
    return from_handle(MPI.Distgraphcomm, made.value)


def Create_graph(
    comm: MPI.Intracomm, index: Sequence[int], edges: Sequence[int], reorder: bool = True
) -> MPI.Graphcomm | None:
    """Create a graph topology with reordering: every rank passes the whole graph. Collective over comm.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    index : sequence of int
        Degrees summed up, as MPI_Graph_create takes them.
    edges : sequence of int
        The other ends of the edges of all vertices.
    reorder : bool
        False: no rank changes.

    Returns
    -------
    mpi4py.MPI.Graphcomm or None
        None for ranks beyond the vertices.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    ValueError
        Where the lengths of lists do not fit together.
    """
    require_length("edges", edges, max(index, default=0))
    made = handle_of(MPI.COMM_NULL)
    call("Graph_create", comm, len(index), integers(index), integers(edges), int(reorder), ctypes.byref(made))
    return communicator(made.value, MPI.Graphcomm)


def Create_cart(
    comm: MPI.Intracomm, dims: Sequence[int], periods: Sequence[bool] | None = None, reorder: bool = True
) -> MPI.Cartcomm | None:
    """Create a Cartesian topology, the grid tiled on the machine's tree. Collective over comm.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    dims : sequence of int
        Processes in each dimension.
    periods : sequence of bool, optional
        Whether each dimension is periodic; none by default.
    reorder : bool
        False: no rank changes.

    Returns
    -------
    mpi4py.MPI.Cartcomm or None
        None for ranks beyond the grid.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    ValueError
        Where the lengths of lists do not fit together.
    """
    made = handle_of(MPI.COMM_NULL)
    periodic = periods_of(periods, len(dims))
    call("Cart_create", comm, len(dims), integers(dims), periodic, int(reorder), ctypes.byref(made))
    return communicator(made.value, MPI.Cartcomm)


def Compute_dims(
    comm: MPI.Intracomm,
    dims: int | Sequence[int],
    weights: Sequence[float] | None = None,
    periods: Sequence[bool] | None = None,
    info: MPI.Info | None = None,
) -> list[int]:
    """Return the grid of all ranks that fits given traffic and this machine. Collective over comm.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    dims : int or sequence of int
        Processes in each dimension, 0 where they are to be chosen; or how many dimensions, all to be chosen.
    weights : sequence of float, optional
        What is exchanged through a plane across the whole domain, by dimension; all equal by default.
    periods : sequence of bool, optional
        Whether each dimension is periodic; none by default.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    list of int
        Processes in each dimension.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    ValueError
        Where the lengths of lists do not fit together.
    """
    lengths = lengths_of(dims)
    *arguments, grid = grid_arguments(lengths, weights, periods, info)
    call("Dims_create", comm, *arguments, grid)
    return list(grid)[: len(lengths)]


def Create_cart_weighted(
    comm: MPI.Intracomm,
    dims: int | Sequence[int],
    weights: Sequence[float] | None = None,
    periods: Sequence[bool] | None = None,
    info: MPI.Info | None = None,
) -> MPI.Cartcomm | None:
    """Create a Cartesian topology whose grid fits given traffic and this machine. Collective over comm.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    dims : int or sequence of int
        Processes in each dimension, 0 where they are to be chosen; or how many dimensions, all to be chosen.
    weights : sequence of float, optional
        What is exchanged through a plane across the whole domain, by dimension; all equal by default.
    periods : sequence of bool, optional
        Whether each dimension is periodic; none by default.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    mpi4py.MPI.Cartcomm or None
        None for ranks beyond the grid.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    ValueError
        Where the lengths of lists do not fit together.
    """
    arguments = grid_arguments(lengths_of(dims), weights, periods, info)
    made = handle_of(MPI.COMM_NULL)
    call("Cart_create_weighted", comm, *arguments, ctypes.byref(made))
    return communicator(made.value, MPI.Cartcomm)


def Reorder(
    comm: MPI.Intracomm,
    sources: Sequence[int],
    degrees: Sequence[int],
    destinations: Sequence[int],
    weights: Sequence[float] | None = None,
    info: MPI.Info | None = None,
) -> MPI.Intracomm:
    """Return all processes of comm in the order that a graph wants, without a topology. Collective over comm.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    sources : sequence of int
        Vertices whose edges this rank declares.
    degrees : sequence of int
        Number of edges of each source.
    destinations : sequence of int
        The other end of each edge.
    weights : sequence, optional
        The traffic of each edge; None on all ranks: every edge counts once.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    mpi4py.MPI.Intracomm
        Its rank k owns vertex k.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    ValueError
        Where the lengths of lists do not fit together.
    """
    require_graph(sources, degrees, destinations, weights)
    made, rank = handle_of(MPI.COMM_NULL), INT()
    doubles = None if weights is None else (ctypes.c_double * max(len(weights), 1))(*weights)
    lists = (integers(sources), integers(degrees), integers(destinations), doubles)
    outputs = (ctypes.byref(rank), ctypes.byref(made))
    call("Comm_reorder", comm, len(sources), *lists, info_handle(info), *outputs)
    return from_handle(MPI.Intracomm, made.value)


def Get_reorder_info(comm: MPI.Intracomm) -> dict[str, str]:
    """Return the result of reordering. Local.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.

    Returns
    -------
    dict
        ranktree_reorder, ranktree_reorder_before, _after, and _reason where no rank has changed.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    made = handle_of(MPI.INFO_NULL)
    call("Comm_get_info", comm, ctypes.byref(made))
    info = from_handle(MPI.Info, made.value)
    found = dict(info.items())
    info.Free()
    return found


def Read_pattern(
    file: str | os.PathLike[str], comm: MPI.Intracomm, metric: str = "size"
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Read the graph of a recorded pattern. Collective over comm. treematch-2013 appendix A.

    Parameters
    ----------
    file : str or os.PathLike
        A file of any format of docs/reference/formats/pattern.md, read by rank 0.
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    metric : {"size", "msg", "avg"}
        What the weights count.

    Returns
    -------
    tuple of lists
        Sources, degrees, destinations and weights: all at rank 0, empty elsewhere.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    count, made = INT(), [ctypes.POINTER(INT)() for _ in range(4)]
    code = function("read_pattern")(
        os.fsencode(file), handle_of(comm), metric.encode(), ctypes.byref(count), *map(ctypes.byref, made)
    )
    check(code, "read_pattern", comm)
    edges = sum(made[1][: count.value]) if count.value else 0
    lists = [pointer[:length] for pointer, length in zip(made, [count.value] * 2 + [edges] * 2, strict=True)]
    for pointer in made:
        C_LIBRARY.free(pointer)
    return lists[0], lists[1], lists[2], lists[3]


def Rebalance(comm: MPI.Intracomm, info: MPI.Info | None = None) -> tuple[MPI.Intracomm, list[int]] | None:
    """Return a better order for the traffic recorded since the last call. Collective over comm.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.
    info : mpi4py.MPI.Info, optional
        Info keys of ranktree/mpi.h, equal on all ranks.

    Returns
    -------
    tuple or None
        The communicator and the new rank of each rank of comm; None where the gain does not exceed the cost, which
        message(comm) explains.

    Raises
    ------
    mpi4py.MPI.Exception
        Where MPI or Ranktree returns an error; its note has the reason.
    """
    made, ranks = handle_of(MPI.COMM_NULL), (INT * comm.size)()
    call("Comm_rebalance", comm, info_handle(info), ranks, ctypes.byref(made))
    better = communicator(made.value, MPI.Intracomm)
    return None if better is None else (better, list(ranks))


def require_length(name: str, values: Sequence[Any] | None, length: int) -> None:
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


def lengths_of(dims: Any) -> Sequence[int]:
    """Lengths as they are; zeros, which are to be chosen, for a number of dimensions."""
    return [0] * int(dims) if isinstance(dims, numbers.Integral) else dims


def grid_arguments(
    dims: Sequence[int], weights: Sequence[float] | None, periods: Sequence[bool] | None, info: MPI.Info | None
) -> tuple[Any, ...]:
    """The arguments that the calls with weights share; the last one is the C array of the grid."""
    require_length("weights", weights, len(dims))
    doubles = None if weights is None else (ctypes.c_double * max(len(weights), 1))(*weights)
    periodic = periods_of(periods, len(dims))
    return len(dims), doubles, periodic, info_handle(info), integers(dims)


def periods_of(periods: Sequence[bool] | None, dimensions: int) -> "ctypes.Array[ctypes.c_int]":
    """A C array; not periodic where nothing is given. ValueError for another length."""
    require_length("periods", periods, dimensions)
    return integers([0] * dimensions if periods is None else [int(period) for period in periods])


def weight_list(name: str, weights: Sequence[int] | None) -> "ctypes.Array[ctypes.c_int] | int":
    """A C array, or the address that means MPI_UNWEIGHTED. ValueError for what is no C int."""
    if weights is None:
        return MPI.UNWEIGHTED
    try:
        return integers(weights)
    except OverflowError as error:
        raise ValueError(f"{name}: {error}: MPI's weights are ints") from None
