"""`ranktree doctor`: what is installed, what is set up wrongly, and what mends it."""

import json as json_format
import os
import sys
from typing import Annotated

from ranktree.cli.options import Exit, Option, echo

EXAMPLE = "ranktree doctor"
WRONG = 3


def command(
    json: Annotated[bool, Option("--json", help="print JSON (docs/how-to/check-the-setup.md)")] = False,
    build: Annotated[
        str | None,
        Option(
            decides="executed",
            metavar="[NAME=]MPICC",
            help="build the libraries for an MPI found later, by its compiler wrapper",
        ),
    ] = None,
    jobs: Annotated[int | None, Option(min=1, help="compilers at a time, for --build [the usable CPUs]")] = None,
) -> None:
    """Check MPIs, launchers, libraries, Slurm, hwloc, limits and variables; exit code 3 where there is a problem."""
    from ranktree.doctor.checks import as_document, as_text, examine  # noqa: PLC0415  the extension, for this verb only
    from ranktree.doctor.system import PROBLEM, System  # noqa: PLC0415

    if build is not None:
        from ranktree.doctor.build import build as build_libraries  # noqa: PLC0415

        added = build_libraries(build, jobs or len(os.sched_getaffinity(0)), progress)
        echo("\n".join(map(str, added)))
        return
    findings = examine(System())
    echo(json_format.dumps(as_document(findings), indent=1) if json else as_text(findings))
    if any(finding.status == PROBLEM for finding in findings):
        raise Exit(WRONG)


def progress(what: str) -> None:
    """A line on a terminal."""
    if sys.stderr.isatty():
        print(f"ranktree: {what}", file=sys.stderr, flush=True)
