"""What a program file is: its machine, whether it is linked dynamically, and which libraries it reaches."""

import functools
import mmap
import os
import re
import struct
import subprocess
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"\x7fELF"
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29
SYSTEM_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
LDCONFIG_SECONDS = 10
MAX_PROGRAM_HEADERS = 4096
SHT_DYNSYM = 11
MPI_CALL = re.compile(rb"P?MPI_[A-Z][^\0]*")


@dataclass
class Elf:
    """One ELF file; `needed` are the names of the libraries that the loader gives it."""

    path: Path
    kind: tuple[int, int, int]  # class (32 or 64 bits), byte order, machine: equal for files that fit together
    interpreter: bool = False
    needed: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)  # searched before LD_LIBRARY_PATH (DT_RPATH)
    last_folders: list[str] = field(default_factory=list)  # searched after it (DT_RUNPATH); then the others are ignored


@dataclass(frozen=True)
class Segment:
    """A program header's share of the file."""

    kind: int
    offset: int
    address: int
    size: int


def read_elf(path: Path) -> Elf | None:
    """The file's dynamic part; None when it is no ELF file. ValueError when it is a damaged one."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None
        # Mapped, since only a few pages of an MPI library are looked at.
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return parse(path, data)
            except (struct.error, IndexError, ValueError):
                raise ValueError(f"{path}: a damaged ELF file") from None


def parse(path: Path, data: mmap.mmap) -> Elf:
    """The parts of an ELF file that the loader looks at first."""
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    (machine,) = struct.unpack_from(order + "H", data, 18)
    elf = Elf(path, (data[4], data[5], machine))
    segments = list(read_segments(data, wide, order))
    elf.interpreter = any(segment.kind == PT_INTERP for segment in segments)
    dynamic = next((segment for segment in segments if segment.kind == PT_DYNAMIC), None)
    if dynamic is None:
        return elf
    entries = list(read_dynamic(data, dynamic, wide, order))
    strings = next((file_offset(segments, value) for tag, value in entries if tag == DT_STRTAB), 0)
    for tag, value in entries:
        if tag == DT_NEEDED:
            elf.needed.append(text_at(data, strings + value))
        elif tag in {DT_RPATH, DT_RUNPATH}:
            (elf.folders if tag == DT_RPATH else elf.last_folders).extend(
                folder.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(path.resolve().parent))
                for folder in text_at(data, strings + value).split(":")
                if folder
            )
    return elf


def read_segments(data: mmap.mmap, wide: bool, order: str) -> Iterator[Segment]:
    """The program headers."""
    (start,) = struct.unpack_from(order + ("Q" if wide else "I"), data, 32 if wide else 28)
    size, count = struct.unpack_from(order + "HH", data, 54 if wide else 42)
    if count > MAX_PROGRAM_HEADERS:
        raise ValueError(count)
    for index in range(count):
        at = start + index * size
        if wide:
            kind, _, offset, address, _, length = struct.unpack_from(order + "IIQQQQ", data, at)
        else:
            kind, offset, address, _, length = struct.unpack_from(order + "IIIII", data, at)
        yield Segment(kind, offset, address, length)


def read_dynamic(data: mmap.mmap, dynamic: Segment, wide: bool, order: str) -> Iterator[tuple[int, int]]:
    """(tag, value) of each entry up to the closing one."""
    form = order + ("qQ" if wide else "iI")
    width = struct.calcsize(form)
    for at in range(dynamic.offset, dynamic.offset + dynamic.size, width):
        tag, value = struct.unpack_from(form, data, at)
        if tag == 0:
            return
        yield tag, value


@functools.cache
def mpi_calls(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The C calls of MPI (MPI_X, PMPI_X) that a library of 64 bits defines, and those that it needs; none without
    section headers. ValueError for a damaged file.
    """
    defined: set[str] = set()
    needed: set[str] = set()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            for name, section in read_mpi_symbols(data):
                (defined if section else needed).add(name)
        except (struct.error, IndexError, ValueError):
            raise ValueError(f"{path}: a damaged ELF file") from None
    return frozenset(defined), frozenset(needed)


def read_mpi_symbols(data: mmap.mmap) -> Iterator[tuple[str, int]]:
    """Name and section of each dynamic symbol that is a C call of MPI; section 0 is another file's."""
    if data[:4] != MAGIC or data[4] != 2:
        return
    order = "<" if data[5] == 1 else ">"
    (start,) = struct.unpack_from(order + "Q", data, 40)
    size, count = struct.unpack_from(order + "HH", data, 58)
    headers = [struct.unpack_from(order + "IIQQQQI", data, start + index * size) for index in range(count)]
    for header in headers:
        if header[1] != SHT_DYNSYM:
            continue
        strings = section_of(data, headers[header[6]])
        if not strings.endswith(b"\0"):
            raise ValueError("a name without an end")
        for name, _, _, section, _, _ in struct.iter_unpack(order + "IBBHQQ", section_of(data, header)):
            if name >= len(strings):
                raise ValueError(name)
            if call := MPI_CALL.match(strings, name):
                yield call[0].decode(errors="surrogateescape"), section


def section_of(data: mmap.mmap, header: tuple[int, ...]) -> bytes:
    """What a section header describes; ValueError where the file is shorter."""
    offset, length = header[4:6]
    found = data[offset : offset + length]
    if len(found) != length:
        raise ValueError(offset)
    return found


def file_offset(segments: list[Segment], address: int) -> int:
    """Where in the file a memory address comes from."""
    for segment in segments:
        if segment.kind == PT_LOAD and segment.address <= address < segment.address + segment.size:
            return address - segment.address + segment.offset
    raise ValueError(address)


def text_at(data: mmap.mmap, offset: int) -> str:
    """A text up to its zero byte."""
    end = data.find(b"\0", offset)
    if end < 0:
        raise ValueError(offset)
    return data[offset:end].decode(errors="surrogateescape")


@functools.cache
def loader_cache() -> dict[str, list[str]]:
    """The libraries that the system's loader knows, by name."""
    known: dict[str, list[str]] = {}
    for program in ("ldconfig", "/sbin/ldconfig"):
        try:
            result = subprocess.run(
                [program, "-p"], capture_output=True, text=True, timeout=LDCONFIG_SECONDS, check=False, errors="replace"
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        for line in result.stdout.splitlines():
            name, arrow, path = line.strip().partition(" => ")
            if arrow:
                known.setdefault(name.split()[0], []).append(path)
        break
    return known


def find_library(name: str, user: Elf) -> Elf | None:
    """The library that the loader would take for a name, of the same kind as the file that needs it."""
    if "/" in name:
        candidates = [name]
    else:
        listed = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
        first = [] if user.last_folders else user.folders
        candidates = [f"{folder}/{name}" for folder in (*first, *listed, *user.last_folders)]
        candidates += loader_cache().get(name, [])
        candidates += [f"{folder}/{name}" for folder in SYSTEM_FOLDERS]
    for candidate in candidates:
        if os.path.isfile(candidate):  # noqa: PTH113 - false, no error, in a folder that may not be entered
            found = read_elf(Path(candidate))
            if found is not None and found.kind == user.kind:
                return found
    return None


def libraries(program: Elf) -> Iterator[tuple[str, Path | None]]:
    """All libraries a program reaches, by name and file, nearest first; one that is not found has no file."""
    seen: set[str] = set()
    waiting = deque([program])
    while waiting:
        elf = waiting.popleft()
        for name in elf.needed:
            if name in seen:
                continue
            seen.add(name)
            found = find_library(name, elf)
            yield name, found.path.resolve() if found is not None else None
            if found is not None:
                waiting.append(found)
