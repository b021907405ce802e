"""`ranktree trace`: run a program unchanged and find out who talks to whom."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ranktree import _core
from ranktree.child import become_result, run_through
from ranktree.cli.options import Argument, BadParameter, Option, echo
from ranktree.cli.output import require_writable
from ranktree.shared_files import ranks_without
from ranktree.shim import Command, choose, handed_on, read_command, with_shim

INTERSPERSED = False
EXAMPLE = "ranktree trace -o app.npz -- mpirun -n 64 ./app"
NO_TRACE = 1
OTHERS_WRITE = 0o022
FULL = 1 << 20  # free bytes of a disk without space for the records of a rank
FORMAT, VERSION = "ranktree-trace", 1


@dataclass(frozen=True)
class Closing:
    """What follows a trace: the launcher's words, which the ranks do not see, go into the file; a line or JSON."""

    launch: Sequence[str] = ()
    quiet: bool = False
    json: bool = False


def command(
    words: Annotated[
        list[str] | None, Argument(metavar="[--] MPIRUN...", help="The launcher's command, as it is today.")
    ] = None,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            decides="written",
            metavar="APP.npz",
            help="Where the pattern goes [ranktree-PROGRAM.npz].",
        ),
    ] = None,
    recover: Annotated[
        Path | None,
        Option(
            "--recover",
            decides="written",
            metavar="APP.npz",
            help="Only put together what a broken run left in APP.npz.parts.",
        ),
    ] = None,
    mpi: Annotated[
        str | None,
        Option(
            "--mpi", envvar="RANKTREE_MPI", help="The preload library to use where program and launcher do not show it."
        ),
    ] = None,
    simulated: Annotated[
        bool,
        Option("--simulate", help="Simulate the ranks of a program compiled by `ranktree simulate --compile`."),
    ] = False,
    ranks: Annotated[int | None, Option("--np", min=1, help="Ranks to simulate.")] = None,
    quiet: Annotated[bool, Option("--quiet", "-q", help="No line about a complete trace.")] = False,
    as_json: Annotated[
        bool, Option("--json", help="Print JSON about the trace, one line, after the program's own output.")
    ] = False,
) -> None:
    """Run a launcher's command with tracing on; the program is unchanged, its exit code and signals pass through."""
    if recover is not None:
        if words:
            raise BadParameter("--recover runs no program: leave the command out")
        recover_only(recover, output or recover, Closing(json=as_json))
        return
    if simulated != (ranks is not None):
        raise BadParameter("expected both or neither of --simulate and --np")
    if not words:
        raise BadParameter("needs a launcher's command (or --recover APP.npz)")
    output = output or default_output(words)
    closing = Closing(() if ranks else words, quiet, as_json)
    become_result(trace_without_run(words, output, ranks, closing) if ranks else trace(words, output, mpi, closing))


def default_output(words: list[str]) -> Path:
    """ranktree-PROGRAM.npz in this folder."""
    return Path(f"ranktree-{Path(read_command(words).parts[0].program[0]).name}.npz")


def trace(words: list[str], output: Path, mpi: str | None, closing: Closing) -> int:
    """Runs the command; returns its exit code, or NO_TRACE where it came to a good end without a trace."""
    path = check_output(output)
    parts = parts_folder(path)
    started = read_command(words)
    shim = choose(started, mpi)
    arguments = with_shim(started, shim, {"RANKTREE_TRACE": str(path), **handed_on()})
    before = identity(path)
    result = run_with_parts(parts, lambda: run_through(arguments, os.environ))
    if identity(path) != before and path.exists():
        close(path, closing)
        remove_merged(parts, path)
        return result
    if recover_after(path, parts, closing):
        return result
    name_absent(started, shim.path)
    return result or NO_TRACE


def remove_merged(parts: Path, path: Path) -> None:
    """Removes what ranks left that did not wait until a complete trace was written; not what a later run left."""
    written = path.stat().st_mtime_ns
    left = [each for each in parts.glob("*.part") if each.stat().st_mtime_ns <= written]
    if not left or not _core.load_pattern(str(path))[0].metadata["complete"]:
        return
    for each in left:
        each.unlink(missing_ok=True)
    remove_empty(parts)


def remove_empty(parts: Path) -> None:
    """Removes the folder of the parts where none is left."""
    if parts.is_dir() and not any(parts.iterdir()):
        parts.rmdir()


def run_with_parts(parts: Path, run: Callable[[], int]) -> int:
    """Makes the folder of the parts, for this user alone and before another can, since its name is known; then runs.

    Removes the folder where it is empty.
    """
    parts.mkdir(mode=0o700)
    status = parts.stat()
    if status.st_uid != os.geteuid() or status.st_mode & OTHERS_WRITE:
        note(
            f"{parts.parent}: a folder made here belongs to another user, or others may write to it: the ranks' "
            "records are in memory only, and lost when one crashes"
        )
    try:
        return run()
    finally:
        remove_empty(parts)


def name_absent(started: Command, library: Path) -> None:
    """Names a rank whose node cannot read the library: then the loader starts the program without it."""
    absent = ranks_without(started, library) if started.starter else []
    if absent:
        rank, host = absent[0]
        more = f" (and {len(absent) - 1} more ranks)" if len(absent) > 1 else ""
        note(f"rank {rank} on {host}{more} has no {library}: install it there or use a shared folder")


def trace_without_run(words: list[str], output: Path, ranks: int, closing: Closing) -> int:
    """Simulates the program; its records are put together afterwards."""
    from ranktree.runs.process import temporary_folder  # noqa: PLC0415  modules that no other trace needs
    from ranktree.simulate.tracing import trace_simulated  # noqa: PLC0415

    path = check_output(output)
    parts = parts_folder(path)
    with temporary_folder("ranktree-machine-") as folder:
        try:
            result = run_with_parts(parts, lambda: trace_simulated(words, path, ranks, folder))
        except BaseException:  # a signal, too: nothing of this run keeps the next one from running
            recover_after(path, parts, closing)
            raise
    return result if recover_after(path, parts, closing) else result or NO_TRACE


def check_output(output: Path) -> Path:
    """The absolute path of the output. Refuses before the run what would lose the trace after it."""
    path = trace_file(output)
    if os.path.lexists(parts_folder(path)):
        raise ValueError(
            f"{parts_folder(path)}: left by another run: 'ranktree trace --recover {output}' makes its pattern; or "
            "remove the folder"
        )
    return path


def trace_file(output: Path) -> Path:
    """The absolute path of a name that a trace can have, in a folder that takes it."""
    if output.suffix != ".npz":
        raise BadParameter(f"{output}: expected a name with the ending .npz")
    path = Path(os.path.abspath(output))  # noqa: PTH100 - symbolic links stay as the user wrote them
    require_writable(path)
    return path


def parts_folder(path: Path) -> Path:
    """Where the ranks keep their records while they run."""
    return path.with_name(path.name + ".parts")


def identity(path: Path) -> tuple[int, int] | None:
    """Distinguishes a new file from the one before; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def recover_only(recover: Path, output: Path, closing: Closing) -> None:
    """Makes the pattern of a run whose `ranktree trace` did not live to do it."""
    parts = parts_folder(Path(os.path.abspath(recover)))  # noqa: PTH100
    if not parts.is_dir():
        raise ValueError(f"{parts}: no such folder: nothing to recover")
    put_together(parts, trace_file(output), closing)


def recover_after(path: Path, parts: Path, closing: Closing) -> bool:
    """Makes the pattern from what the ranks left behind; false when they left nothing."""
    if not parts.is_dir():
        note(f"{path}: no trace was made: no rank came through MPI_Init")
        return False
    try:
        put_together(parts, path, closing)
    except (ValueError, OSError, RuntimeError) as error:
        full = "the disk is full: " if shutil.disk_usage(parts).free < FULL else ""
        note(f"{path}: no trace was made: {full}{error}; the ranks' records are in {parts}")
        return False
    return True


def put_together(parts: Path, output: Path, closing: Closing) -> None:
    """Writes the pattern and removes the parts."""
    found = _core.recover_trace(str(parts), str(output))
    close(output, closing)
    if found["unread"]:
        more = f" (and {len(found['unread']) - 1} more)" if len(found["unread"]) > 1 else ""
        note(f"{found['unread'][0]}{more}: the ranks' records stay in {parts}")
    else:
        shutil.rmtree(parts)
    if not found["complete"]:
        missing = f", nothing from {ranks_text(found['missing'])}" if found["missing"] else ""
        note(f"{output}: partial: not every rank came through MPI_Finalize{missing}")


def ranks_text(ranks: list[int]) -> str:
    """`ranks 0-3,7`."""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {_core.cpu_list(list(ranks))}"


def close(path: Path, closing: Closing) -> None:
    """Records the launcher's command in a new pattern and reports what it holds."""
    pattern, _ = _core.load_pattern(str(path))
    if closing.launch:
        try:
            # Words that are no UTF-8 must not make a trace unreadable.
            launch = [os.fsencode(word).decode("utf-8", "replace") for word in closing.launch]
            pattern.metadata = {"launch": launch}
            _core.save_pattern(str(path), pattern)
        except (ValueError, OSError, RuntimeError) as error:
            note(f"{path}: the launcher's command is not recorded: {error}")
    recorded = as_document(path, pattern)
    notify(path, recorded, closing.quiet)
    if closing.json:
        echo(json.dumps(recorded))


def as_document(path: Path, pattern: "_core.Pattern") -> dict[str, Any]:
    """For `--json` (docs/reference/settings.md)."""
    metadata = pattern.metadata
    messages, size = pattern.totals
    return {
        "format": FORMAT,
        "version": VERSION,
        "file": str(path),
        "ranks": pattern.ranks,
        "pairs": len(pattern),
        "messages": int(messages),
        "bytes": int(size),
        "collective_calls": int(sum(kind["calls"] for kind in pattern.collectives)),
        "complete": metadata["complete"],
        "missing": metadata["missing"],
        "not_attributed": metadata["unattributed"],
        "mpi": metadata["mpi"],
        "hosts": sorted(set(metadata["hosts"])),
        "program": metadata["program"],
        "launch": metadata["launch"],
    }


def notify(path: Path, recorded: dict[str, Any], quiet: bool) -> None:
    """One line about a trace; what could not be attributed is printed even when nothing else is."""
    words = [
        f"{recorded['ranks']} {'rank' if recorded['ranks'] == 1 else 'ranks'}",
        f"{recorded['pairs']} pairs",
        f"{recorded['messages']} messages",
        f"{recorded['bytes']} bytes",
        f"{recorded['collective_calls']} collective calls",
    ]
    lost = ", ".join(f"{count:.0f} {call}" for call, count in sorted(recorded["not_attributed"].items()))
    if not quiet:
        note(f"{path}: {', '.join(words)}" + (f"; not attributed: {lost}" if lost else ""))
    elif lost:
        note(f"{path}: not attributed: {lost}")


def note(text: str) -> None:
    """A line on standard error."""
    print(f"ranktree: {text}", file=sys.stderr)
