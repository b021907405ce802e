"""Patterns: who talks to whom. `load` and `save` know every format of docs/reference/formats/pattern.md.

pattern = load("app.npz")                                                          # warns of what the file lacks
pattern.ranks, pattern.indptr, pattern.indices, pattern.messages, pattern.bytes     # CSR, by sender
pattern.traffic("rma")                                                             # (messages, bytes) of one class
save("app.mtx", expand(pattern, natural_model(pattern)))
matrix, _ = read_whole("matrix.npy")                                               # a whole matrix stays one
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ranktree._core import Pattern, expand_pattern, load_pattern, natural_model, pattern_format, save_pattern

save = save_pattern
expand = expand_pattern

COLLECTIVE_MODELS = ("model", "openmpi", "mpich", "flat", "none")

__all__ = ["Pattern", "expand", "load", "natural_model", "pattern_format", "read", "read_whole", "save"]


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
    """Read the pattern in a file, without Python warnings.

    Parameters
    ----------
    path : str
        As of load().
    source_format : str, optional
        As of load().
    metric : str, optional
        As of load().

    Returns
    -------
    tuple
        The pattern, and the texts that load() warns with.

    Raises
    ------
    ValueError
        As of load().
    OSError
        As of load().
    """
    return load_pattern(path, source_format, metric)


def read_whole(path: str, metric: str | None = None) -> "tuple[Pattern | np.ndarray, list[str]]":
    """Read a pattern, or a whole matrix, to be placed without a pattern in between.

    Parameters
    ----------
    path : str
        As of load().
    metric : str, optional
        As of load().

    Returns
    -------
    tuple
        The matrix of a `.npy` file or of an `.npz` file that holds one array of two dimensions, row by row, float32
        where the file has these, else float64; the pattern of any other file. And the texts that load() warns with.

    Raises
    ------
    ValueError
        As of load().
    OSError
        As of load().
    """
    return load_pattern(path, metric=metric, whole=True)


@contextmanager
def named_after(path: str) -> Iterator[None]:
    """What the core refuses of a pattern, as a refusal of the file it is from."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("pattern"):
            raise
        raise ValueError(path + str(error).removeprefix("pattern")) from error
