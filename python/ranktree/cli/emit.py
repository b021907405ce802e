"""`ranktree emit`: a launcher's own files for a plan, and the command that uses them."""

import shlex
from pathlib import Path
from typing import Annotated, Any

from ranktree import _core
from ranktree.cli.options import Argument, BadParameter, Option, echo
from ranktree.launch_files import write_files
from ranktree.usable_machine import launchable

EXAMPLE = "ranktree emit plan.json --launcher openmpi5 -- ./app"

LAUNCHERS = ", ".join(_core.launcher_names())


def command(
    plan: Annotated[Path, Argument(help="Plan written by 'ranktree map'.")],
    program: Annotated[list[str] | None, Argument(help="After --: the program and its arguments.")] = None,
    launcher: Annotated[str, Option("--launcher", "-l", help=f"One of {LAUNCHERS}.")] = "generic",
    output: Annotated[
        Path | None, Option("--output", "-o", help="Folder for the files, seen by all nodes [PLAN.LAUNCHER].")
    ] = None,
    force: Annotated[bool, Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Write a launcher's own files for a plan and print the exact command to run."""
    if launcher not in _core.launcher_names():
        raise BadParameter(f"'{launcher}': expected one of {LAUNCHERS}", param_hint="--launcher")
    placed = launchable(_core.load_plan(str(plan)), str(plan))
    folder = (output or plan.with_name(f"{plan.stem}.{launcher}")).absolute()
    launch = _core.make_launch(placed, launcher, str(folder), program or [])
    write_files(folder, launch["files"], force)
    for note in launch["notes"]:
        echo(f"note: {note}", err=True)
    echo(command_line(launch, program or ["PROGRAM"]))


def command_line(launch: dict[str, Any], program: list[str]) -> str:
    """The command as a shell reads it."""
    started = [] if launch["program_in_file"] else [*launch["wrapper"], *program]
    settings = [f"{name}={shlex.quote(value)}" for name, value in (e.split("=", 1) for e in launch["environment"])]
    return " ".join([*settings, launch["starter"], shlex.join([*launch["options"], *started])])
