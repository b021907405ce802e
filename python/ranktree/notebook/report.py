"""A report as an object for notebooks."""

from html import escape
from pathlib import Path
from typing import Any

from ranktree import _core
from ranktree.notebook.machine import Machine
from ranktree.notebook.pattern import Pattern
from ranktree.notebook.plan import Plan
from ranktree.report.document import as_json, assemble
from ranktree.report.html import as_html
from ranktree.report.inputs import Request, combine
from ranktree.report.text import as_text
from ranktree.runs import document as runs_file

HEIGHT = 800  # pixels of the page inside a notebook


class Report:
    """What `ranktree report` shows, of objects or files. Without a plan, a machine is placed on."""

    def __init__(
        self,
        pattern: Pattern | str | Path,
        plan: Plan | str | Path | None = None,
        machine: Machine | str | None = None,
        runs: str | Path | None = None,
        log: str | Path | None = None,
    ) -> None:
        """Compute the report.

        Parameters
        ----------
        pattern : Pattern or str or os.PathLike
            The pattern, or its file.
        plan : Plan or str or os.PathLike, optional
            The plan to show; without one, a machine is placed on.
        machine : Machine or str, optional
            The machine to show the ranks on.
        runs : str or os.PathLike, optional
            Measured runs of `ranktree compare` (docs/reference/formats/runs.md).
        log : str or os.PathLike, optional
            The log of collectives' variants.

        Raises
        ------
        ValueError
            Where a file is wrong, or the inputs do not fit each other.
        OSError
            Where a file cannot be read.
        """
        shown = pattern if isinstance(pattern, Pattern) else Pattern.load(pattern)
        placed = plan if isinstance(plan, Plan) or plan is None else Plan.load(plan)
        where = machine if isinstance(machine, Machine) or machine is None else Machine(machine)
        request = Request(
            shown.name,
            plan=name_of(plan, "plan.json"),
            runs=str(runs) if runs is not None else None,
            log=str(log) if log is not None else None,
            collectives=shown.collectives,
            **machine_options(where),
        )
        inputs = combine(
            request,
            shown.recorded,
            placed.core if placed is not None else None,
            where.tree if where is not None else None,
        )
        if runs is not None:
            inputs.runs = runs_file.load(str(runs))
        if log is not None:
            inputs.log = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
        self.document: dict[str, Any] = assemble(inputs)

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        return str(self.document["verdict"]["sentence"])

    @property
    def text(self) -> str:
        """As `ranktree report --text` prints it."""
        return as_text(self.document)

    @property
    def json(self) -> str:
        """As `ranktree report --json` prints it."""
        return as_json(self.document)

    @property
    def html(self) -> str:
        """The page."""
        return as_html(self.document)

    def save(self, path: str | Path) -> None:
        """Write the page.

        Parameters
        ----------
        path : str or os.PathLike
            The file; one that exists is replaced.

        Raises
        ------
        OSError
            Where the file cannot be written.
        """
        _core.write_file(str(path), self.html)

    def __repr__(self) -> str:
        """One line."""
        return f"<Report {self.document['title']}: {self.verdict}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the page in a frame of its own."""
        return (
            f'<iframe title="Ranktree report" style="width: 100%; height: {HEIGHT}px; border: 0" '
            f'sandbox="allow-scripts" srcdoc="{escape(self.html)}"></iframe>'
        )


def machine_options(where: Machine | None) -> dict[str, Any]:
    """The fields of a request that name the machine."""
    if where is None:
        return {}
    return {"machine": where.text, "network": where.network, "unit": where.unit, "cost": where.cost}


def name_of(plan: Plan | str | Path | None, otherwise: str) -> str | None:
    """The file of a plan, for the commands that reproduce the report."""
    if plan is None:
        return None
    return otherwise if isinstance(plan, Plan) else str(plan)
