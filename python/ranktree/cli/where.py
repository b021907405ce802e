"""`ranktree where`: where the ranks of a launch are, who shares what, and the flag that mends it."""

import json as json_format
from typing import Annotated

from ranktree.cli.options import Argument, Exit, Option

INTERSPERSED = False
EXAMPLE = "ranktree where -- mpirun -n 64 ./app"
WRONG = 3


def command(
    words: Annotated[
        list[str] | None,
        Argument(metavar="[-- MPIRUN...]", help="the launcher's command; without it, every rank of a job runs this"),
    ] = None,
    json: Annotated[bool, Option("--json", help="print JSON (docs/how-to/read-the-binding.md)")] = False,
) -> None:
    """Show host, binding and NUMA node of every rank, and who shares them.

    The launcher starts a helper program in place of yours. Exit code 3 where ranks are unbound, overlapping or
    oversubscribed, a node is overloaded, or a package idle; the flag that mends it is printed.
    """
    from ranktree.where import launch  # noqa: PLC0415  the extension, for this verb only

    document = launch.by_launch(words) if words else launch.inside_job()
    if document is None:
        return
    print(json_format.dumps(document) if json else launch.as_text(document), flush=True)
    if document["findings"]:
        raise Exit(WRONG)
