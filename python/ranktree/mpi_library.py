"""The library libranktree_mpi_<mpi> of this process's MPI, and its errors as mpi4py's, for ranktree.mpi."""

import ctypes
import functools
import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from ranktree.elf import Elf, read_elf
from ranktree.helpers import HOW_TO_BUILD, LIBRARY_FOLDER, MARKS, not_built
from ranktree.shim import MPI_LIBRARY

try:
    from mpi4py import MPI
except ModuleNotFoundError as error:
    raise ImportError("ranktree.mpi needs mpi4py, version 3.1 or later: pip install mpi4py") from error
if not hasattr(MPI, "_handleof"):
    raise ImportError("ranktree.mpi needs mpi4py, version 3.1 or later; this one has no MPI._handleof")

__all__ = [
    "HANDLE",
    "INT",
    "MPI",
    "POINTER",
    "IntArgument",
    "check",
    "from_handle",
    "handle_of",
    "info_handle",
    "library",
    "library_function",
    "message",
]

PREFIX = "libranktree_mpi_"
# Handles are integers in MPICH and Intel MPI, pointers in Open MPI.
HANDLE = ctypes.c_uint if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_uint) else ctypes.c_void_p
INT, POINTER = ctypes.c_int, ctypes.c_void_p
INT_BITS = 31


class IntArgument:
    """A parameter of type int. Others than C ints are refused, of which ctypes takes the lowest bits."""

    @classmethod
    def from_param(cls, value: int) -> ctypes.c_int:
        """Called by ctypes, which names the argument in its error."""
        number = operator.index(value)
        if not -(1 << INT_BITS) <= number < 1 << INT_BITS:
            raise OverflowError(f"expected a C int, found {number}")
        return INT(number)


Kind = TypeVar("Kind", bound=MPI.Comm | MPI.Info)


def handle_of(thing: MPI.Comm | MPI.Datatype | MPI.Info | MPI.Op) -> ctypes.c_uint | ctypes.c_void_p:
    """MPI's handle of one of mpi4py's objects, as C takes it; a new HANDLE, which C may also change."""
    return HANDLE(MPI._handleof(thing))


def from_handle(kind: type[Kind], handle: int | None) -> Kind:
    """mpi4py's object for a handle; None stands for a null pointer."""
    made = kind()
    HANDLE.from_address(MPI._addressof(made)).value = handle or 0
    return made


def message(comm: MPI.Intracomm) -> str:
    """Return the reason of the last error of a call on a communicator, or a warning. Local.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        An intracommunicator.

    Returns
    -------
    str
        Empty where there is none.

    Raises
    ------
    mpi4py.MPI.Exception
        Where comm is no communicator.
    """
    length = INT()
    function = library_function("Comm_get_message", HANDLE, POINTER, INT, POINTER)
    function(handle_of(comm), ctypes.create_string_buffer(1), 1, ctypes.byref(length))
    size = length.value + 1
    text = ctypes.create_string_buffer(size)
    check(function(handle_of(comm), text, size, ctypes.byref(length)), "Comm_get_message", MPI.COMM_NULL)
    return text.value.decode(errors="replace")


def check(code: int, name: str, comm: MPI.Comm) -> None:
    """Raises mpi4py's exception for a code, with the name of the call and the reason as a note."""
    if code == MPI.SUCCESS:
        return
    error = MPI.Exception(code)
    reason = "" if comm == MPI.COMM_NULL or comm.Is_inter() else message(cast(MPI.Intracomm, comm))
    error.add_note(f"ranktree_{name}: {reason or 'no reason is known'}")
    raise error


def info_handle(info: MPI.Info | None) -> ctypes.c_uint | ctypes.c_void_p:
    """The handle of an info object; None stands for MPI_INFO_NULL."""
    return handle_of(MPI.INFO_NULL if info is None else info)


@functools.cache
def library_function(name: str, *parameters: Any) -> Callable[..., int]:
    """A function of the library that was built for this process's MPI. It runs without the interpreter's lock."""
    found = getattr(library(), f"ranktree_{name}")
    found.argtypes, found.restype = parameters, INT
    return cast(Callable[..., int], found)


@functools.cache
def library() -> ctypes.CDLL:
    """The library libranktree_mpi_<mpi> for the MPI that mpi4py is running on."""
    built = sorted(LIBRARY_FOLDER.glob(f"{PREFIX}*.so"))
    wanted = os.environ.get("RANKTREE_MPI")
    if wanted:
        built = [path for path in built if name_of(path) == wanted]
    fitting = sorted((path for path in built if runs_here(path)), key=strangeness)
    if not fitting:
        running = MPI.Get_library_version().splitlines()[0].strip("\0 ")
        named = f"RANKTREE_MPI={wanted}: " if wanted else ""
        names = ", ".join(map(name_of, built))
        reason = f"found: {names}; {HOW_TO_BUILD}" if names else not_built()
        raise ImportError(f"{named}no {PREFIX}<mpi>.so in {LIBRARY_FOLDER} for {running}; {reason}")
    return ctypes.CDLL(str(fitting[0]))


def name_of(path: Path) -> str:
    """The name that the build gave to the library's MPI."""
    return path.name.removeprefix(PREFIX).removesuffix(".so")


def runs_here(path: Path) -> bool:
    """Whether the MPI library that it links to is the one in this process: a second one must never be loaded."""
    names = mpi_names(read_elf(path))
    return bool(names) and all(is_loaded(name) for name in names)


def mpi_names(elf: Elf | None) -> list[str]:
    """The MPI libraries that a library links to."""
    return [name for name in elf.needed if MPI_LIBRARY.match(name)] if elf else []


def is_loaded(name: str) -> bool:
    """Whether this process has a library of that name."""
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False
    return True


def strangeness(path: Path) -> tuple[bool, bool, bool]:
    """Least for the library that was linked with this process's very MPI, then for one that names the same family.

    Open MPI 4 and 5 have one library name, and so have MPICH's releases and Intel MPI.
    """
    elf = read_elf(path)
    folders = [Path(folder) for folder in (*elf.folders, *elf.last_folders)] if elf else []
    loaded = {line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text(errors="replace").splitlines()}
    same = any(str((folder / name).resolve()) in loaded for folder in folders for name in mpi_names(elf))
    running = MPI.Get_library_version()
    family = next((family for family, mark in MARKS.items() if mark in running), "")
    return not same, not name_of(path).startswith(family), bool(folders)
