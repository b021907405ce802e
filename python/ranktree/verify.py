"""Where the ranks of a launch really are, compared with where a plan has them."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ranktree import _core
from ranktree.child import Child, Interrupted
from ranktree.helpers import MARKS, built, library_text
from ranktree.launch_files import write_files
from ranktree.launcher import LaunchCommand, program_file, version_numbers
from ranktree.shim import COLLECTIVES, WORLD, mpi_library

SECONDS = 120
SHOWN = 20
SHOWN_OF_FAILURE = 200
PROBE = "ranktree-probe"
# The plan is for the launcher's numbers: the ranks of our program are not reordered, nor are its collectives served.
NUMBERED_BY_THE_LAUNCHER = (
    "/usr/bin/env",
    *(word for name in (*WORLD, *COLLECTIVES) for word in ("-u", name)),
)
HELPER_MARK = '{"format":"ranktree-ranks"'
Slots = Sequence[tuple[str, list[int]]]
Prepare = Callable[[list[str]], tuple[list[str], dict[str, str]]]
PrepareIn = Callable[[list[str], Path], tuple[list[str], dict[str, str]]]


def require(slots: Slots, command: LaunchCommand, prepare: Prepare, folder: Path, compare_pus: bool) -> None:
    """Launches a helper program in place of the user's; RuntimeError names every rank that is not as planned.

    All nodes see `folder`.
    """
    with folder_within(folder, ".verify-") as place:
        arguments, variables = prepare([*NUMBERED_BY_THE_LAUNCHER, stand_in(command, place)])
        try:
            found = launch(Child(arguments, variables), place, len(slots))
        except RuntimeError as error:
            raise RuntimeError(f"--verify: {error}") from None
    wrong = _core.misplaced(list(slots), found, compare_pus)
    if not wrong:
        return
    lines = [difference(*each) for each in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        lines.append(f"and {len(wrong) - SHOWN} more")
    raise RuntimeError("\n  ".join([f"{len(wrong)} of {len(slots)} ranks are not where the plan has them:", *lines]))


@contextmanager
def folder_within(place: Path, prefix: str) -> Iterator[Path]:
    """A new folder, made with those above it, that all nodes see who see `place`; removed at the end."""
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def trial_failure(slots: Slots, place: Path, prepare: PrepareIn) -> str | None:
    """Why not every rank is bound as planned by a launch whose files `prepare` writes to a folder; None where all are.

    The ranks start a script that calls no MPI. Hydra of MPICH 4 leaves a rank unbound where its host lacks a PU, and
    prints nothing.
    """
    with folder_within(place, ".trial-") as folder:
        arguments, variables = prepare([write_probe(folder)], folder)
        try:
            found = launch(Child(arguments, variables), folder, len(slots))
        except RuntimeError as error:
            return str(error)[:SHOWN_OF_FAILURE]
    wrong = _core.misplaced(list(slots), found, True)
    return difference(*wrong[0]) if wrong else None


def difference(rank: int, planned: tuple[str, list[int]], real: tuple[str, list[int]]) -> str:
    """Where a rank is in place of where it should be."""
    return f"rank {rank}: planned {shown(planned)}, found {shown(real)}"


def stand_in(command: LaunchCommand, folder: Path) -> str:
    """The helper that fits the launch; else a script that needs no MPI."""
    program = program_file(command.family, command.options, command.program[0])
    helper = matching_helper(command.family, command.version, program)
    return str(helper) if helper is not None else write_probe(folder)


def write_probe(folder: Path) -> str:
    """The script that prints where the rank running it is."""
    (probe,) = write_files(folder, [(PROBE, _core.probe_script(), True)], force=True)
    return str(probe)


def matching_helper(family: str, version: tuple[int, ...], program: Path) -> Path | None:
    """The helper that loads the same MPI library as a program; where none does, one of the launcher's release.

    Of several it is the one that RANKTREE_MPI names, else the first.
    """
    known = built()
    library = library_of(program)
    found = [helper for helper in known.values() if library is not None and library_of(helper) == library]
    if not found and family in MARKS:
        found = [helper for helper in known.values() if is_release(helper, family, version)]
    named = known.get(os.environ.get("RANKTREE_MPI", ""))
    return named if named in found else next(iter(found), None)


def library_of(program: Path) -> Path | None:
    """The file of the MPI library that a program loads; None for scripts and the like."""
    try:
        library = mpi_library(program)
    except (OSError, ValueError):
        return None
    return library.file.resolve() if library is not None and library.file is not None else None


def is_release(helper: Path, family: str, version: tuple[int, ...]) -> bool:
    """Whether a helper's MPI is of a launcher's family and version."""
    text = library_text(helper)
    return MARKS[family] in text and version_numbers(text) == version


def launch(child: Child, folder: Path, ranks: int) -> list[tuple[str, list[int]]]:
    """(host, PUs) of each rank as our program reports them. RuntimeError where not all do, with the launcher's text."""
    output, errors = folder / "verify.output", folder / "verify.errors"

    def answers() -> list[tuple[str, list[int]]]:
        complete_lines, _, _ = output.read_text(encoding="utf-8", errors="replace").rpartition("\n")
        return places(complete_lines)

    code = child.run(SECONDS, output, errors, lambda: len(answers()) == ranks)
    if child.ended_by is not None:
        raise Interrupted(child.ended_by)
    found = answers()
    if len(found) != ranks:
        if child.late:
            raise RuntimeError(f"the launch did not end in {SECONDS} s")
        said = errors.read_text(encoding="utf-8", errors="replace").splitlines()
        reason = " | ".join([line.strip() for line in said if line.strip("- ")][:SHOWN])
        what = f"expected {ranks} ranks, {len(found)} answered" if found else f"the launch failed with exit code {code}"
        raise RuntimeError(f"{what}: {reason or 'no message'}")
    return found


def places(text: str) -> list[tuple[str, list[int]]]:
    """The ranks' places from what either of our programs printed."""
    by_rank = {}
    for line in text.splitlines():
        start = line.find(HELPER_MARK)
        if start >= 0:
            return [(entry["host"], entry["pus"]) for entry in json.loads(line[start:])["ranks"]]
        _, mark, rest = line.partition(PROBE + " ")
        words = rest.split()
        if mark and len(words) == 3:
            by_rank[int(words[0])] = (words[1], numbers(words[2]))
    return [by_rank[rank] for rank in sorted(by_rank)]


def numbers(cpu_list: str) -> list[int]:
    """[0, 1, 2, 5] from the kernel's `0-2,5`."""
    result: list[int] = []
    for part in cpu_list.split(","):
        first, _, last = part.partition("-")
        result.extend(range(int(first), int(last or first) + 1))
    return result


def shown(slot: tuple[str, list[int]]) -> str:
    """`n2 PU 0-1`."""
    host, pus = slot
    return f"{host or 'any host'} PU {_core.cpu_list(pus)}"
