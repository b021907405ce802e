"""How ranktree.mpi calls the library of this process's MPI: parameters, handles, lists."""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from ranktree.mpi_library import HANDLE, INT, MPI, POINTER, check, from_handle, handle_of, library_function

Kind = TypeVar("Kind", bound=MPI.Comm)

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
    "Dims_create": [HANDLE, INT, POINTER, POINTER, HANDLE, POINTER],
    "Cart_create_weighted": [HANDLE, INT, POINTER, POINTER, HANDLE, POINTER, POINTER],
    "Comm_reorder": [HANDLE, INT, POINTER, POINTER, POINTER, POINTER, HANDLE, POINTER, POINTER],
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
