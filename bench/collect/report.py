#!/usr/bin/env python3
"""The tables of docs/benchmarks/collectives.md from results.csv, and the acceptance limits that are missed.

report.py [--csv results.csv] [--limits] [--write docs/benchmarks/collectives.md]

Prints the tables; --write puts them between the two marks of the page; --limits names each result that misses one, exit
code 1 where there is any.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from cases import (
    AUTO,
    BOUND,
    LARGE,
    NATIVE,
    Case,
    Cell,
    auto_cells,
    calls_left_alone,
    cases,
    full,
    machines,
    mean,
    over,
    processor_ratio,
    size_text,
)
from limits import missed
from rows import RESULTS, Row, load

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from marked_page import write_between_marks  # noqa: E402

MARKS = ("<!-- tables: bench/collect/report.py -->", "<!-- end of tables -->")


def text(value: float | None, digits: int = 2) -> str:
    """A number, or a dash."""
    return "-" if value is None else f"{value:.{digits}f}"


def line(*cells: object) -> str:
    """One line of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def head(*cells: str) -> list[str]:
    """The two first lines of a table."""
    return [line(*cells), "|" + "---|" * len(cells)]


def by_hand(case: Case) -> list[Row]:
    """The variants with figures that are neither native nor auto."""
    return [row for (_, variant), row in case.items() if variant not in {NATIVE, AUTO} and not row.wrong]


def ratio_of(row: Row | None) -> float | None:
    """Native time / the time of this row."""
    return None if row is None or row.wrong else row.ratio


# -- the tables --


def bytes_table(rows: Sequence[Row]) -> Iterator[str]:
    """Bytes between nodes over the lower bound."""
    yield from head("ranks", "collective", "Open MPI tuned", "HAN", "auto", "by hand", "before headers", "choice")
    for machine, own in machines(rows, "bytes").items():
        for (collective, size), case in cases(own).items():
            bound = BOUND[collective] * size
            ratios = [over(case.get(key), bound) for key in (("", NATIVE), ("HAN", NATIVE), ("", AUTO))]
            best = min(by_hand(case), key=lambda row: row.inter_node_bytes or 0, default=None)
            payload = best.payload_bytes / bound if best and best.payload_bytes else None
            choice = f"`{best.variant}`" if best else "-"
            yield line(machine, collective, *map(text, ratios), text(over(best, bound)), text(payload), choice)


def cluster_table(rows: Sequence[Row], part: str) -> Iterator[str]:
    """Times on the emulated cluster."""
    yield from head("ranks", "collective", "bytes", "native ms", "auto ms", "native / auto", "CPU", "by hand", "choice")
    for machine, own in machines(rows, part).items():
        for (collective, size), case in cases(own).items():
            native, auto = case.get(("", NATIVE)), case.get(("", AUTO))
            best = max(by_hand(case), key=lambda row: row.ratio or 0, default=None)
            times = [spread(row, 1e3) for row in (native, auto)]
            choice = f"`{best.variant}`" if best else "-"
            ratios = [text(ratio_of(auto)), text(processor_ratio(native, auto)), text(ratio_of(best))]
            yield line(machine, collective, size_text(size), *times, *ratios, choice)


def spread(row: Row | None, unit: float) -> str:
    """Median (minimum)."""
    if row is None or row.median is None or row.least is None:
        return "-"
    return f"{unit * row.median:.3g} ({unit * row.least:.3g})"


def node_table(rows: Sequence[Row]) -> Iterator[str]:
    """One node: geometric means over the sizes."""
    yield from head("ranks", "collective", "sizes", "native / auto", "least", "CPU", "best setting / auto")
    for machine, own in machines(rows, "node").items():
        found = cases(own)
        for collective in dict.fromkeys(row.collective for row in own):
            for name, wanted in (("all", lambda _: True), ("< 32 KiB", below), (">= 32 KiB", above)):
                chosen = [case for (each, size), case in found.items() if each == collective and wanted(size)]
                if (collective == "barrier") == (name == "all") and chosen:
                    yield line(machine, collective, name, *node_cells(chosen))


def below(size: int) -> bool:
    """True for small messages."""
    return size < LARGE


def above(size: int) -> bool:
    """True for large messages."""
    return size >= LARGE


def node_cells(chosen: Sequence[Case]) -> list[str]:
    """Means over cases: time, minimum time, processor time, and auto against the best of the MPI's settings."""
    pairs = [(case[key], case["", AUTO], best_native(case)) for case in chosen for key in [("", NATIVE)] if full(case)]
    return [
        text(mean(auto.ratio or 0 for _, auto, _ in pairs)),
        text(mean((native.least or 0) / (auto.least or 1) for native, auto, _ in pairs)),
        text(mean(processor_ratio(native, auto) or 0 for native, auto, _ in pairs)),
        text(mean(best / (auto.least or 1) for _, auto, best in pairs)),
    ]


def best_native(case: Case) -> float:
    """The minimum time of the native call in any setting. Settings ran one after the other, so minima are compared."""
    return min(row.least or 0 for (_, variant), row in case.items() if variant == NATIVE and not row.wrong)


def auto_table(rows: Sequence[Row], prefix: str) -> Iterator[str]:
    """Auto time / native time in the parts auto and large."""
    where = "where"
    yield from head("ranks", "cases", "auto / native, mean", "worst", where, "best", where, "worst by means", where)
    every: list[Cell] = []
    for machine, found in auto_cells(rows, prefix):
        every += [replace(cell, what=f"{machine}, {cell.what}") for cell in found]
        yield auto_line(machine, found)
    if every:
        yield auto_line("all", every)


def auto_line(name: str, found: Sequence[Cell]) -> str:
    """One line of the table."""
    worst, best = max(found, key=attrgetter("usual")), min(found, key=attrgetter("usual"))
    average = text(mean(cell.usual for cell in found), 3)
    by_means = max((cell for cell in found if cell.mean), key=lambda cell: cell.mean or 0, default=None)
    slowest = (text(by_means.mean), by_means.what) if by_means else ("-", "-")
    return line(name, len(found), average, text(worst.usual), worst.what, text(best.usual), best.what, *slowest)


def forms_table(rows: Sequence[Row], program: str) -> Iterator[str]:
    """Milliseconds of each form of a program, and the speedup over the first form."""
    chosen = [row for row in rows if row.collective == program]
    forms = list(dict.fromkeys(row.variant for row in chosen))
    if not forms:
        return
    yield from head("ranks", "bytes", *forms)
    for machine, own in machines(chosen, "applications").items():
        for setting in dict.fromkeys(row.setting for row in own):
            case = {row.variant: row for row in own if row.setting == setting}
            size = size_text(next(iter(case.values())).bytes)
            cells = [f"{spread(case.get(form), 1e3)} {text(ratio_of(case.get(form)))}" for form in forms]
            yield line(f"{machine}{', ' if setting else ''}{setting}", size, *cells)


def fallthrough_table(rows: Sequence[Row]) -> Iterator[str]:
    """Least times, and the time that the library adds."""
    yield from head("call", "communicator", "alone", "library, no rules", "library, rules for others", "added")
    for call, machine, least in calls_left_alone(rows):
        if {"alone", "unset", "rules"} <= least.keys():
            times = [f"{text(least[name], 1)} ns" for name in ("alone", "unset", "rules")]
            yield line(call, machine, *times, f"{text(least['rules'] - least['alone'], 1)} ns")


TABLES: dict[str, Callable[[Sequence[Row]], Iterator[str]]] = {
    "Bytes between nodes over the lower bound, 1 MiB": bytes_table,
    "Times on the emulated cluster, Open MPI": lambda rows: cluster_table(rows, "cluster"),
    "One node, Open MPI": node_table,
    "auto beside native, Open MPI": lambda rows: auto_table(rows, ""),
    "MPICH 5, emulated cluster": lambda rows: cluster_table(rows, "mpich5-cluster"),
    "MPICH 5, auto beside native": lambda rows: auto_table(rows, "mpich5-"),
    "SUMMA: milliseconds, median (least), times as fast as simple": lambda rows: forms_table(rows, "summa"),
    "Vector processing: the same, as fast as topology": lambda rows: forms_table(rows, "vectors"),
    "Passed-through calls under the preload library, Open MPI": fallthrough_table,
}


def tables(rows: Sequence[Row]) -> str:
    """All tables that have rows."""
    blocks = []
    for title, make in TABLES.items():
        found = list(make(rows))
        if len(found) > len(head("")):
            blocks.append(f"## {title}\n\n" + "\n".join(found))
    return "\n\n".join(blocks)


def print_row(row: Row) -> None:
    """Prints one row as it comes."""
    where = f"{row.part}, {row.machine}{', ' + row.setting if row.setting else ''}"
    case = f"{row.collective} {size_text(row.bytes)} {row.variant}"
    if row.wrong:
        figures = row.wrong
    elif row.inter_node_bytes is not None:
        figures = f"{row.inter_node_bytes / row.bytes / BOUND[row.collective]:.3f} of the bound"
    else:
        figures = f"{spread(row, 1e6)} us, x {text(row.ratio)}"
    print(f"{where}: {case}: {figures}", flush=True)


def main() -> int:
    """Prints the tables, or writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, default=RESULTS)
    parser.add_argument(
        "--limits", action="store_true", help="print each missed acceptance limit; exit code 1 if there is one"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    rows = load(options.csv)
    if options.limits:
        lines = list(missed(rows))
        print(*lines, sep="\n", end="\n" if lines else "")
        return 1 if lines else 0
    if options.write is None:
        print(tables(rows))
    else:
        write_between_marks(options.write, MARKS, tables(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
