"""Patterns of the placement benchmark, and their files."""

import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Edges:
    """An undirected graph: equal pairs, in either direction, add up; pairs of equal ends do not count."""

    ranks: int
    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray

    def relabelled(self, seed: int) -> "Edges":
        """The same graph with its ranks renumbered."""
        order = np.random.default_rng(seed).permutation(self.ranks)
        return Edges(self.ranks, order[self.left], order[self.right], self.weight)

    def csr(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row starts, columns and weights, both directions stored, columns ascending."""
        different = self.left != self.right
        left, right, weight = (each[different].astype(np.int64) for each in (self.left, self.right, self.weight))
        keys = np.concatenate([left * self.ranks + right, right * self.ranks + left])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if keys.size else keys
        sums = np.add.reduceat(np.concatenate([weight, weight])[order], first) if keys.size else keys
        starts = np.searchsorted(keys[first], np.arange(self.ranks + 1) * self.ranks)
        return starts.astype(np.int64), (keys[first] % self.ranks).astype(np.int32), sums


@dataclass(frozen=True)
class Matrix:
    """All pairs: a full symmetric matrix of 32-bit whole numbers, nothing on the diagonal."""

    weights: np.ndarray

    @property
    def ranks(self) -> int:
        """How many talk."""
        return len(self.weights)

    def relabelled(self, seed: int) -> "Matrix":
        """The same matrix with its ranks renumbered."""
        order = np.argsort(np.random.default_rng(seed).permutation(self.ranks))
        return Matrix(self.weights[np.ix_(order, order)])


Pattern = Edges | Matrix


def write(path: Path, pattern: Pattern) -> None:
    """Eight bytes that name the form, the number of ranks and of arcs, then rows' starts, columns and weights.

    CG01: weights of 32 bits; CG02: of 64; CGD1: the matrix, row by row, of 32 bits, and no arcs counted.
    """
    partial_path = path.with_suffix(f".{os.getpid()}.part")
    with partial_path.open("wb") as file:
        if isinstance(pattern, Matrix):
            file.write(b"CGD1\0\0\0\0" + np.array([pattern.ranks, 0], np.int64).tobytes())
            for begin in range(0, pattern.ranks, 1024):
                file.write(np.ascontiguousarray(pattern.weights[begin : begin + 1024], np.int32).tobytes())
        else:
            starts, columns, weights = pattern.csr()
            small = weights.max(initial=0) < 2**31
            file.write(b"CG01\0\0\0\0" if small else b"CG02\0\0\0\0")
            weights = weights.astype(np.int32 if small else np.int64)
            for array in (np.array([pattern.ranks, columns.size], np.int64), starts, columns, weights):
                file.write(array.tobytes())
    partial_path.replace(path)


def read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, columns and weights of what write() wrote."""
    data = np.memmap(path, np.uint8, "r")
    form = bytes(data[:4])
    ranks, arcs = (int(each) for each in data[8:24].view(np.int64))
    if form == b"CGD1":
        return rows_of(data[24:].view(np.int32).reshape(ranks, ranks))
    width = 4 if form == b"CG01" else 8
    ends = np.cumsum([24, 8 * (ranks + 1), 4 * arcs, width * arcs])
    starts, columns, weights = (data[begin:end] for begin, end in pairwise(ends))
    return starts.view(np.int64), columns.view(np.int32), np.frombuffer(weights.tobytes(), f"<i{width}")


def rows_of(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, columns and weights of what is not zero, row by row: the matrix may fill much of the memory."""
    starts = np.concatenate([[0], np.cumsum([np.count_nonzero(row) for row in matrix])])
    columns, weights = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    for row, (begin, end) in zip(matrix, pairwise(starts), strict=True):
        columns[begin:end] = np.flatnonzero(row)
        weights[begin:end] = row[columns[begin:end]]
    return starts, columns, weights
