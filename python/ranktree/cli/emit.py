"""`ranktree emit`: a launcher's own files for a plan, and the command that uses them."""

import json as json_format
import shlex
from pathlib import Path
from typing import Annotated, Any

from ranktree import _core
from ranktree.cli.options import Argument, BadParameter, Option, echo
from ranktree.launch_files import write_files
from ranktree.usable_machine import launchable

EXAMPLE = "ranktree emit plan.json --launcher openmpi5 -- ./app"

FORMAT, VERSION = "ranktree-emit", 1
LAUNCHERS = ", ".join(_core.launcher_names())


def command(
    plan: Annotated[Path, Argument(help="Plan written by 'ranktree map'.")],
    program: Annotated[list[str] | None, Argument(help="After --: the program and its arguments.")] = None,
    launcher: Annotated[str, Option("--launcher", "-l", help=f"One of {LAUNCHERS}.")] = "generic",
    output: Annotated[
        Path | None,
        Option("--output", "-o", decides="written", help="Folder for the files, seen by all nodes [PLAN.LAUNCHER]."),
    ] = None,
    force: Annotated[bool, Option("--force", decides="written", help="Replace files that exist.")] = False,
    json: Annotated[bool, Option("--json", help="Print JSON: the files, the command, its variables.")] = False,
) -> None:
    """Write a launcher's own files for a plan and print the exact command to run."""
    if launcher not in _core.launcher_names():
        raise BadParameter(f"'{launcher}': expected one of {LAUNCHERS}", param_hint="--launcher")
    placed = launchable(_core.load_plan(str(plan)), str(plan))
    folder = (output or plan.with_name(f"{plan.stem}.{launcher}")).absolute()
    launch = _core.make_launch(placed, launcher, str(folder), program or [])
    files = write_files(folder, launch["files"], force)
    if json:
        echo(json_format.dumps(as_document(launch, program or ["PROGRAM"], launcher, files), indent=1))
        return
    for note in launch["notes"]:
        echo(f"note: {note}", err=True)
    echo(command_line(launch, program or ["PROGRAM"]))


def as_document(launch: dict[str, Any], program: list[str], launcher: str, files: list[Path]) -> dict[str, Any]:
    """For `--json`: `command` for a shell, `words` and `environment` for a program that starts it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "launcher": launcher,
        "files": [str(path) for path in files],
        "command": command_line(launch, program),
        "words": [*launch["starter"].split(), *launch["options"], *started(launch, program)],
        "environment": dict(entry.split("=", 1) for entry in launch["environment"]),
        "notes": list(launch["notes"]),
    }


def started(launch: dict[str, Any], program: list[str]) -> list[str]:
    """What the launcher starts; nothing where its own file names that."""
    return [] if launch["program_in_file"] else [*launch["wrapper"], *program]


def command_line(launch: dict[str, Any], program: list[str]) -> str:
    """The command as a shell reads it."""
    settings = [f"{name}={shlex.quote(value)}" for name, value in (e.split("=", 1) for e in launch["environment"])]
    return " ".join([*settings, launch["starter"], shlex.join([*launch["options"], *started(launch, program)])])
