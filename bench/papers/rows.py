"""Simulated times: one row for each algorithm, size and number of groups, in results.csv."""

import csv
import fcntl
import os
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from targets import TARGETS, Sweep

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.csv"
HEADER = ("machine", "order", "ranks", "collective", "bytes", "algorithm", "groups", "seconds", "splits", "simgrid")

Key = tuple[str, int, str, int, str, int]
KeyOf = TypeVar("KeyOf")
ResultOf = TypeVar("ResultOf")


@dataclass(frozen=True)
class Time:
    """One result."""

    seconds: float
    splits: float  # seconds of both MPI_Comm_split; 0 where none was called
    simgrid: str  # version


Rows = Mapping[Key, Time]


def key(sweep: Sweep, groups: int) -> Key:
    """What a row's time depends on."""
    return (sweep.machine, sweep.ranks, sweep.collective, sweep.size, sweep.algorithm, groups)


def load(path: Path = RESULTS) -> dict[Key, Time]:
    """Empty where there is no file."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (
                row["machine"],
                int(row["ranks"]),
                row["collective"],
                int(row["bytes"]),
                row["algorithm"],
                int(row["groups"]),
            ): Time(float(row["seconds"]), float(row["splits"]), row["simgrid"])
            for row in csv.DictReader(file)
        }


def save(rows: Rows, path: Path = RESULTS) -> None:
    """Replaces the file at once, rows in the order of the targets."""
    temporary = path.with_suffix(".new")
    written = set()
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for sweep in (sweep for target in TARGETS for sweep in target.sweeps):
            for groups in sweep.groups:
                each = key(sweep, groups)
                if each not in rows or each in written:
                    continue
                written.add(each)
                time = rows[each]
                machine, *rest = each
                writer.writerow([machine, sweep.order, *rest, f"{time.seconds:g}", f"{time.splits:g}", time.simgrid])
    temporary.replace(path)


def change(
    path: Path,
    load: Callable[[Path], dict[KeyOf, ResultOf]],
    save: Callable[[Mapping[KeyOf, ResultOf], Path], None],
    *,
    add: Mapping[KeyOf, ResultOf] | None = None,
    drop: Set[KeyOf] = frozenset(),
) -> dict[KeyOf, ResultOf]:
    """Adds rows to a file's and drops some; what other runs have saved meanwhile stays. Returns the file's."""
    folder = os.open(path.parent, os.O_RDONLY)  # one run at a time changes files there
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        rows = {each: result for each, result in (load(path) | dict(add or {})).items() if each not in drop}
        save(rows, path)
    finally:
        os.close(folder)
    return rows


def missing(sweep: Sweep, rows: Rows) -> tuple[int, ...]:
    """The numbers of groups without a row."""
    return tuple(groups for groups in sweep.groups if key(sweep, groups) not in rows)


def gain(sweep: Sweep, rows: Rows, with_splits: bool = False) -> tuple[float, int]:
    """Time of one group / the shortest time, and the number of groups that has it. One group needs no splits."""
    seconds = {}
    for groups in sweep.groups:
        time = rows[key(sweep, groups)]
        seconds[groups] = time.seconds + (time.splits if with_splits and groups > 1 else 0)
    best = min(seconds, key=lambda groups: seconds[groups])
    return seconds[1] / seconds[best], best
