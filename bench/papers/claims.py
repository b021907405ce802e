"""What the papers state, beside what the simulations show."""

import csv
from dataclasses import dataclass
from pathlib import Path

from rows import Rows, gain
from targets import Sweep, Target

PUBLISHED = Path(__file__).resolve().parent / "published.csv"
NEAR = 0.25  # a ratio further from 1 needs a reason
LEAST = 1.05  # a gain


FEW = 2  # numbers of groups, one of them 1: no curve


@dataclass(frozen=True)
class Claim:
    """A line of published.csv."""

    target: str
    algorithm: str
    paper: str  # a gain, or `gain`, or `no gain`
    alternative: str  # the algorithm whose rows show the reason for a difference; empty: none
    splits: bool  # whether the paper's times have the splits in them
    where: str

    @property
    def number(self) -> float | None:
        """The gain, where the paper has one."""
        return None if self.paper in ("gain", "no gain") else float(self.paper)

    def fits(self, gain: float) -> bool:
        """By the limits of the page."""
        return gain >= LEAST if self.paper == "gain" else near(gain / (self.number or 1.0))


@dataclass(frozen=True)
class Outcome:
    """A claim and our gains."""

    claim: Claim
    gains: tuple[float, ...]  # of each size
    best: tuple[int, ...]  # numbers of groups, of each size

    @property
    def ratio(self) -> float | None:
        """Ours / the paper's."""
        return None if self.claim.number is None else max(self.gains) / self.claim.number

    @property
    def agrees(self) -> bool:
        """By the limits of the page."""
        return self.claim.fits(max(self.gains))

    def row(self) -> str:
        """Of the table."""
        ours = " to ".join(f"{each:.2f}x" for each in sorted({min(self.gains), max(self.gains)}))
        paper = self.claim.paper if self.claim.number is None else f"{self.claim.number:g}x"
        ratio = "-" if self.ratio is None else f"{self.ratio:.2f}"
        agrees = "yes" if self.agrees else "no"
        return f"| {self.claim.algorithm} | {paper} ({self.claim.where}) | {ours} | {ratio} | {agrees} |"


def near(ratio: float) -> bool:
    """At most 25 % apart."""
    return abs(ratio - 1) <= NEAR


def load_claims(path: Path = PUBLISHED) -> list[Claim]:
    """All lines."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Claim(
                row["target"], row["algorithm"], row["paper"], row["alternative"], row["splits"] == "yes", row["where"]
            )
            for row in csv.DictReader(file)
        ]


def sweeps_of(target: Target, algorithm: str) -> list[Sweep]:
    """All sizes. `binary@128`: with 128 ranks; else with those of the target's first sweep of the algorithm."""
    name, _, ranks = algorithm.partition("@")
    found = [sweep for sweep in target.sweeps if sweep.algorithm == name]
    return [sweep for sweep in found if sweep.ranks == int(ranks or found[0].ranks)]


def outcome(claim: Claim, target: Target, rows: Rows) -> Outcome:
    """Our gains for a claim."""
    found = [gain(sweep, rows, claim.splits) for sweep in sweeps_of(target, claim.algorithm)]
    return Outcome(claim, tuple(each for each, _ in found), tuple(best for _, best in found))


def text_of(each: Outcome, target: Target, rows: Rows) -> str:
    """One or two sentences on a claim, with the reason for a difference."""
    claim = each.claim
    groups = " and ".join(map(str, sorted(set(each.best))))
    tried = sorted({groups for sweep in sweeps_of(target, claim.algorithm) for groups in sweep.groups})
    few = f", of {' and '.join(map(str, tried))} that were simulated" if len(tried) <= FEW else ""
    text = f"- `{claim.algorithm}`: fastest with {groups} group{'' if groups == '1' else 's'}{few}."
    if each.agrees:
        return text
    if not claim.alternative:
        return f"{text} This differs from the paper; no measurement here shows why."
    sweep = sweeps_of(target, claim.alternative)[0]
    found, best = gain(sweep, rows, claim.splits)
    if not claim.fits(found):
        return f"{text} `{claim.alternative}` gains {found:.2f}x, which does not explain the difference."
    ratio = "" if claim.paper == "gain" else f" Ratio: {found / (claim.number or 1.0):.2f}."
    splits = f", {gain(sweep, rows)[0]:.2f}x without the time of both splits" if claim.splits else ""
    return (
        f"{text} Reason: {target.reason}. Measured: `{claim.alternative}` gains {found:.2f}x with {best} "
        f"groups{splits}.{ratio}"
    )
