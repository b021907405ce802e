"""Patterns: who talks to whom. `load` and `save` know every format of docs/reference/formats/pattern.md.

pattern, warnings = load("app.npz")
pattern.ranks, pattern.indptr, pattern.indices, pattern.messages, pattern.bytes     # CSR, by sender
pattern.traffic("rma")                                                             # (messages, bytes) of one class
save("app.mtx", expand(pattern, natural_model(pattern)))
matrix = load_matrix("matrix.npy")                                                 # a whole matrix, None for the rest
"""

import math
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

__all__ = ["Pattern", "expand", "load", "load_matrix", "natural_model", "pattern_format", "save"]


def load(path: str, source_format: Any = None, metric: Any = None) -> tuple[Pattern, list[str]]:
    """The pattern in a file, and what the file could not say."""
    matrix = None if source_format is not None else load_matrix(path)
    if matrix is None:
        return load_pattern(path, source_format, metric)
    require_matrix(matrix, path)
    sources, destinations = np.nonzero(matrix)
    numbers = matrix[sources, destinations].astype(np.float64)
    unknown = np.zeros(len(numbers))
    messages, amounts = (numbers, unknown) if metric == "msg" else (unknown, numbers)
    with named_after(path):
        pattern = Pattern.from_pairs(
            len(matrix), sources.astype(np.int64), destinations.astype(np.int64), messages, amounts
        )
    kind, other = ("numbers of messages", "bytes") if metric == "msg" else ("bytes", "numbers of messages")
    return pattern, [f"a whole matrix holds one number a pair: read as {kind}, {other} are unknown"]


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
    """One line that names the file, whatever numpy and the zip library raise on one that is not what it says."""
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
        return None  # the reader of patterns says what is wrong
    with file:
        members = file.infolist()
        if len(members) != 1:
            return None
        with file.open(members[0]) as stream:
            if not holds_matrix(stream, members[0]):
                return None
        with file.open(members[0]) as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
            if stream.read(1):  # also looks at the checksum
                raise ValueError("more bytes than the array's shape says")
        return array


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
