"""`ranktree doctor`: what is installed, what is set up wrongly, and what mends it."""

import json as json_format
from typing import Annotated

from ranktree.cli.options import Exit, Option, echo

EXAMPLE = "ranktree doctor"
WRONG = 3


def command(
    json: Annotated[bool, Option("--json", help="print JSON (docs/how-to/check-the-setup.md)")] = False,
) -> None:
    """Check MPIs, launchers, libraries, Slurm, hwloc, limits and variables; exit code 3 where there is a problem."""
    from ranktree.doctor.checks import as_document, as_text, examine  # noqa: PLC0415  the extension, for this verb only
    from ranktree.doctor.system import PROBLEM, System  # noqa: PLC0415

    findings = examine(System())
    echo(json_format.dumps(as_document(findings), indent=1) if json else as_text(findings))
    if any(finding.status == PROBLEM for finding in findings):
        raise Exit(WRONG)
