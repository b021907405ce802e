"""The pages of treematch-2013, reorder-2011 and hsplit-2018, from placed.csv and published_placed.csv."""

import csv
import math
import statistics
from collections.abc import Iterator
from pathlib import Path

from classes import class_pictures, class_tables
from picture import draw, level_line, plot
from placed import (
    ALL_PAIRS,
    ARITY,
    BY_CLASS,
    CALL,
    EXAMPLE,
    HSPLIT,
    LEVELS,
    PLACED_TARGETS,
    PREDICTED,
    Key,
    PlacedTarget,
    Result,
    Rows,
    missing,
)
from placed_claims import PlacedClaim, load_placed_claims
from placed_papers import PlacedPaper

ROOT = Path(__file__).resolve().parents[2]
TABLE_2 = ROOT / "tests" / "place" / "data" / "table2.tsv"
BASE = "TreeMatch size"
BASES = (BASE, "levels", "topology", "H_topo")
NONE = Result()
UNITS = {"K": 1 << 10, "M": 1 << 20}  # of a kernel's class
# Of hsplit-2018: levels by Table 1, and their ranks by the nodes, NUMA nodes and cores there, NTW24E5's by §7.4.
STATED_LEVELS = {"ntw10e5": "10 2 2 6", "smp20e7": "10 2 8", "smp12e5": "6 2 8", "ntw24e5": "4 12 2 2 6"}
STATED_LIMIT = 0.140  # seconds, with 64 processes: reorder-2011 §4
PAPERS_LEAVES = {"TreeMatch size": "0 2 4 6 1 3 5 7", "packed": "0 2 4 6 8 10 1 3", "round robin": "0 1 2 3 4 5 6 7"}


def seconds_text(seconds: float | None, why: str = "") -> str:
    """`1.23 ms`."""
    if seconds is None:
        return why or "-"
    for unit, name in ((1, "s"), (1e-3, "ms")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e6:.3g} us"


def quotient(above: float | None, below: float | None) -> str:
    """`1.23x`."""
    return "-" if above is None or not below else f"{above / below:.2f}x"


def grid_of(target: PlacedTarget) -> tuple[list[tuple[str, str, int]], list[str]]:
    """Rows (machine, kernel, ranks) and columns (placements) of a figure's tables."""
    return list(dict.fromkeys(key[:3] for key in target.keys)), list(dict.fromkeys(key[3] for key in target.keys))


def table(head: list[str], body: list[list[str]]) -> Iterator[str]:
    """Of Markdown."""
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in body:
        yield "| " + " | ".join(row) + " |"
    yield ""


def simulated_tables(target: PlacedTarget, rows: Rows) -> Iterator[str]:
    """Times, and what the placements minimise, over those of TreeMatch."""
    groups, placements = grid_of(target)
    base = base_of(target)
    of = "" if target.paper == HSPLIT else "of an iteration "
    yield f"Time {of}under {base}, and the others' times as multiples of it:\n"
    yield from table(
        ["kernel", "ranks", "machine", base, *[name for name in placements if name != base]],
        [times_of(group, base, placements, rows) for group in groups],
    )
    if len(placements) == 1 or target.paper == HSPLIT:
        return
    yield f"Hop-bytes as multiples of those under {BASE}:\n"
    yield from table(
        ["kernel", "ranks", *[name for name in placements if name != BASE]],
        [
            [
                group[1],
                str(group[2]),
                *[
                    quotient(rows.get((*group, name), NONE).hop_bytes, rows.get((*group, BASE), NONE).hop_bytes)
                    for name in placements
                    if name != BASE
                ],
            ]
            for group in groups
        ],
    )


def base_of(target: PlacedTarget) -> str:
    """Whose times are the unit: the paper's."""
    placements = grid_of(target)[1]
    return next((name for name in BASES if name in placements), placements[0])


def times_of(group: tuple[str, str, int], base: str, placements: list[str], rows: Rows) -> list[str]:
    """A row of the table of times."""
    machine, kernel, ranks = group
    unit = rows.get((*group, base), NONE).seconds
    others = [quotient(rows.get((*group, name), NONE).seconds, unit) for name in placements if name != base]
    return [kernel, str(ranks), machine, seconds_text(unit), *others]


def example_table(target: PlacedTarget, rows: Rows) -> Iterator[str]:
    """Figure 5."""
    body = []
    for key in target.keys:
        each, paper = rows[key], PAPERS_LEAVES.get(key[3], "-")
        agrees = "-" if paper == "-" else "yes" if paper == each.answer else "no"
        body.append([key[3], paper, each.answer, agrees, f"{each.hop_bytes:g}"])
    yield from table(["placement", "paper's units of processes 0 to 7", "ours", "agrees", "hop-bytes"], body)


def divisions() -> dict[int, str]:
    """Table 2 as printed."""
    with TABLE_2.open(encoding="utf-8") as file:
        lines = [row for row in csv.reader(file, delimiter="\t") if not row[0].startswith("#")]
    return {int(arity): f"{threshold} {divisor}" for arity, threshold, divisor in lines}


def arity_table(target: PlacedTarget, rows: Rows) -> Iterator[str]:
    """How many entries agree, and those that do not."""
    printed, ours = divisions(), {key[2]: rows[key].answer for key in target.keys}
    equal = [arity for arity in printed if ours.get(arity) == printed[arity]]
    yield f"{len(equal)} of the {len(printed)} printed entries are those of `best_division()` in `core/place`.\n"
    for arity in printed:
        if arity not in equal:
            yield f"- Arity {arity}: the paper prints {printed[arity]}, ours is {ours.get(arity, '-')}."
    absent = [str(arity) for arity in ours if arity not in printed]
    if absent:
        yield f"- Composite arities that the table leaves out: {', '.join(absent)}."
    yield ""


def mapping_table(target: PlacedTarget, rows: Rows) -> Iterator[str]:
    """Figure 8."""
    groups, placements = grid_of(target)
    processors = sorted({rows[key].version for key in target.keys if rows[key].version})
    yield f"On {', '.join(processors)}, whose other processes ran at the same time:\n"
    body = [
        [
            f"{ranks:,}",
            *[
                seconds_text(rows[machine, kernel, ranks, name].seconds, rows[machine, kernel, ranks, name].answer)
                for name in placements
            ],
        ]
        for machine, kernel, ranks in groups
    ]
    yield from table(["processes", *placements], body)
    yield f"Hop-bytes as multiples of those under {placements[0]}:\n"
    yield from table(
        ["processes", *placements[1:]],
        [
            [
                f"{group[2]:,}",
                *[
                    quotient(rows.get((*group, name), NONE).hop_bytes, rows[*group, placements[0]].hop_bytes)
                    for name in placements[1:]
                ],
            ]
            for group in groups
        ],
    )


def call_table(target: PlacedTarget, rows: Rows) -> Iterator[str]:
    """The time of a call beside the limit that §4 of reorder-2011 states for 64 processes."""
    versions = ", ".join(sorted({rows[key].version for key in target.keys}))
    yield f"SimGrid {versions}:\n"
    body = []
    for key in target.keys:
        _, _, ranks, mode = key
        each = rows[key]
        agrees = "yes" if each.seconds is not None and each.seconds < STATED_LIMIT else "no"
        paper = f"less than {seconds_text(STATED_LIMIT)} (§4)"
        body.append(
            [
                f"{ranks:,}",
                mode,
                paper,
                seconds_text(each.seconds),
                agrees,
                quotient(float(each.answer), each.hop_bytes),
            ]
        )
    yield from table(["ranks", "mode", "paper", "ours", "agrees", "hops x messages, before / after"], body)


def level_table(target: PlacedTarget, rows: Rows) -> Iterator[str]:
    """Table 1 of hsplit-2018."""
    body = []
    for key in target.keys:
        stated, ours = STATED_LEVELS[key[0]], rows[key].answer
        body.append([key[0], str(key[2]), stated, ours, "yes" if stated == ours else "no"])
    yield from table(["machine", "ranks", "paper", "ours", "agrees"], body)


def is_best(paper: PlacedPaper, key: Key, group: tuple[str, str, int]) -> bool:
    """Whether a row is by the paper's placements; of hsplit-2018 by levels, with any algorithm."""
    if paper.name != HSPLIT:
        return key[:3] == group and key[3] in paper.best
    (name, _, size), collective = key[1].partition("."), key[1].partition(" ")[0]
    return (key[0], f"{collective}.{size}", key[2], key[3]) == (*group, *paper.best) and " " in name


def better(paper: PlacedPaper, rows: Rows, targets: list[PlacedTarget]) -> Iterator[str]:
    """Ours beside the paper's best."""
    keys = {key for target in targets for key in target.keys}
    groups = [key[:3] for key in sorted(keys) if key[3] == paper.ours[-1]]
    if not groups:
        return
    yield "## What we do better\n"
    yield f"{paper.beside}; below 1x, ours is slower:\n"
    body = []
    gains: dict[str, list[float]] = {name: [] for name in paper.ours}
    for group in groups:
        best = min(rows[key].seconds or math.inf for key in keys if is_best(paper, key, group))
        for name, found in gains.items():
            found.append(best / (rows[*group, name].seconds or math.inf))
        cells = [f"{found[-1]:.2f}x" for found in gains.values()]
        body.append([*group[:2], str(group[2]), seconds_text(best), *cells])
    means = [f"{statistics.geometric_mean(found):.2f}x" for found in gains.values()]
    body.append(["geometric mean", "", "", "", *means])
    yield from table(["machine", "kernel", "ranks", "paper's best", *paper.ours], body)


def simulated() -> list[PlacedTarget]:
    """Figures of simulated times."""
    return [each for each in PLACED_TARGETS if each.keys[0][1] not in (ARITY, EXAMPLE, ALL_PAIRS, CALL, LEVELS)]


def section(target: PlacedTarget, rows: Rows, claims: list[PlacedClaim]) -> Iterator[str]:
    """One figure."""
    yield f"## {target.title}\n"
    yield f"    make papers-fig NAME={target.name}\n"
    if target.note:
        yield f"{target.note}\n"
    if claims:
        yield "| kernel | ranks | slower / faster | paper | ours | ratio | agrees |"
        yield "|---" * 7 + "|"
        yield from (claim.row(target, rows) for claim in claims)
        yield ""
        texts = [text for claim in claims if (text := claim.text(target, rows))]
        if texts:
            yield "\n".join(texts) + "\n"
    for name in pictures(target, rows):
        yield f"![{target.title}]({name})\n"
    writers = {
        EXAMPLE: example_table,
        ARITY: arity_table,
        ALL_PAIRS: mapping_table,
        CALL: call_table,
        LEVELS: level_table,
    }
    yield from writers.get(target.keys[0][1], simulated_tables)(target, rows)
    if target.name == BY_CLASS:
        yield from class_tables(target, rows)


def pictures(target: PlacedTarget, rows: Rows) -> dict[str, str]:
    """SVG texts by file name."""
    if target.name == BY_CLASS:
        return class_pictures(target, rows)
    groups, placements = grid_of(target)
    kernels = list(dict.fromkeys(group[1] for group in groups))
    sizes = {group[2] for group in groups}
    if kernels[0] in (ARITY, EXAMPLE, CALL, LEVELS) or placements[0] == PREDICTED:
        return {}
    if kernels[0] == ALL_PAIRS:
        return {f"{target.name}.svg": mapping_times(target, rows)}
    if len(sizes) > 1:
        return {f"{target.name}-{kernel.partition('.')[0]}.svg": ratios(target, rows, kernel) for kernel in kernels}
    amounts = set(map(amount, kernels))
    if len(amounts) > 1 and all(amounts):
        return {f"{target.name}.svg": by_amount(target, rows, kernels)}
    return {}


def mapping_times(target: PlacedTarget, rows: Rows) -> str:
    """Figure 8 of treematch-2013."""
    lines = {
        name: [(key[2], each.seconds) for key, each in chosen(target, rows, ALL_PAIRS, name) if each.seconds]
        for name in grid_of(target)[1]
    }
    return plot.svg("CPU seconds by processes", lines, lambda x: f"{int(x):,}", lambda y: f"{y:g} s")


def amount(kernel: str) -> int:
    """Of `rings.64K`: 65536. 0 for another class."""
    number, unit = kernel.partition(".")[2][:-1], kernel[-1]
    return int(number) * UNITS[unit] if unit in UNITS and number.isdigit() else 0


def amount_text(count: int) -> str:
    """As the class has it."""
    return next(f"{count // each}{unit}" for unit, each in reversed(UNITS.items()) if count >= each)


def stated_maximum(target: PlacedTarget, along: list[float]) -> dict[str, list[tuple[float, float]]]:
    """The paper's, as a level line."""
    claims = [each for each in load_placed_claims() if each.target == target.name and each.quotient.largest]
    numbers = [each.number for each in claims if each.number is not None]
    return {f"paper: {number:g}x": level_line(along, number) for number in numbers}


def by_amount(target: PlacedTarget, rows: Rows, kernels: list[str]) -> str:
    """Times over those under the paper's placement, by the class or bytes; a line a placement, or a line a program.

    A maximum that the paper states is a level line.
    """
    base, programs = base_of(target), list(dict.fromkeys(kernel.partition(".")[0] for kernel in kernels))
    lines: dict[str, list[tuple[float, float]]] = {}
    for machine, kernel, ranks in grid_of(target)[0]:
        for name in grid_of(target)[1]:
            each, unit = (rows.get((machine, kernel, ranks, placement), NONE).seconds for placement in (name, base))
            if name == base or not each or not unit or (len(programs) > 1 and name != "flat"):
                continue
            line = name if len(programs) == 1 else kernel.partition(".")[0].rpartition(" ")[2]
            lines.setdefault(line, []).append((amount(kernel), each / unit))
    lines |= stated_maximum(target, [x for line in lines.values() for x, _ in line])
    about = programs[0] if len(programs) == 1 else f"{programs[0].partition(' ')[0]}, flat"
    return draw(
        f"{about}: time / time under {base}, by {'class' if len(programs) == 1 else 'bytes'}", lines, amount_text
    )


def chosen(target: PlacedTarget, rows: Rows, kernel: str, placement: str) -> Iterator[tuple[Key, Result]]:
    """Of one line."""
    for key in target.keys:
        if key[1] == kernel and key[3] == placement:
            yield key, rows[key]


def ratios(target: PlacedTarget, rows: Rows, kernel: str) -> str:
    """Times over those under TreeMatch."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for name in grid_of(target)[1]:
        line = [
            (key[2], each.seconds / base)
            for key, each in chosen(target, rows, kernel, name)
            if each.seconds and (base := rows[*key[:3], BASE].seconds)
        ]
        if line and name != BASE:
            lines[name] = line
    return draw(f"{kernel}: time / time under {BASE}, by ranks", lines, str)


def done(rows: Rows, paper: str = "") -> list[PlacedTarget]:
    """Figures whose rows are all there, of one paper or all."""
    return [each for each in PLACED_TARGETS if paper in ("", each.paper) and not missing(each, rows)]


def pending(rows: Rows, paper: str) -> list[PlacedTarget]:
    """Figures of a paper with rows that are missing."""
    return [each for each in PLACED_TARGETS if each.paper == paper and is_figure(each) and missing(each, rows)]


def is_figure(target: PlacedTarget) -> bool:
    """Whether its rows have a section of their own."""
    return PREDICTED not in grid_of(target)[1]


def page(paper: PlacedPaper, rows: Rows) -> str:
    """Without the note that it is generated."""
    targets, claims = done(rows, paper.name), load_placed_claims()
    keys = [key for target in targets if target in simulated() for key in target.keys]
    versions = ", ".join(sorted({rows[key].version for key in keys if rows[key].version}))
    sizes = ", ".join(map(str, sorted({key[2] for key in keys})))
    absent = "; ".join([paper.missing, *(each.title for each in pending(rows, paper.name))])
    lines = [f"# {paper.name}\n", f"{paper.title}.\n", paper.method.format(versions=versions, sizes=sizes) + "\n"]
    lines.append(f"Not reproduced: {absent}.\n")
    for target in filter(is_figure, targets):
        lines += section(target, rows, [claim for claim in claims if claim.target == target.name])
    lines += better(paper, rows, targets)
    return "\n".join(lines).rstrip() + "\n"
