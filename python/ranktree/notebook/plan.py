"""A plan as an object: what `ranktree.place` returns."""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ranktree import _core
from ranktree._core import Slot

if TYPE_CHECKING:
    from ranktree.notebook.machine import Machine
    from ranktree.notebook.pattern import Pattern
    from ranktree.notebook.pictures import Picture
    from ranktree.notebook.report import Report

NAMES = {"identity": "rank order", "traced": "traced placement", "round-robin": "round robin", "plan": "plan"}


class Plan:
    """Where each rank of a job shall sit, and what that saves."""

    def __init__(self, core: "_core.Plan", pattern: "Pattern | None" = None, machine: "Machine | None" = None) -> None:
        """Of the extension's own plan; pattern and machine are what it was made of, where they are known."""
        self.core: _core.Plan = core
        self.pattern = pattern
        self.machine = machine

    @classmethod
    def load(cls, path: str | Path) -> "Plan":
        """Read a plan.

        Parameters
        ----------
        path : str or os.PathLike
            A file of `ranktree map -o` or save().

        Returns
        -------
        Plan
            Without a permutation: a file has hosts and PUs only.

        Raises
        ------
        ValueError
            Where the content of the file is wrong.
        OSError
            Where the file cannot be read.
        """
        return cls(_core.load_plan(str(path)))

    @property
    def permutation(self) -> npt.NDArray[np.int32] | None:
        """The slot (logical number of the place) of each rank; None in a plan read from a file."""
        return self.core.permutation

    @property
    def slots(self) -> list[Slot]:
        """`host` and `pus` of each rank."""
        return self.core.slots

    @property
    def hosts(self) -> list[str]:
        """Every host of the machine, in tree order."""
        return self.core.hosts

    @property
    def pus_per_host(self) -> list[int]:
        """Number of PUs of each host."""
        return self.core.pus_per_host

    @property
    def described(self) -> bool:
        """True: the machine was described in words, so its hosts have made-up names; False: hosts are real."""
        return self.core.described

    @property
    def levels(self) -> list[str]:
        """Name of each level, root first."""
        return self.core.levels

    @property
    def level_costs(self) -> list[float]:
        """Cost of each level."""
        return self.core.level_costs

    @property
    def algorithm(self) -> str:
        """What made the placement; "identity" where nothing was better."""
        return self.core.algorithm

    @property
    def metric(self) -> str:
        """What was counted: size, msg or avg."""
        return self.core.metric

    @property
    def seed(self) -> int:
        """Seed of the algorithm."""
        return self.core.seed

    @property
    def costs(self) -> list[Any]:
        """The compared placements: `placement`, `weight` by level, `total`."""
        return self.core.costs

    @property
    def cost(self) -> float:
        """Total cost of the plan."""
        return self.core.cost

    @property
    def cost_by_level(self) -> npt.NDArray[np.float64]:
        """What the plan costs on each level, root first."""
        return self.core.cost_by_level

    @property
    def bound(self) -> float | None:
        """No placement costs less; None in a plan of an older file."""
        return self.core.bound

    @property
    def gap(self) -> float | None:
        """(cost - bound) / bound; None where there is no bound or it is 0."""
        return self.core.gap

    @property
    def gain(self) -> bool:
        """False: nothing beats leaving the ranks where they are."""
        return self.core.gain

    @property
    def stopped(self) -> bool:
        """True: the time limit or keep_going ended the search early."""
        return self.core.stopped

    def to_json(self) -> str:
        """Return the text of its file.

        Returns
        -------
        str
            JSON as docs/reference/formats/plan.md specifies it.
        """
        return self.core.to_json()

    def save(self, path: str | Path) -> None:
        """Write the plan, completely or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            The file, for `ranktree emit` and `ranktree run`.

        Raises
        ------
        OSError
            Where the file cannot be written.
        """
        self.core.save(str(path))

    def report(self) -> "Report":
        """Return the report of this plan.

        Returns
        -------
        Report
            Of the plan, its pattern, and its machine where that is known.

        Raises
        ------
        ValueError
            For a plan whose pattern is not known.
        """
        from ranktree.notebook.report import Report  # noqa: PLC0415  loaded where it is used

        if self.pattern is None:
            raise ValueError("report: the plan's pattern is not known; use Report(pattern, plan=plan)")
        return Report(self.pattern, plan=self, machine=self.machine)

    def plot(self) -> "Picture":
        """Draw the cost of every placement that was compared, and the lower bound.

        Returns
        -------
        Picture
            SVG that a notebook shows and save() writes.
        """
        from ranktree.notebook.pictures import bar_chart  # noqa: PLC0415  loaded where it is used

        before = "traced" if any(row.placement == "traced" for row in self.costs) else "identity"
        shown = {"plan": "plan", before: "before"}
        rows = [
            (NAMES.get(row.placement, row.placement), shown.get(row.placement, "other"), row.total)
            for row in self.costs
        ]
        if self.bound is not None:
            rows.append(("lower bound", "bound", self.bound))
        return bar_chart(f"cost of {len(self.slots)} ranks, metric {self.metric}", rows, lambda value: f"{value:,.6g}")

    def __repr__(self) -> str:
        """One line."""
        return f"<Plan of {len(self.slots)} ranks by {self.algorithm}: cost {self.cost:,.6g}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the result and the table by level."""
        from ranktree.notebook.tables import table  # noqa: PLC0415  loaded where it is used
        from ranktree.report.verdict import modelled  # noqa: PLC0415

        if not self.costs:
            return f"<p>{escape(repr(self))}</p>"
        rows = [
            [level, *(f"{row.weight[index]:,.0f}" for row in self.costs)] for index, level in enumerate(self.levels)
        ]
        rows.append(["cost", *(f"{row.total:,.6g}" for row in self.costs)])
        header = ["level", *(NAMES.get(row.placement, row.placement) for row in self.costs)]
        sentence = escape(modelled(self.core)["sentence"])
        return f"<p>{sentence}</p>" + table(f"weight by level, metric {self.metric}", header, rows)
