"""Where the ranks of a launch really are, compared with where a plan has them."""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from ranktree import _core
from ranktree.helpers import built, helper_for
from ranktree.launcher import LaunchCommand

SECONDS = 120
SHOWN = 20
Seats = Sequence[tuple[str, list[int]]]
Prepare = Callable[[list[str]], tuple[list[str], dict[str, str]]]


def require(seats: Seats, command: LaunchCommand, prepare: Prepare, compare_pus: bool) -> None:
    """Launches our helper in place of the program; RuntimeError names every rank that is not where it should be."""
    arguments, variables = prepare([str(choose_helper(command))])
    found = launch(arguments, variables)
    wrong = _core.misplaced(list(seats), found, compare_pus)
    if not wrong:
        return
    lines = [f"rank {rank}: planned {shown(expected)}, found {shown(real)}" for rank, expected, real in wrong[:SHOWN]]
    more = [f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
    raise RuntimeError(
        "\n  ".join([f"{len(wrong)} of {len(seats)} ranks are not where the plan has them:", *lines, *more])
    )


def choose_helper(command: LaunchCommand) -> Path:
    """The helper for the launcher's MPI; for srun, which starts any, the one of the program's MPI."""
    family = program_family(command.program[0]) if command.family == "slurm" else command.family
    helper = helper_for(family) if family else next(iter(built().values()), None)
    if helper is None:
        raise RuntimeError(f"--verify: no helper is built for the MPI of {command.starter} ({family or 'unknown'})")
    return helper


def program_family(program: str) -> str | None:
    """The MPI a program is linked with, from the dynamic loader."""
    result = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=30, check=False)
    for mark, family in (("libmpi.so.40", "openmpi"), ("libmpich", "mpich"), ("libmpi.so.12", "mpich")):
        if mark in result.stdout:
            return family
    return None


def launch(arguments: Sequence[str], variables: dict[str, str]) -> list[tuple[str, list[int]]]:
    """(host, PUs) of each rank as the helper reports them."""
    try:
        result = subprocess.run(
            list(arguments),
            env=variables,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"--verify: the launch did not end in {SECONDS} s") from None
    for line in result.stdout.splitlines():
        start = line.find('{"format":"ranktree-ranks"')
        if start >= 0:
            return [(entry["host"], entry["pus"]) for entry in json.loads(line[start:])["ranks"]]
    said = [line for line in result.stderr.splitlines() if line.strip() and not line.startswith("---")]
    raise RuntimeError(f"--verify: the launch failed with exit code {result.returncode}: {' | '.join(said[:SHOWN])}")


def shown(seat: tuple[str, list[int]]) -> str:
    """`n2 PU 0-1`."""
    host, pus = seat
    return f"{host or 'any host'} PU {_core.cpu_list(pus)}"
