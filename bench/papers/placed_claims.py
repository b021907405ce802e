"""What papers state about times, beside ours: quotients of times, geometric means or maxima over cases."""

import csv
import math
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from claims import LEAST, near
from placed import HERE, PLACED_TARGETS, Key, PlacedTarget, Rows

PUBLISHED = HERE / "published_placed.csv"


@dataclass(frozen=True)
class Quotient:
    """Time, or bytes, under one placement / under another. Several kernels, sizes or placements: the mean."""

    kernel: str  # `a|b`; `a/b`: the quotient of both; `max a|b`: the largest; `max a*`: of all that begin with a
    ranks: str  # `64 128`; `256/64`: the quotient of both
    slower: str  # `a|b`, each with @machine where a figure has several machines
    faster: str
    of: str = "seconds"  # or "between_nodes", "hop_bytes"

    def text(self) -> str:
        """Of a table."""
        kernel, slower, faster = (each.replace("|", ", ") for each in (self.kernel, self.slower, self.faster))
        return f"{kernel} | {self.ranks.replace(' ', ', ')} | {slower} / {faster}"

    def words(self) -> str:
        """Of a sentence."""
        kernel, ranks, placements = self.text().split(" | ")
        of = {"seconds": "time", "between_nodes": "bytes between nodes", "hop_bytes": "hop-bytes"}[self.of]
        return f"{kernel}, {ranks} ranks, {of} under {placements.replace(' / ', ' / under ')}"

    def value(self, target: PlacedTarget, rows: Rows) -> float | None:
        """None where a placement has no time."""
        for field in ("kernel", "ranks"):
            parts = getattr(self, field).split("/")
            if len(parts) == 2:
                above, below = (Quotient(**vars(self) | {field: part}).value(target, rows) for part in parts)
                return None if above is None or below is None else above / below
        logarithms = []
        for kernel, ranks in product(self.kernels(target), map(int, self.ranks.split())):
            for slower, faster in product(self.slower.split("|"), self.faster.split("|")):
                pair = [getattr(rows[key_of(target, kernel, ranks, name)], self.of) for name in (slower, faster)]
                if None in pair:
                    return None
                logarithms.append(math.log(pair[0] / pair[1]))
        return math.exp(max(logarithms) if self.largest else sum(logarithms) / len(logarithms))

    @property
    def largest(self) -> bool:
        """In place of the mean."""
        return self.kernel.startswith("max ")

    def kernels(self, target: PlacedTarget) -> list[str]:
        """Each of them once."""
        all_kernels = list(dict.fromkeys(key[1] for key in target.keys))
        found: list[str] = []
        for name in self.kernel.removeprefix("max ").split("|"):
            found += [each for each in all_kernels if each.startswith(name[:-1])] if name.endswith("*") else [name]
        return found


def key_of(target: PlacedTarget, kernel: str, ranks: int, placement: str) -> Key:
    """The target's row. Raises ValueError where it has none."""
    name, _, machine = placement.partition("@")
    for key in target.keys:
        if key[1:] == (kernel, ranks, name) and machine in ("", key[0]):
            return key
    raise ValueError(f"{target.name}: no row {kernel}, {ranks}, {placement}")


@dataclass(frozen=True)
class PlacedClaim:
    """A line of published_placed.csv."""

    target: str
    quotient: Quotient
    paper: str  # a number, or `gain`, or `no gain`
    where: str
    reason: str  # why ours differs
    other: Quotient | None  # shows the reason

    def row(self, target: PlacedTarget, rows: Rows) -> str:
        """Of the table."""
        ours = self.quotient.value(target, rows)
        number = self.number
        ratio = "-" if number is None or ours is None else f"{ours / number:.2f}"
        paper = self.paper if number is None else f"{number:g}x"
        text = "-" if ours is None else f"{ours:.2f}x"
        agrees = "yes" if self.agrees(target, rows) else "no"
        return f"| {self.quotient.text()} | {paper} ({self.where}) | {text} | {ratio} | {agrees} |"

    @property
    def number(self) -> float | None:
        """The quotient, where the paper has one."""
        return None if self.paper in ("gain", "no gain") else float(self.paper)

    def agrees(self, target: PlacedTarget, rows: Rows) -> bool:
        """By the limits of the page."""
        ours = self.quotient.value(target, rows)
        if ours is None:
            return False
        if self.number is not None:
            return near(ours / self.number)
        return ours >= LEAST if self.paper == "gain" else near(ours)

    def text(self, target: PlacedTarget, rows: Rows) -> str:
        """Why ours differs; empty where it does not."""
        if self.agrees(target, rows):
            return ""
        about = f"- {self.quotient.words()}: "
        if self.other is None:
            return f"{about}{self.reason or 'this differs from the paper; no measurement here shows why'}."
        found = self.other.value(target, rows)
        shown = "no time" if found is None else f"{found:.2f}x"
        return f"{about}{self.reason}. Measured: {self.other.words()}: {shown}."


def load_placed_claims(path: Path = PUBLISHED) -> list[PlacedClaim]:
    """All lines."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            PlacedClaim(
                row["target"],
                Quotient(row["kernel"], row["ranks"], row["slower"], row["faster"]),
                row["paper"],
                row["where"],
                row["reason"],
                Quotient(*row["other"].split(";")) if row["other"] else None,
            )
            for row in csv.DictReader(file)
        ]


def placed_target(name: str) -> PlacedTarget:
    """Raises StopIteration where there is none."""
    return next(target for target in PLACED_TARGETS if target.name == name)
