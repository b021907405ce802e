"""`ranktree run`: a launcher's command, made to follow a plan."""

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ranktree import _core, verify
from ranktree.child import become_result, run_through
from ranktree.launch_files import write_files
from ranktree.launcher import take_apart
from ranktree.rewrite import environment, kept_options, launcher_for, rewrite

SETTINGS = {"context_settings": {"allow_interspersed_args": False, "ignore_unknown_options": True}}


def command(
    words: Annotated[list[str], typer.Argument(metavar="-- MPIRUN...", help="The launcher's command, as it is today.")],
    plan: Annotated[Path, typer.Option("--plan", "-p", help="Plan written by 'ranktree map'.")],
    verify_first: Annotated[
        bool, typer.Option("--verify", help="First check host and PUs of every rank; run only if all are as planned.")
    ] = False,
    verify_hosts: Annotated[
        bool, typer.Option("--verify-hosts", help="As --verify, hosts only (where the PUs are emulated).")
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where the launcher's files go, seen by all nodes [a new one here].")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print the command to stderr before it runs.")] = False,
) -> None:
    """Run a launcher's command with every rank where the plan has it; exit code and signals pass through."""
    placed = _core.load_plan(str(plan))
    seats = _core.plan_seats(placed)
    launched = take_apart(words)
    kept = kept_options(launched, seats)
    with files_folder(folder) as place:

        def prepare(program: list[str]) -> tuple[list[str], dict[str, str]]:
            launch = _core.make_launch(placed, launcher_for(launched, seats), str(place), program)
            write_files(place, launch["files"], force=True)
            return rewrite(launched, launch, kept, program), environment(os.environ, launch)

        try:
            if verify_first or verify_hosts:
                verify.require(seats, launched, prepare, place, compare_pus=verify_first)
            arguments, variables = prepare(launched.program)
            if show:
                typer.echo(shlex.join(arguments), err=True)
            result = run_through(arguments, variables)
        except verify.Interrupted as interrupted:
            result = -interrupted.args[0]
    become_result(result)


@contextmanager
def files_folder(folder: Path | None) -> Iterator[Path]:
    """The given folder, or a new one in the current folder (which the nodes see) that is removed at the end."""
    if folder is not None:
        yield folder.absolute()
        return
    new = Path(tempfile.mkdtemp(prefix=".ranktree-", dir=Path.cwd()))
    new.chmod(0o755)
    try:
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)
