"""The page of treematch-2013, from placed.csv and published_placed.csv."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path

from picture import draw, plot
from placed import (
    ALL_PAIRS,
    ARITY,
    EXAMPLE,
    OURS,
    PLACED_TARGETS,
    TREEMATCH,
    Key,
    PlacedTarget,
    Result,
    Rows,
    missing,
)
from placed_claims import PlacedClaim, load_placed_claims

ROOT = Path(__file__).resolve().parents[2]
TABLE_2 = ROOT / "tests" / "place" / "data" / "table2.tsv"
BASE = "TreeMatch size"
NONE = Result()
PAPERS_LEAVES = {"TreeMatch size": "0 2 4 6 1 3 5 7", "packed": "0 2 4 6 8 10 1 3", "round robin": "0 1 2 3 4 5 6 7"}
TITLE = (
    "E. Jeannot, G. Mercier, F. Tessier, *Process placement in multicore clusters: algorithmic issues and practical "
    "techniques*, Inria RR-8269, 2013"
)
MISSING = (
    "class D, Chaco and MPIPP in all figures; 256 processes in Figures 9 to 13; more than 2,048 in Figure 8; "
    "ParMETIS, in whose place is METIS; Figures 11 and 12, which compare shares of computing; Table 1 and Figure 16, "
    "which measure a machine"
)
METHOD = """`bench/kernels/kernels.c` has the messages of CG, FT and LU of the NAS Parallel Benchmarks 3.4 and of
ZEUS-MP/2, and nothing else. A test compares them with recorded patterns of the programs: messages and bytes of each
pair differ by less than 5 %. Each kernel is traced, placed by its pattern, and run under the placement on SMPI, the
MPI of SimGrid {versions}, with {sizes} ranks on as many cores of `machines/plafrim.json`.

**The times are of communication alone.** The paper's are of whole programs, so its quotients are nearer to 1.

`round robin` is the paper's RR: rank i is on PU i of the operating system, whose numbers alternate between both
packages of a node. `over nodes` deals ranks to the nodes in turn. `TreeMatch size`, `msg`, `avg`: the paper's metrics.
`Scotch` has the paper's small weights 4, 3, 2 for the levels, `large weights` 500, 100, 50. `engine` is Ranktree's
search by bytes, `engine, time` by [the objective](../explanation/objectives.md) `time`.

On two switches, a message from one to the other has 0.2 us more latency, and as much bandwidth as the nodes have
(assumed).

The text of the paper was available, its pictures were not: the paper's values are those that its text states. Ours
agrees with a number within 25 %, with *gain* from 1.05x on, with *no gain* between 0.75x and 1.25x. Several kernels,
numbers of ranks or placements: the geometric mean."""


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
    yield f"Time of an iteration under {BASE}, and the others' times as multiples of it:\n"
    yield from table(
        ["kernel", "ranks", "machine", BASE, *[name for name in placements if name != BASE]],
        [times_of(group, placements, rows) for group in groups],
    )
    if len(placements) == 1:
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


def times_of(group: tuple[str, str, int], placements: list[str], rows: Rows) -> list[str]:
    """A row of the table of times."""
    machine, kernel, ranks = group
    base = rows.get((*group, BASE), NONE).seconds
    others = [quotient(rows.get((*group, name), NONE).seconds, base) for name in placements if name != BASE]
    return [kernel, str(ranks), machine, seconds_text(base), *others]


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


def better(rows: Rows) -> Iterator[str]:
    """Ours beside the paper's best."""
    yield "## What we do better\n"
    yield "Time under the faster of `TreeMatch size` and `TreeMatch msg` / time under ours, communication alone:\n"
    keys = {key for target in done(rows) for key in target.keys}
    groups = [key[:3] for key in sorted(keys) if key[3] == OURS[-1]]
    body, products = [], {name: 0.0 for name in OURS}
    for group in groups:
        best = min(
            time for name in (BASE, "TreeMatch msg") if (time := rows.get((*group, name), NONE).seconds) is not None
        )
        cells = []
        for name in OURS:
            ours = rows.get((*group, name), NONE).seconds
            cells.append(quotient(best, ours))
            products[name] += math.log(best / ours) if ours else 0.0
        body.append([group[1], str(group[2]), seconds_text(best), *cells])
    means = [f"{math.exp(products[name] / len(body)):.2f}x" for name in OURS]
    yield from table(["kernel", "ranks", "paper's best", *OURS], [*body, ["geometric mean", "", "", *means]])


def simulated() -> list[PlacedTarget]:
    """Figures of simulated times."""
    return [each for each in PLACED_TARGETS if each.keys[0][1] not in (ARITY, EXAMPLE, ALL_PAIRS)]


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
    writers = {EXAMPLE: example_table, ARITY: arity_table, ALL_PAIRS: mapping_table}
    yield from writers.get(target.keys[0][1], simulated_tables)(target, rows)


def pictures(target: PlacedTarget, rows: Rows) -> dict[str, str]:
    """SVG texts by file name."""
    groups, placements = grid_of(target)
    kernels = list(dict.fromkeys(group[1] for group in groups))
    if kernels[0] in (ARITY, EXAMPLE):
        return {}
    if kernels[0] == ALL_PAIRS:
        lines = {
            name: [(key[2], each.seconds) for key, each in chosen(target, rows, ALL_PAIRS, name) if each.seconds]
            for name in placements
        }
        text = plot.svg("CPU seconds by processes", lines, lambda x: f"{int(x):,}", lambda y: f"{y:g} s")
        return {f"{target.name}.svg": text}
    if len({group[2] for group in groups}) < 2:
        return {}
    return {f"{target.name}-{kernel.partition('.')[0]}.svg": ratios(target, rows, kernel) for kernel in kernels}


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


def done(rows: Rows) -> list[PlacedTarget]:
    """Figures whose rows are all there."""
    return [target for target in PLACED_TARGETS if not missing(target, rows)]


def page(rows: Rows) -> str:
    """Without the note that it is generated."""
    targets, claims = done(rows), load_placed_claims()
    keys = [key for target in targets if target in simulated() for key in target.keys]
    versions = ", ".join(sorted({rows[key].version for key in keys if rows[key].version}))
    sizes = ", ".join(map(str, sorted({key[2] for key in keys})))
    absent = [MISSING, *[target.title for target in PLACED_TARGETS if target not in targets]]
    lines = [f"# {TREEMATCH}\n", f"{TITLE}.\n", METHOD.format(versions=versions, sizes=sizes) + "\n"]
    lines.append("Not reproduced: " + "; ".join(absent) + ".\n")
    for target in targets:
        lines += section(target, rows, [claim for claim in claims if claim.target == target.name])
    if keys:
        lines += better(rows)
    return "\n".join(lines).rstrip() + "\n"
