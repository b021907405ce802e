"""Figures 11 and 12 of treematch-2013: class C beside class D, as ratios to times under TreeMatch and as differences.

Times of messages are simulated; computing is added by the operations that the NAS benchmarks count for an iteration.
"""

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from picture import plot
from placed import BY_METRIC, PlacedTarget, Rows

RATE = 1e9  # operations a second of a core; assumed: §5.1 of the paper has no rate
CLASSES = ("C", "D")
UNKNOWNS = {"C": 150_000, "D": 1_500_000}  # of CG
NONZEROS = {"C": 15, "D": 21}
POINTS = {"C": 2.0**27, "D": 2.0**31}  # of FT
EDGE = {"C": 162, "D": 408}  # of LU


def operations(program: str, size: str) -> float:
    """Floating-point operations of an iteration, by the formulas of the rates that NPB 3.4 reports."""
    if program == "cg":
        nonzeros = NONZEROS[size] * (NONZEROS[size] + 1)
        return 2 * UNKNOWNS[size] * (3 + nonzeros + 25 * (5 + nonzeros) + 3)
    if program == "ft":
        return POINTS[size] * (5.23518 + 7.21113 * math.log(POINTS[size]))
    edge = EDGE[size]
    return 1984.77 * edge**3 - 10923.3 * edge**2 + 27770.9 * edge - 144010


@dataclass(frozen=True)
class Case:
    """A program on some ranks under a placement that is not TreeMatch's: of each class, seconds of an iteration."""

    program: str
    ranks: int
    placement: str
    computing: tuple[float, ...]
    messages: tuple[float, ...]
    treematch: tuple[float, ...]  # messages under TreeMatch, the mean of its metrics size and msg

    def ratios(self) -> list[float]:
        """Times with computing, over those under TreeMatch."""
        terms = zip(self.messages, self.treematch, self.computing, strict=True)
        return [(other + computing) / (ours + computing) for other, ours, computing in terms]

    def differences(self) -> list[float]:
        """Seconds more than under TreeMatch."""
        return [other - ours for other, ours in zip(self.messages, self.treematch, strict=True)]

    def distances(self) -> list[float]:
        """Of the ratios from 1, in percent."""
        return [100 * abs(ratio - 1) for ratio in self.ratios()]

    def sizes(self) -> list[float]:
        """Of the differences, in milliseconds."""
        return [1e3 * abs(seconds) for seconds in self.differences()]


def cases_of(target: PlacedTarget, rows: Rows) -> Iterator[Case]:
    """Those whose placement has a time in both classes."""
    for machine, kernel, ranks, placement in target.keys:
        program, size = kernel.split(".")
        if size != CLASSES[0] or placement in BY_METRIC:
            continue
        found = [
            [rows[machine, f"{program}.{each}", ranks, name].seconds for each in CLASSES]
            for name in (placement, *BY_METRIC[:2])
        ]
        messages, *metrics = [tuple(each for each in times if each is not None) for times in found]
        if len(messages) == len(CLASSES):
            computing = tuple(operations(program, each) / RATE / ranks for each in CLASSES)
            yield Case(
                program, ranks, placement, computing, messages, tuple(map(statistics.mean, zip(*metrics, strict=True)))
            )


def class_tables(target: PlacedTarget, rows: Rows) -> Iterator[str]:
    """The paper's two statements, and what they are drawn from."""
    cases = list(cases_of(target, rows))
    distances = means(cases, Case.distances)
    sizes = means(cases, Case.sizes)
    yield "| mean of all cases | paper | class C | class D | agrees |"
    yield "|---|---|---|---|---|"
    yield statement("distance of the ratio from 1, %", "decreases", 11, distances, distances[1] < distances[0])
    yield statement("size of the difference, ms", "increases", 12, sizes, sizes[1] > sizes[0])
    yield "\nTime of an iteration with computing / that under TreeMatch, and the difference:\n"
    yield "| program | ranks | placement | computing C, D in ms | ratio C | ratio D | ms more C | ms more D |"
    yield "|---|---|---|---|---|---|---|---|"
    for each in cases:
        ratios = " | ".join(f"{ratio:.3f}" for ratio in each.ratios())
        differences = " | ".join(f"{round(1e3 * seconds, 2) + 0:.2f}" for seconds in each.differences())
        computing = ", ".join(f"{1e3 * seconds:.3g}" for seconds in each.computing)
        yield f"| {each.program} | {each.ranks} | {each.placement} | {computing} | {ratios} | {differences} |"
    yield ""


def statement(name: str, paper: str, figure: int, found: list[float], agrees: bool) -> str:
    """A row of the table."""
    values = " | ".join(f"{value:.3g}" for value in found)
    return f"| {name} | {paper} with the class (§5.2.2, Figure {figure}) | {values} | {'yes' if agrees else 'no'} |"


def means(cases: list[Case], values: Callable[[Case], list[float]]) -> list[float]:
    """Over cases, of each class."""
    return [statistics.mean(found) for found in zip(*map(values, cases), strict=True)]


def class_pictures(target: PlacedTarget, rows: Rows) -> dict[str, str]:
    """An SVG text a figure: means over placements, a line a program."""
    programs: dict[str, list[Case]] = {}
    for each in cases_of(target, rows):
        programs.setdefault(f"{each.program}, {each.ranks} ranks", []).append(each)
    return {
        "treematch-2013-figure-11.svg": picture("Distance of the ratio from 1", "%", programs, Case.distances),
        "treematch-2013-figure-12.svg": picture("Size of the difference", "ms", programs, Case.sizes),
    }


def picture(title: str, unit: str, programs: dict[str, list[Case]], values: Callable[[Case], list[float]]) -> str:
    """An SVG text: classes are powers of 4, where the axis has its marks."""
    lines = {
        name: [(4.0**i, value) for i, value in enumerate(means(cases, values)) if value > 0]
        for name, cases in programs.items()
    }
    return plot.svg(f"{title}, by class", lines, lambda x: CLASSES[0 if x < 2 else 1], lambda y: f"{y:g} {unit}")
