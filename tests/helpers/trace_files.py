"""Pattern files read with numpy only, and the traffic that the programs expect."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import pytest

from tests.helpers.mpis import WHEELS

# In the order of the numbers in call_operation (docs/reference/formats/pattern.md).
OPERATIONS = (
    *("Barrier", "Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Gather", "Scatter", "Allgather", "Allgatherv"),
    *("Alltoall", "Reduce_scatter", "Reduce_scatter_block"),
)
CLASSES = ("p2p", "neighbor", "collective", "rma")
# For tests of (mpi, ranks): all counts where waiting ranks yield, fewer elsewhere: the wrappers have one source.
RANK_COUNTS = {"openmpi": (1, 2, 3, 5, 8), "mpich": (1, 2, 5), **dict.fromkeys(WHEELS, (3,))}
CASES = [(name, ranks) for name, counts in RANK_COUNTS.items() for ranks in counts]
each_case = pytest.mark.parametrize(("mpi", "ranks"), CASES, indirect=["mpi"])

Amounts = dict[tuple, tuple[int, int]]  # messages or calls, bytes


@dataclass
class Record:
    """Traffic: by (class, from, to), by (operation, root, bucket, members, remote), by name."""

    pairs: Amounts = field(default_factory=dict)
    calls: Amounts = field(default_factory=dict)
    unattributed: dict[str, int] = field(default_factory=dict)


def add(amounts: Amounts, key: tuple, count: int, size: int) -> None:
    """Adds an amount."""
    before = amounts.get(key, (0, 0))
    amounts[key] = (before[0] + count, before[1] + size)


def rank_list(text: str) -> tuple[int, ...]:
    """(0, 2) from `0,2`; `-` is none."""
    return () if text == "-" else tuple(map(int, text.split(",")))


def read_expected(folder: Path) -> Record:
    """The sum of the files of all ranks (programs/expect.h)."""
    record = Record()
    for path in folder.glob("rank-*.txt"):
        for line in path.read_text().splitlines():
            kind, *words = line.split(" ")
            if kind == "pair":
                add(record.pairs, (words[0], int(words[1]), int(words[2])), int(words[3]), int(words[4]))
            elif kind == "call":
                size = int(words[3])
                key = (words[0], int(words[1]), size.bit_length(), rank_list(words[4]), rank_list(words[5]))
                add(record.calls, key, int(words[2]), int(words[2]) * size)
            else:
                name = " ".join(words[1:])
                record.unattributed[name] = record.unattributed.get(name, 0) + int(words[0])
    return record


@dataclass
class Trace:
    """A pattern file as numpy reads it."""

    record: Record
    metadata: dict
    totals: Amounts


def read_trace(path: Path) -> Trace:
    """Reads a pattern file with numpy alone."""
    with numpy.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    metadata = json.loads(bytes(arrays["metadata"]).decode())
    record = Record(unattributed={name: int(count) for name, count in metadata["unattributed"].items()})
    totals: Amounts = {}
    for sender, receiver, at in cells(arrays["indptr"], arrays["indices"]):
        totals[(sender, receiver)] = (int(arrays["messages"][at]), int(arrays["bytes"][at]))
        for name in CLASSES:
            if f"{name}_messages" in arrays and arrays[f"{name}_messages"][at]:
                key = (name, sender, receiver)
                record.pairs[key] = (int(arrays[f"{name}_messages"][at]), int(arrays[f"{name}_bytes"][at]))
    for key, count, size in calls(arrays):
        add(record.calls, key, count, size)
    for amount in ("messages", "bytes"):  # by call and size: the same messages as by pair
        by_size = arrays[f"sent_{amount}"].sum() if f"sent_{amount}" in arrays else 0
        assert by_size == (arrays[f"p2p_{amount}"].sum() if f"p2p_{amount}" in arrays else 0)
    return Trace(record, metadata, totals)


def cells(indptr: numpy.ndarray, indices: numpy.ndarray) -> Iterator[tuple[int, int, int]]:
    """(row, column, place) of each stored pair."""
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            yield row, int(indices[at]), at


def calls(arrays: dict[str, numpy.ndarray]) -> Iterator[tuple[tuple, int, int]]:
    """((operation, root, bucket, members, remote), calls, bytes) of each kind of collective call."""
    if "call_count" not in arrays:
        return

    def members(name: str, index: int) -> tuple[int, ...]:
        pointers = arrays.get(f"communicator_{name}indptr")
        if pointers is None:
            return ()
        values = arrays["communicator_remote" if name else "communicator_members"]
        return tuple(int(rank) for rank in values[pointers[index] : pointers[index + 1]])

    for i, communicator in enumerate(arrays["call_communicator"]):
        operation = OPERATIONS[arrays["call_operation"][i]]
        key = (operation, int(arrays["call_root"][i]), int(arrays["call_bucket"][i]))
        key += (members("", communicator), members("remote_", communicator))
        yield key, int(arrays["call_count"][i]), int(arrays["call_bytes"][i])


def total_of(pairs: Amounts) -> Amounts:
    """All classes together."""
    sums: dict[tuple, list[int]] = defaultdict(lambda: [0, 0])
    for (_, sender, receiver), (count, size) in pairs.items():
        sums[(sender, receiver)][0] += count
        sums[(sender, receiver)][1] += size
    return {key: (count, size) for key, (count, size) in sums.items()}


def check(trace: Trace, expected: Record) -> None:
    """Exactly equal: every pair of every class, every collective call, everything unattributed."""
    assert trace.record.pairs == expected.pairs
    assert trace.totals == total_of(expected.pairs)
    assert trace.record.calls == expected.calls
    assert trace.record.unattributed == expected.unattributed
