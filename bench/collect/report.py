#!/usr/bin/env python3
"""What results.csv says: the tables of docs/collect-bench.md, and which bars are missed.

report.py [--csv results.csv] [--bars] [--write docs/collect-bench.md]

Prints the tables; --write puts them between the two marks of the page; --bars names each result that misses one, exit
code 1 where there is any.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from bars import missed
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
from rows import RESULTS, Row, load

MARKS = ("<!-- tables: bench/collect/report.py -->", "<!-- end of tables -->")


def text(value: float | None, digits: int = 2) -> str:
    """A number, or a dash."""
    return "-" if value is None else f"{value:.{digits}f}"


def line(*cells: object) -> str:
    """Of a markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def head(*cells: str) -> list[str]:
    """The two first lines."""
    return [line(*cells), "|" + "---|" * len(cells)]


def by_hand(case: Case) -> list[Row]:
    """The variants that are neither native nor auto, and gave figures."""
    return [row for (_, variant), row in case.items() if variant not in {NATIVE, AUTO} and not row.wrong]


def ratio_of(row: Row | None) -> float | None:
    """Native's time by this one's."""
    return None if row is None or row.wrong else row.ratio


# -- the tables --


def bytes_table(rows: Sequence[Row]) -> Iterator[str]:
    """Bytes between nodes over the lower bound."""
    yield from head("ranks", "collective", "Open MPI tuned", "HAN", "auto", "by hand", "before headers", "choice")
    for machine, own in machines(rows, "bytes").items():
        for (collective, size), case in cases(own).items():
            bound = BOUND[collective] * size
            told = [over(case.get(key), bound) for key in (("", NATIVE), ("HAN", NATIVE), ("", AUTO))]
            best = min(by_hand(case), key=lambda row: row.inter_node_bytes or 0, default=None)
            payload = best.payload_bytes / bound if best and best.payload_bytes else None
            choice = f"`{best.variant}`" if best else "-"
            yield line(machine, collective, *map(text, told), text(over(best, bound)), text(payload), choice)


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
    """Median (least)."""
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
    """Small messages."""
    return size < LARGE


def above(size: int) -> bool:
    """Large messages."""
    return size >= LARGE


def node_cells(chosen: Sequence[Case]) -> list[str]:
    """Means over cases: time, least time, processor time, and against the best of the MPI's settings."""
    pairs = [(case[key], case["", AUTO], best_native(case)) for case in chosen for key in [("", NATIVE)] if full(case)]
    return [
        text(mean(auto.ratio or 0 for _, auto, _ in pairs)),
        text(mean((native.least or 0) / (auto.least or 1) for native, auto, _ in pairs)),
        text(mean(processor_ratio(native, auto) or 0 for native, auto, _ in pairs)),
        text(mean(best / (auto.least or 1) for _, auto, best in pairs)),
    ]


def best_native(case: Case) -> float:
    """The least time of the MPI in any of its settings: they ran one after the other, so least times are compared."""
    return min(row.least or 0 for (_, variant), row in case.items() if variant == NATIVE and not row.wrong)


def auto_table(rows: Sequence[Row], prefix: str) -> Iterator[str]:
    """Auto's time over native's, of two parts."""
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
    told = (text(by_means.mean), by_means.what) if by_means else ("-", "-")
    return line(name, len(found), average, text(worst.usual), worst.what, text(best.usual), best.what, *told)


def forms_table(rows: Sequence[Row], program: str) -> Iterator[str]:
    """Milliseconds of each form of a program, and how many times as fast as the first one."""
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
    """Least times, and what the library adds to them."""
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
    "Calls that are left to the MPI under the preload library, Open MPI": fallthrough_table,
}


def tables(rows: Sequence[Row]) -> str:
    """All of them that have rows."""
    blocks = []
    for title, make in TABLES.items():
        found = list(make(rows))
        if len(found) > len(head("")):
            blocks.append(f"### {title}\n\n" + "\n".join(found))
    return "\n\n".join(blocks)


def print_row(row: Row) -> None:
    """One row as it comes."""
    where = f"{row.part}, {row.machine}{', ' + row.setting if row.setting else ''}"
    case = f"{row.collective} {size_text(row.bytes)} {row.variant}"
    if row.wrong:
        told = row.wrong
    elif row.inter_node_bytes is not None:
        told = f"{row.inter_node_bytes / row.bytes / BOUND[row.collective]:.3f} of the bound"
    else:
        told = f"{spread(row, 1e6)} us, x {text(row.ratio)}"
    print(f"{where}: {case}: {told}", flush=True)


def write(page: Path, found: str) -> None:
    """Replaces what is between the marks."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
    _, finish, after = rest.partition(MARKS[1])
    if not begin or not finish:
        raise ValueError(f"{page}: expected the marks {MARKS[0]} and {MARKS[1]}")
    half = page.with_name(page.name + ".new")
    half.write_text(f"{before}{begin}\n\n{found}\n\n{finish}{after}", encoding="utf-8")
    half.replace(page)


def main() -> int:
    """Prints the tables, or writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", type=Path, default=RESULTS)
    parser.add_argument(
        "--bars", action="store_true", help="the bars that are missed, a line each; exit code 1 if any is"
    )
    parser.add_argument("--write", type=Path, metavar="PAGE")
    options = parser.parse_args()
    rows = load(options.csv)
    if options.bars:
        lines = list(missed(rows))
        print(*lines, sep="\n", end="\n" if lines else "")
        return 1 if lines else 0
    if options.write is None:
        print(tables(rows))
    else:
        write(options.write, tables(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
