"""`ranktree calibrate`: what links and memory of this machine cost, level by level, for the models."""

import json as json_module
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.table import Table

from ranktree import _core
from ranktree.cli.bench import choose, run
from ranktree.cli.options import Argument, Option, echo
from ranktree.cli.output import require_writable
from ranktree.model import seconds_text

EXAMPLE = "ranktree calibrate -o here.json -- mpirun -n 16"


def program_beside(bench: Path) -> Path:
    """The calibrating program of the same MPI as a benchmark's."""
    program = bench.with_name(bench.name.replace("ranktree-bench-", "ranktree-calibrate-"))
    if not program.is_file():
        raise RuntimeError(f"{program}: not built")
    return program


def printed(words: Sequence[str], kind: str) -> dict[str, Any]:
    """The document of one format among the lines that a launch prints."""

    def is_document(line: dict[str, Any]) -> bool:
        return line.get("format") == kind

    found = list(filter(is_document, run(words, is_document)))
    if len(found) != 1:
        raise RuntimeError(f"{words[0]}: expected one line of {kind}, found {len(found)}")
    return found[0]


def table_of(found: dict[str, Any]) -> Table:
    """The levels, outermost first."""
    table = Table(title=f"{found['ranks']} ranks on {found['nodes']} node(s), {found['mpi']}")
    table.add_column("link across")
    for name in ("latency", "bandwidth", "o send", "o receive", "gap"):
        table.add_column(name, justify="right")
    for level in found["levels"]:
        bandwidth = f"{1e-9 / level['s_per_byte']:.3g} GB/s" if level["s_per_byte"] > 0 else "-"
        times = [level["overhead_send_s"], level["overhead_receive_s"], level["gap_s"]]
        table.add_row(level["name"], seconds_text(level["latency_s"]), bandwidth, *map(seconds_text, times))
    return table


def rates_line(found: dict[str, Any]) -> str:
    """What memory does."""
    names = {"sums": "reduce_s_per_byte", "copies": "copy_s_per_byte", "shared memory": "shared_s_per_byte"}
    parts = [f"{name} {1e-9 / found[key]:.3g} GB/s" for name, key in names.items() if found[key] > 0]
    if found["shared_latency_s"] > 0:
        parts.append(f"{seconds_text(found['shared_latency_s'])} a rank")
    return ", ".join(parts)


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    launcher: Annotated[
        list[str] | None,
        Argument(metavar="[-- MPIRUN...]", help="the launcher's command without a program; else one is found"),
    ] = None,
    ranks: Annotated[int | None, Option("--np", min=2, help="ranks; the launcher's own number if not given")] = None,
    output: Annotated[str | None, Option("-o", "--output", decides="written", help="write the parameters here")] = None,
    seconds: Annotated[float, Option(min=0.1, max=60, help="about so long")] = 10.0,
    mpi: Annotated[str | None, Option("--mpi", envvar="RANKTREE_MPI", help="which MPI's program to start")] = None,
    json: Annotated[bool, Option("--json", help="print JSON")] = False,
) -> None:
    """Measure latency, bandwidth, overheads and gap between ranks of each level, and the rates of memory.

    Launch it as the program will be: on as many nodes, bound alike. The file is read by `ranktree predict`, and at run
    time where RANKTREE_COLL_PARAMETERS names it.
    """
    if output is not None:
        require_writable(Path(output))
    program, words = choose(launcher or [], mpi)
    if ranks is not None:
        words = [*words, "-n", str(ranks)]
    found = printed([*words, str(program_beside(program)), "--seconds", str(seconds)], "ranktree-parameters")
    text = json_module.dumps(found, indent=1)
    if output is not None:
        _core.save_parameters(output, text)
    if json:
        echo(text)
        return
    Console(width=120).print(table_of(found))
    echo(rates_line(found))
