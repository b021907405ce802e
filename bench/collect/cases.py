"""The rows of results.csv by case: each case with its variants, and auto compared with native."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log

from rows import Row

NODES = 4
# The least data that all nodes together must send to other nodes, in messages of the whole vector.
BOUND = {
    "broadcast": NODES - 1,
    "reduce": NODES - 1,
    "allreduce": 2 * (NODES - 1),
    "allgather": NODES - 1,
    "reduce_scatter": NODES - 1,
}
NATIVE, AUTO = "native", "auto"
LARGE = 32 << 10
NOT_SLOWER = 0.97  # native time / auto time, the limit for MPICH 5
Case = dict[tuple[str, str], Row]  # by setting and variant


def size_text(size: int) -> str:
    """A size with its unit: 1 KiB, 4 MiB where it divides."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def mean(values: Iterable[float]) -> float | None:
    """The geometric mean; None for no values."""
    logs = [log(value) for value in values if value > 0]
    return exp(sum(logs) / len(logs)) if logs else None


def cases(rows: Iterable[Row]) -> dict[tuple[str, int], Case]:
    """The cases by collective and size."""
    found: dict[tuple[str, int], Case] = {}
    for row in rows:
        found.setdefault((row.collective, row.bytes), {})[row.setting, row.variant] = row
    return found


def machines(rows: Sequence[Row], part: str) -> dict[str, list[Row]]:
    """The rows of a part by machine, in the order in which they were measured."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.part == part:
            found.setdefault(row.machine, []).append(row)
    return found


def full(case: Case) -> bool:
    """Whether native and auto have figures."""
    return all(key in case and not case[key].wrong for key in (("", NATIVE), ("", AUTO)))


def processor_ratio(native: Row | None, auto: Row | None) -> float | None:
    """Native processor time / auto processor time."""
    return native.cpu / auto.cpu if native and auto and native.cpu and auto.cpu else None


def over(row: Row | None, bound: float) -> float | None:
    """Counted bytes over a bound."""
    return None if row is None or row.inter_node_bytes is None else row.inter_node_bytes / bound


def calls_left_alone(rows: Sequence[Row]) -> Iterator[tuple[str, str, dict[str, float]]]:
    """By call (and its language) and communicator: the least nanoseconds for each setting of the library."""
    for machine, own in machines(rows, "fallthrough").items():
        found: dict[str, dict[str, float]] = {}
        for row in own:
            found.setdefault(f"{row.collective}, {row.setting}", {})[row.variant] = (row.least or 0) * 1e9
        for call, least in found.items():
            yield call, machine, least


@dataclass(frozen=True)
class Cell:
    """Auto time / native time for one case."""

    machine: str
    what: str
    usual: float  # by medians
    mean: float | None  # by means


def auto_cells(rows: Sequence[Row], prefix: str) -> Iterator[tuple[str, list[Cell]]]:
    """The cells of the parts auto and large, by machine."""
    for part, links in (("auto", ""), ("large", ", 1 Gbit/s")):
        for machine, own in machines(rows, prefix + part).items():
            found = [cell_of(machine + links, key, case) for key, case in cases(own).items() if full(case)]
            cells = [cell for cell in found if cell]
            if cells:
                yield machine + links, cells


def cell_of(machine: str, key: tuple[str, int], case: Case) -> Cell | None:
    """A cell, or None without figures."""
    native, auto = case["", NATIVE], case["", AUTO]
    if not auto.ratio:
        return None
    means = auto.mean / native.mean if auto.mean and native.mean else None
    return Cell(machine, f"{key[0]} {size_text(key[1])}", 1 / auto.ratio, means)
