"""mpi4py's buffer specifications, for the collectives of ranktree.mpi.

A message is an object with the buffer protocol (contiguous; its datatype is found by its format), or a list or tuple:
[data, datatype], [data, count], [data, count, datatype], [data, count, displacement, datatype], where count and
displacement may also be one tuple; for blocks of different sizes counts and displacements are sequences, or a number
for all. A datatype is an mpi4py.MPI.Datatype or a typecode such as "d". Counts are found by the length of the data
where they are not given. MPI.BOTTOM stands for data with a datatype of addresses.
"""

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import index
from typing import Any

from ranktree.mpi_library import MPI

COUNT = ctypes.c_int64  # MPI_Count and MPI_Aint
BUFFER = getattr(MPI, "buffer", None) or MPI.memory  # the name in mpi4py 3.1
NATIVE = "@<" if sys.byteorder == "little" else "@>"


@dataclass
class Message:
    """A buffer as C takes it; counts and displacements where blocks differ in size, else count."""

    address: int = 0
    count: int = 0
    datatype: MPI.Datatype = field(default_factory=lambda: MPI.BYTE)
    counts: "ctypes.Array[Any] | None" = None
    displacements: "ctypes.Array[Any] | None" = None
    owner: object = None  # what keeps the memory

    @property
    def block(self) -> tuple[Any, ...]:
        """C's arguments of blocks of the same size."""
        return self.address, self.count, self.datatype

    @property
    def lists(self) -> tuple[Any, ...]:
        """C's arguments of blocks of different sizes."""
        return self.address, self.counts, self.displacements, self.datatype


def in_place() -> Message:
    """MPI_IN_PLACE."""
    return Message(address=int(MPI.IN_PLACE), owner=MPI.IN_PLACE)


def is_in_place(spec: Any) -> bool:
    """As mpi4py has it: None means the same."""
    return spec is None or spec is MPI.IN_PLACE


def has_buffer(spec: Any) -> bool:
    """Whether it has the buffer protocol."""
    try:
        memoryview(spec).release()
    except (TypeError, BufferError, ValueError):
        return False
    return True


def parts_of(spec: Any) -> tuple[Any, Any, Any, Any]:
    """Data, count, displacement and datatype of a specification; None for what is not said."""
    if has_buffer(spec):
        return spec, None, None, None
    if not isinstance(spec, list | tuple):
        raise TypeError("message: expecting buffer or list/tuple")
    if not 2 <= len(spec) <= 4:
        raise ValueError("message: expecting 2 to 4 items")
    if len(spec) == 4:
        return tuple(spec)
    data, count = spec[:2]
    datatype = spec[2] if len(spec) == 3 else None
    if len(spec) == 2 and isinstance(count, MPI.Datatype | str):
        count, datatype = None, count
    if isinstance(count, tuple) and len(count) == 2:
        return data, count[0], count[1], datatype
    return data, count, None, datatype


def datatype_of(given: Any, data: Any) -> MPI.Datatype:
    """The datatype that is given, or that of the data's format."""
    if isinstance(given, MPI.Datatype):
        return given
    if isinstance(given, str):
        return from_code(given)
    code = memoryview(data).format
    if code[0] in "<>=!@" and code[0] not in NATIVE:
        raise BufferError(f"format string {code!r} with non-native byte order")
    return from_code(code.lstrip(NATIVE))


def from_code(code: str) -> MPI.Datatype:
    """The datatype of a format's character. ValueError where there is none."""
    if hasattr(MPI.Datatype, "fromcode"):  # mpi4py 4
        return MPI.Datatype.fromcode(code)
    found = MPI._typedict.get(code)
    if found is None:
        raise ValueError(f"cannot map character code {code!r} to MPI datatype")
    return found


def memory_of(data: Any, datatype: Any, writable: bool) -> tuple[int, int, MPI.Datatype, object]:
    """Address, bytes, datatype and owner of the data."""
    if data is None or data is MPI.BOTTOM:
        if datatype is None:
            raise ValueError("message: MPI.BOTTOM needs a datatype")
        return int(MPI.BOTTOM), 0, datatype_of(datatype, data), None
    found = datatype_of(datatype, data)
    owner = BUFFER.frombuffer(data, readonly=not writable)
    return owner.address, owner.nbytes, found, owner


def elements_in(length: int, datatype: MPI.Datatype) -> int:
    """How many elements so many bytes are."""
    if length == 0:
        return 0
    extent = datatype.Get_extent()[1]
    if extent <= 0 or length % extent:
        raise ValueError(f"message: cannot infer count, {length} bytes are no multiple of datatype extent {extent}")
    return length // extent


def simple(spec: Any, writable: bool = False, blocks: int = 1) -> Message:
    """A message of so many blocks of the same size; its count is that of one."""
    data, count, displacement, given = parts_of(spec)
    if isinstance(count, list):
        count, displacement = count
    address, length, datatype, owner = memory_of(data, given, writable)
    if displacement is not None:
        offset = index(displacement) * datatype.Get_extent()[1]
        if not 0 <= offset <= length:
            raise ValueError(f"message: displacement {displacement} out of bounds")
        address, length = address + offset, length - offset
    if count is None:
        whole = elements_in(length, datatype)
        if whole % max(blocks, 1):
            raise ValueError(f"message: cannot infer count, {whole} entries are no multiple of {blocks} blocks")
        count = whole // max(blocks, 1)
    count = index(count)
    if count < 0:
        raise ValueError(f"message: negative count {count}")
    if count > 0 and data is None:
        raise ValueError(f"message: buffer is None but count is {count}")
    return Message(address, count, datatype, owner=owner)


def vector(spec: Any, blocks: int, writable: bool = False) -> Message:
    """A message of so many blocks, each with a count and a displacement."""
    data, counts, displacements, given = parts_of(spec)
    address, length, datatype, owner = memory_of(data, given, writable)
    if counts is None:
        whole = elements_in(length, datatype)
        counts = [whole // blocks + (whole % blocks > i) for i in range(blocks)]
    elif is_number(counts):
        counts = [counts] * blocks
    counts = listed(counts, blocks)
    if displacements is None:
        displacements = [0, *accumulate(counts)][:blocks]
    elif is_number(displacements):
        displacements = [i * index(displacements) for i in range(blocks)]
    return Message(address, 0, datatype, numbers_of(counts), numbers_of(listed(displacements, blocks)), owner)


def is_number(given: Any) -> bool:
    """Whether it stands for every block."""
    return hasattr(given, "__index__") and not getattr(given, "shape", ())


def listed(given: Sequence[int], blocks: int) -> list[int]:
    """A number for each block."""
    if len(given) != blocks:
        raise ValueError(f"message: expecting {blocks} items, got {len(given)}")
    return [index(one) for one in given]


def numbers_of(values: Sequence[int]) -> "ctypes.Array[Any]":
    """A list as C takes it."""
    return (COUNT * max(len(values), 1))(*values)
