"""`ranktree run`: a launcher's command, made to follow a plan, and its hardware splits answered by ours."""

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from pathlib import Path
from typing import Annotated

import typer

from ranktree import _core, verify
from ranktree.child import become_result, run_through
from ranktree.launch_files import write_files
from ranktree.launcher import take_apart
from ranktree.rewrite import environment, kept_options, launcher_for, rewrite
from ranktree.shim import choose, handed_on, read_command, with_shim

SETTINGS = {"context_settings": {"allow_interspersed_args": False, "ignore_unknown_options": True}}


def command(
    words: Annotated[list[str], typer.Argument(metavar="-- MPIRUN...", help="The launcher's command, as it is today.")],
    plan: Annotated[Path | None, typer.Option("--plan", "-p", help="Plan written by 'ranktree map'.")] = None,
    split: Annotated[
        bool,
        typer.Option(
            "--split", help="Answer the program's hardware splits (MPI_COMM_TYPE_HW_...) by ranktree's hsplit."
        ),
    ] = False,
    mpi: Annotated[
        str | None,
        typer.Option(
            "--mpi", envvar="RANKTREE_MPI", help="The library for --split where program and launcher do not tell."
        ),
    ] = None,
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
    if split:
        words = with_splits(words, mpi)
    check = Check.PUS if verify_first else Check.HOSTS if verify_hosts else Check.NOTHING
    if plan is not None:
        result = run_placed(words, plan, check, folder, show)
    elif not split or check is not Check.NOTHING or folder is not None:
        raise typer.BadParameter("needs --plan PLAN" + ("" if split else ", --split, or both"))
    else:
        tell(show, words)
        result = run_through(words, os.environ)
    become_result(result)


class Check(Enum):
    """What is verified before a placed run."""

    NOTHING = auto()
    HOSTS = auto()
    PUS = auto()


def with_splits(words: Sequence[str], mpi: str | None) -> list[str]:
    """The command whose ranks have their hardware splits answered by the preload library."""
    started = read_command(words)
    return with_shim(started, choose(started, mpi), {**handed_on(), "RANKTREE_SPLIT": "1"})


def tell(show: bool, words: Sequence[str]) -> None:
    """--show."""
    if show:
        typer.echo(shlex.join(words), err=True)


def run_placed(words: Sequence[str], plan: Path, check: Check, folder: Path | None, show: bool) -> int:
    """Runs the command as the plan says; its exit code, or minus the signal that ended it."""
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
            if check is not Check.NOTHING:
                verify.require(seats, launched, prepare, place, compare_pus=check is Check.PUS)
            arguments, variables = prepare(launched.program)
            tell(show, arguments)
            return run_through(arguments, variables)
        except verify.Interrupted as interrupted:
            return -interrupted.args[0]


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
