"""Patterns: who talks to whom. `load` and `save` know every format of docs/reference/formats/pattern.md.

pattern = load("app.npz")                                                          # warns of what the file lacks
pattern.ranks, pattern.indptr, pattern.indices, pattern.messages, pattern.bytes     # CSR, by sender
pattern.traffic("rma")                                                             # (messages, bytes) of one class
save("app.mtx", expand(pattern, natural_model(pattern)))
matrix = load_matrix("matrix.npy")                                                 # a whole matrix, None for the rest
"""

import math
import os
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ranktree._core import Pattern, expand_pattern, load_pattern, natural_model, pattern_format, save_pattern

save = save_pattern
expand = expand_pattern

COLLECTIVE_MODELS = ("model", "openmpi", "mpich", "flat", "none")
MOST_UNFOLDED = 1032  # bytes that deflate makes of one
LONGEST_REASON = 160  # characters of another library's

__all__ = ["Pattern", "expand", "load", "load_matrix", "natural_model", "pattern_format", "read", "save"]


def load(path: "str | os.PathLike[str]", source_format: str | None = None, metric: str | None = None) -> Pattern:
    """Read the pattern in a file.

    Parameters
    ----------
    path : str or os.PathLike
        A file of any format of docs/reference/formats/pattern.md, a whole matrix (`.npy`, or `.npz` with one array),
        or a sparse matrix of `scipy.sparse.save_npz` in CSR, CSC or COO form.
    source_format : {"npz", "mtx", "mat", "metis", "scotch", "csv", "prof"}, optional
        The format, where the extension does not give it.
    metric : {"size", "msg", "avg"}, optional
        What the one number of a pair is in formats that have only one: messages for "msg".

    Returns
    -------
    Pattern
        The pattern, its collective calls not yet expanded.

    Warns
    -----
    UserWarning
        For what the format cannot hold, or is known to count wrongly.

    Raises
    ------
    ValueError
        Where the content of the file is wrong: one line that names file and place.
    OSError
        Where the file cannot be read.
    """
    pattern, texts = read(os.fspath(path), source_format, metric)
    for text in texts:
        warnings.warn(f"{os.fspath(path)}: {text}", stacklevel=2)
    return pattern


def read(path: str, source_format: str | None = None, metric: str | None = None) -> tuple[Pattern, list[str]]:
    """The pattern in a file, and the warnings that load() issues."""
    if source_format is not None:
        return load_pattern(path, source_format, metric)
    matrix = load_matrix(path)
    if matrix is not None:
        require_matrix(matrix, path)
        sources, destinations = np.nonzero(matrix)
        return from_numbers(path, len(matrix), (sources, destinations, matrix[sources, destinations]), metric)
    sparse = load_sparse(path)
    if sparse is not None:
        return from_numbers(path, sparse[0], sparse[1:], metric)
    return load_pattern(path, source_format, metric)


def from_numbers(
    path: str, ranks: int, entries: tuple[np.ndarray, np.ndarray, np.ndarray], metric: str | None
) -> tuple[Pattern, list[str]]:
    """A pattern of (senders, receivers, one number each), and what is unknown of it."""
    sources, destinations, values = entries
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    unknown = np.zeros(len(numbers))
    messages, amounts = (numbers, unknown) if metric == "msg" else (unknown, numbers)
    with named_after(path):
        pattern = Pattern.from_pairs(ranks, sources.astype(np.int64), destinations.astype(np.int64), messages, amounts)
    kind, other = ("numbers of messages", "bytes") if metric == "msg" else ("bytes", "numbers of messages")
    return pattern, [f"a matrix holds one number a pair: read as {kind}, {other} are unknown"]


@contextmanager
def named_after(path: str) -> Iterator[None]:
    """What the core refuses of a pattern, as a refusal of the file it is from."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("pattern"):
            raise
        raise ValueError(path + str(error).removeprefix("pattern")) from error


def load_matrix(path: str) -> np.ndarray | None:
    """The whole matrix in a `.npy` file, or in a `.npz` file that holds one array; None where the file is another."""
    if path.endswith(".npz") and Path(path).is_file():
        with numpy_file(path):
            return load_only_array(path)
    if not path.endswith(".npy"):
        return None
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: No such file or directory")
    if not Path(path).is_file():
        raise ValueError(f"{path}: expected a file, found a folder, device or pipe")
    with numpy_file(path):
        return np.lib.format.open_memmap(path, mode="r")


@contextmanager
def numpy_file(path: str) -> Iterator[None]:
    """Raises ValueError with one line that names the file, whatever numpy and zipfile raise on a damaged one."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        reason = (str(error).splitlines() or [""])[0][:LONGEST_REASON] or type(error).__name__
        raise ValueError(f"{path}: expected a numpy file of numbers, found another: {reason}") from error


def load_only_array(path: str) -> np.ndarray | None:
    """The array of a `.npz` file that holds one, of two dimensions; None where there are more, or it is no zip file."""
    try:
        file = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        return None  # the reader of patterns reports what is wrong
    with file:
        members = file.infolist()
        if len(members) != 1:
            return None
        with file.open(members[0]) as stream:
            if not holds_matrix(stream, members[0]):
                return None
        return read_member(file, members[0])


def read_member(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """One array of a `.npz` file, whose header holds_matrix() has checked."""
    with file.open(member) as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
        if stream.read(1):  # also looks at the checksum
            raise ValueError("more bytes than the array's shape has")
    return array


SPARSE_MEMBERS = {  # of scipy.sparse.save_npz
    "csr": ("indices", "indptr", "data"),
    "csc": ("indices", "indptr", "data"),
    "coo": ("row", "col", "data"),
}


def load_sparse(path: str) -> tuple[int, np.ndarray, np.ndarray, np.ndarray] | None:
    """(ranks, rows, columns, values) of a file of `scipy.sparse.save_npz`; None where the file is another."""
    if not path.endswith(".npz") or not zipfile.is_zipfile(path):
        return None
    with numpy_file(path), zipfile.ZipFile(path) as file:
        members = {member.filename.removesuffix(".npy"): member for member in file.infolist()}
        if not {"format", "shape", "data"} <= members.keys():
            return None
        arrays = {name: checked_member(file, member) for name, member in members.items()}
    kind = arrays["format"].item()
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if kind not in SPARSE_MEMBERS:
        raise ValueError(f"{path}: expected a sparse matrix in CSR, CSC or COO form, found '{kind[:LONGEST_REASON]}'")
    missing = [name for name in SPARSE_MEMBERS[kind] if name not in arrays]
    if missing:
        raise ValueError(f"{path}: expected an array '{missing[0]}', found none")
    return sparse_entries(path, kind, arrays)


def checked_member(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """An array that is not larger than its bytes can hold."""
    with file.open(member) as stream:
        holds_matrix(stream, member)
    return read_member(file, member)


def sparse_entries(
    path: str, kind: str, arrays: dict[str, np.ndarray]
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """(ranks, rows, columns, values) of a matrix in one of three forms. The core checks ranks and values."""
    ranks, data = require_sparse(path, arrays)
    first, second = (arrays[name] for name in SPARSE_MEMBERS[kind][:2])
    if first.ndim != 1 or second.ndim != 1 or {first.dtype.kind, second.dtype.kind} - set("iu"):
        raise ValueError(f"{path}: expected lists of whole numbers as indices, found others")
    rows, columns = first, second
    if kind != "coo":
        outer = rows_of(path, second, ranks, len(data))
        rows, columns = (outer, first) if kind == "csr" else (first, outer)
    if not len(rows) == len(columns) == len(data):
        raise ValueError(f"{path}: expected as many indices as numbers ({len(data)}), found others")
    return ranks, rows, columns, data


def require_sparse(path: str, arrays: dict[str, np.ndarray]) -> tuple[int, np.ndarray]:
    """The number of ranks, and the numbers, of a square matrix."""
    shape, data = arrays["shape"], arrays["data"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape[0] != shape[1] or shape[0] < 1:
        raise ValueError(f"{path}: expected a square matrix, found the shape {shape.tolist()}")
    if data.ndim != 1 or data.dtype.kind not in "biuf":
        raise ValueError(f"{path}: expected real numbers, found {data.dtype}")
    return int(shape[0]), data


def rows_of(path: str, offsets: np.ndarray, ranks: int, entries: int) -> np.ndarray:
    """The row (or column) of each entry, from the offsets of the rows."""
    ends = len(offsets) == ranks + 1 and offsets[0] == 0 and offsets[-1] == entries
    if not ends or (np.diff(offsets) < 0).any():
        raise ValueError(f"{path}: expected offsets that ascend from 0 to {entries} entries, found others")
    return np.repeat(np.arange(ranks), np.diff(offsets))


def holds_matrix(stream: Any, member: zipfile.ZipInfo) -> bool:
    """Whether the array has more than one dimension. No more memory is taken than the file can hold."""
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(stream)
    if version not in headers:
        raise ValueError(f"version {version} of the array's header")
    shape, _, dtype = headers[version](stream)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"compression method {member.compress_type}, which is neither stored nor deflated")
    if math.prod(shape) * dtype.itemsize > MOST_UNFOLDED * max(member.compress_size, 1):
        raise ValueError(f"an array of {' x '.join(map(str, shape))} in {member.compress_size} bytes")
    return len(shape) > 1


def require_matrix(matrix: np.ndarray, path: str) -> None:
    """Square, of real numbers."""
    shape = " x ".join(map(str, matrix.shape))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"{path}: expected a square matrix, found the shape {shape or '()'}")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{path}: expected real numbers, found {matrix.dtype}")
    if len(matrix) > 2**31 - 1:
        raise ValueError(f"{path}: expected at most {2**31 - 1} ranks, found {len(matrix)}")
