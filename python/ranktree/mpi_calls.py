"""How ranktree.mpi calls the library of this process's MPI: parameters, handles, lists."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from ranktree.mpi_library import (
    HANDLE,
    INT,
    MPI,
    POINTER,
    IntArgument,
    check,
    from_handle,
    handle_of,
    library_function,
)

Kind = TypeVar("Kind", bound=MPI.Comm)

PARAMETERS = {
    "Comm_hsplit": [HANDLE, IntArgument, HANDLE, POINTER],
    "Comm_hsplit_with_roots": [HANDLE, HANDLE, POINTER, POINTER],
    "Comm_hsplit_all": [HANDLE, HANDLE, IntArgument, POINTER, POINTER, POINTER],
    "Comm_split_type": [HANDLE, IntArgument, IntArgument, HANDLE, POINTER],
    "Comm_get_hlevel_info": [HANDLE, POINTER, POINTER, POINTER, IntArgument, POINTER],
    "Comm_get_min_hlevel": [HANDLE, IntArgument, POINTER, POINTER, IntArgument, POINTER],
    "Comm_get_location": [HANDLE, IntArgument, IntArgument, POINTER, POINTER, POINTER],
    "Get_hw_resource_info": [POINTER],
    "Dist_graph_create": [HANDLE, IntArgument, POINTER, POINTER, POINTER, POINTER, HANDLE, IntArgument, POINTER],
    "Dist_graph_create_adjacent": [HANDLE, *[IntArgument, POINTER, POINTER] * 2, HANDLE, IntArgument, POINTER],
    "Graph_create": [HANDLE, IntArgument, POINTER, POINTER, IntArgument, POINTER],
    "Cart_create": [HANDLE, IntArgument, POINTER, POINTER, IntArgument, POINTER],
    "Dims_create": [HANDLE, IntArgument, POINTER, POINTER, HANDLE, POINTER],
    "Cart_create_weighted": [HANDLE, IntArgument, POINTER, POINTER, HANDLE, POINTER, POINTER],
    "Comm_reorder": [HANDLE, IntArgument, POINTER, POINTER, POINTER, POINTER, HANDLE, POINTER, POINTER],
    "Comm_get_info": [HANDLE, POINTER],
    "read_pattern": [ctypes.c_char_p, HANDLE, ctypes.c_char_p, *[POINTER] * 5],
    "Comm_rebalance": [HANDLE, HANDLE, POINTER, POINTER],
}


def call(name: str, comm: MPI.Comm, *arguments: object) -> None:
    """Calls a function on a communicator; a code other than success is raised."""
    check(function(name)(handle_of(comm), *arguments), name, comm)


def communicator(handle: int | None, kind: type[Kind]) -> Kind | None:
    """mpi4py's object for a handle; None for MPI_COMM_NULL."""
    made = from_handle(kind, handle)
    return None if made == MPI.COMM_NULL else made


def function(name: str) -> Callable[..., int]:
    """A function of the library that was built for this process's MPI."""
    parameters = cast(Sequence[Any], PARAMETERS[name])
    return library_function(name, *parameters)


def integers(values: Sequence[int]) -> "ctypes.Array[ctypes.c_int]":
    """A C array; of one entry where there are none. OverflowError for what is no C int."""
    return (INT * max(len(values), 1))(*map(IntArgument.from_param, values))
