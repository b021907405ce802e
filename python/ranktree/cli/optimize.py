"""`ranktree optimize`: from a launch to a verdict in one command."""

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ranktree.allocation import Allocation, HostFile, Hosts, hosts_of_launch
from ranktree.cli.options import Argument, Exit, Option, echo
from ranktree.cli.run import ThreadsPerRank

if TYPE_CHECKING:
    from ranktree.optimize.steps import Result

INTERSPERSED = False
EXAMPLE = "ranktree optimize -- mpirun -n 64 ./app"
NO_GAIN = 4
CLEAR = "\r\x1b[K"  # the line of progress


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    words: Annotated[list[str], Argument(metavar="-- MPIRUN...", help="the launcher's command, as it is today")],
    pattern: Annotated[Path | None, Option(help="a recorded pattern, in place of a traced run")] = None,
    machine: Annotated[str | None, Option(help="as for `ranktree map` [the hosts of the launch]")] = None,
    network: Annotated[str | None, Option(help="as for `ranktree map`")] = None,
    hosts: Hosts = None,
    hostfile: HostFile = None,
    threads_per_rank: ThreadsPerRank = None,
    runs: Annotated[int, Option(min=1, max=1000, help="of the command as it is, and by each plan, in turn")] = 5,
    metric_regex: Annotated[
        str | None, Option(help="one group: the time in the program's output [the wall time]")
    ] = None,
    unit: Annotated[str, Option(help="of the time that --metric-regex finds")] = "s",
    time_limit: Annotated[float | None, Option(above=0, help="SECONDS of one run")] = None,
    verify_hosts: Annotated[
        bool, Option("--verify-hosts", help="verify hosts only (where the PUs are emulated)")
    ] = False,
    no_verify: Annotated[bool, Option("--no-verify", help="do not verify where the plans put the ranks")] = False,
    worthwhile: Annotated[float, Option(min=0, max=100, help="PERCENT: a smaller gain is no gain")] = 2.0,
    fail_if_no_gain: Annotated[bool, Option("--fail-if-no-gain", help="exit code 4 without a gain")] = False,
    seed: Annotated[int, Option(min=0, max=2**64 - 1, help="of placement and resampling")] = 1,
    mpi: Annotated[str | None, Option(envvar="RANKTREE_MPI", help="as for `ranktree trace`")] = None,
    folder: Annotated[
        Path | None, Option("-o", "--output", decides="written", help="folder of the results [ranktree-PROGRAM]")
    ] = None,
    json: Annotated[bool, Option("--json", help="print JSON (docs/how-to/speed-up-an-application.md)")] = False,
) -> None:
    """Trace, place, verify, run before and after in turn, and report in one sentence whether a plan is faster.

    Leaves the plan, the launcher's own files, the runs and a report in a folder that all nodes see.
    """
    # #lizard forgives the number of parameters: every option is one
    from ranktree.child import Interrupted  # noqa: PLC0415  the extension and numpy, for this verb only
    from ranktree.optimize.steps import Reporter, Result, Wishes, as_document, optimize  # noqa: PLC0415
    from ranktree.runs.interleave import compiled  # noqa: PLC0415
    from ranktree.runs.process import ends_cleanly  # noqa: PLC0415

    compiled(metric_regex)
    check = "nothing" if no_verify else "hosts" if verify_hosts else "pus"
    allowed = allocated(words, machine, network, hosts, hostfile)
    chosen = new_folder(folder or default_folder(words))
    wishes = Wishes(
        words,
        chosen,
        pattern,
        machine,
        network,
        allowed,
        threads_per_rank,
        runs,
        metric_regex,
        unit,
        time_limit,
        check,
        worthwhile / 100,
        seed,
        mpi,
    )
    result = Result()
    try:
        with ends_cleanly():
            optimize(wishes, result, Reporter(notify, note))
    except (Interrupted, RuntimeError, ValueError, OSError):
        show_left(result, chosen)
        raise
    echo(json_format.dumps(as_document(result, chosen), indent=1) if json else text(result, chosen))
    if fail_if_no_gain and not result.gained:
        raise Exit(NO_GAIN)


def allocated(
    words: list[str], machine: str | None, network: str | None, hosts: str | None, hostfile: Path | None
) -> Allocation | None:
    """The hosts to place on; None without a named machine, where the launch itself shows its hosts."""
    if machine is None and network is None and hosts is None and hostfile is None:
        return None
    return hosts_of_launch(words, hosts, hostfile)


def default_folder(words: list[str]) -> Path:
    """ranktree-PROGRAM, with a number where that is taken."""
    from ranktree.launcher import take_apart  # noqa: PLC0415

    name = f"ranktree-{Path(take_apart(words).program[0]).name}"
    number = 1
    while (path := Path(name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return path


def new_folder(path: Path) -> Path:
    """Makes the folder; one that holds something is refused."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ValueError(f"{path}: exists and is not an empty folder")
    path.mkdir(parents=True, exist_ok=True)
    return path


def notify(what: str) -> None:
    """A line of progress on a terminal."""
    if sys.stderr.isatty():
        print(f"{CLEAR}ranktree: {what}", end="", file=sys.stderr, flush=True)


def note(text: str) -> None:
    """A line that stays."""
    echo(f"{CLEAR if sys.stderr.isatty() else ''}ranktree: {text}", err=True)


def show_left(result: "Result", folder: Path) -> None:
    """What an unfinished run leaves."""
    if any(folder.iterdir()):
        print(f"ranktree: {folder}: holds what was done so far", file=sys.stderr)
    else:
        folder.rmdir()


def text(result: "Result", folder: Path) -> str:
    """The closing lines; the sentence is the last one."""
    if sys.stderr.isatty():
        print(CLEAR, end="", file=sys.stderr)
    lines = [f"by the model, the {name} saves {100 * gain:.1f} %" for name, gain in result.gains.items()]
    if result.runs is not None:
        from ranktree.cli.compare import runs_text  # noqa: PLC0415

        lines.append(runs_text({**result.runs, "comparison": None}))
    if result.emitted:
        lines.append(f"the launcher's own command: {result.emitted}")
    if result.gained and result.dropped:
        lines.append(f"the plan replaces: {', '.join(result.dropped)}")
    lines.append(f"report: {folder / 'report.html'}")
    return "\n".join([*lines, result.sentence])
