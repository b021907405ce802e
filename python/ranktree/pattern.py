"""Patterns: who talks to whom. `load` and `save` know every format of docs/formats/pattern.md.

pattern, warnings = load("app.npz")
pattern.ranks, pattern.indptr, pattern.indices, pattern.messages, pattern.bytes     # CSR, by sender
pattern.traffic("rma")                                                             # (messages, bytes) of one class
save("app.mtx", expand(pattern, natural_model(pattern)))
matrix = load_matrix("matrix.npy")                                                 # a whole matrix, None for the rest
"""

import zipfile
from typing import Any

import numpy as np

from ranktree._core import Pattern, expand_pattern, load_pattern, natural_model, pattern_format, save_pattern

save = save_pattern
expand = expand_pattern

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
    pattern = Pattern.from_pairs(
        len(matrix), sources.astype(np.int64), destinations.astype(np.int64), messages, amounts
    )
    kind, other = ("numbers of messages", "bytes") if metric == "msg" else ("bytes", "numbers of messages")
    return pattern, [f"a whole matrix holds one number a pair: read as {kind}, {other} are unknown"]


def load_matrix(path: str) -> np.ndarray | None:
    """The whole matrix in a `.npy` file, or in a `.npz` file that holds one array; None where the file is another."""
    try:
        if path.endswith(".npy"):
            return np.load(path, mmap_mode="r", allow_pickle=False)
        if not path.endswith(".npz"):
            return None
        with zipfile.ZipFile(path) as file:
            if len(file.namelist()) != 1:
                return None
        with np.load(path, allow_pickle=False) as arrays:
            array = arrays[arrays.files[0]]
        return array if array.ndim > 1 else None
    except zipfile.BadZipFile:
        return None  # the reader of patterns says what is wrong
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: expected a numpy file of numbers, found another: {error}") from error


def require_matrix(matrix: np.ndarray, path: str) -> None:
    """Square, of real numbers."""
    shape = " x ".join(map(str, matrix.shape))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        raise ValueError(f"{path}: expected a square matrix, found the shape {shape or '()'}")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{path}: expected real numbers, found {matrix.dtype}")
    if len(matrix) > 2**31 - 1:
        raise ValueError(f"{path}: expected at most {2**31 - 1} ranks, found {len(matrix)}")
