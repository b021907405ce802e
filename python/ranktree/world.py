"""The order of an unmodified program's ranks: what `ranktree run --reorder` hands on, and what it would change."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranktree import _core
from ranktree.child import Child, Interrupted
from ranktree.helpers import HOW_TO_BUILD, LIBRARY_FOLDER, built, not_built
from ranktree.launcher import identify_in, option_from
from ranktree.launcher_options import COUNTS
from ranktree.measures import METRICS, OBJECTIVES
from ranktree.rewrite import redirects
from ranktree.shim import Command
from ranktree.verify import matching_helper

SECONDS = 300
HELPER = "ranktree-reorder-"
MARK = '{"format":"ranktree-reorder"'
NOT_FORETOLD = (
    "--cart, --cart-all, --graph: not foretold; the program's grids and graphs are known in the run only: a call that "
    "is reordered would place them on top of this order and may renumber their ranks"
)
OBJECTIVE_KEY = "ranktree_objective="
SECONDS_COUNT = ("bottleneck", "time")  # objectives
PATTERN_KEY = "ranktree_pattern="
PARAMETERS_KEY = "ranktree_parameters="
LONGEST_VALUE = 255  # of an info key, in bytes: MPI_MAX_INFO_VAL - 1 of Open MPI
Prepare = Callable[[list[str]], tuple[list[str], dict[str, str]]]


@dataclass(frozen=True)
class Reorder:
    """What is wanted: the recorded pattern, its metric, and info keys `key=value` of ranktree/mpi.h."""

    pattern: Path
    metric: str
    keys: tuple[str, ...]

    def variables(self) -> dict[str, str]:
        """The variables that the world library reads."""
        variables = {
            "RANKTREE_REORDER": os.path.abspath(self.pattern),  # noqa: PTH100 - links stay as the user wrote them
            "RANKTREE_REORDER_METRIC": self.metric,
        }
        return variables | ({"RANKTREE_REORDER_INFO": " ".join(self.keys)} if self.keys else {})

    @property
    def unit(self) -> str:
        """What the cost of an order is counted in."""
        objective = objective_of(self.keys)
        if objective in SECONDS_COUNT:
            return "seconds"
        return "hops x messages" if objective == "messages" else f"hops x {METRICS[self.metric]}"


def objective_of(keys: Sequence[str]) -> str | None:
    """What the last key for it names."""
    given = [key.removeprefix(OBJECTIVE_KEY) for key in keys if key.startswith(OBJECTIVE_KEY)]
    return given[-1] if given else None


def by_objective(objective: str | None, metric: str | None, keys: Sequence[str]) -> tuple[str, list[str]]:
    """Metric and info keys of `--objective`: messages are counted from the pattern, times need the key."""
    if objective is None:
        if metric is not None and objective_of(keys) in SECONDS_COUNT:
            raise ValueError("--metric: expected no --reorder-info for seconds, which count bytes and messages")
        return metric or "size", list(keys)
    if objective not in OBJECTIVES:
        raise ValueError(f"--objective: expected one of {', '.join(OBJECTIVES)}, found '{objective}'")
    if metric is not None:
        raise ValueError("--objective: expected no --metric, which it replaces")
    if any(key.startswith(OBJECTIVE_KEY) for key in keys):
        raise ValueError(f"--objective: expected no --reorder-info {OBJECTIVE_KEY}..., which names it, too")
    if objective in {"bytes", "messages"}:
        return "size" if objective == "bytes" else "msg", list(keys)
    return "size", [*keys, f"{OBJECTIVE_KEY}{objective}"]


def wanted(pattern: Path, metric: str, keys: Sequence[str], command: Command) -> Reorder:
    """Checks before the run what the ranks would only be silent about."""
    if metric not in METRICS:
        raise ValueError(f"--metric: expected one of {', '.join(METRICS)}, found '{metric}'")
    require_as_many_ranks(pattern, command)
    return Reorder(pattern, metric, (*keys, *pattern_key(pattern, keys)))


def pattern_key(pattern: Path, keys: Sequence[str]) -> list[str]:
    """The key by which an order by seconds has more than the pattern's bytes, unless it is given."""
    if objective_of(keys) not in SECONDS_COUNT or any(key.startswith(PATTERN_KEY) for key in keys):
        return []
    return [f"{PATTERN_KEY}{path_in_key(pattern)}"]


def parameters_key(parameters: str) -> str:
    """The key for what links cost: a class of clusters, or a file, which must be readable here."""
    if _core.is_network_class(parameters):
        return f"{PARAMETERS_KEY}{parameters}"
    _core.load_parameters(parameters)
    return f"{PARAMETERS_KEY}{path_in_key(parameters)}"


def path_in_key(file: str | Path) -> str:
    """The absolute path, where an info key can hold it."""
    path = os.path.abspath(file)  # noqa: PTH100 - links stay as the user wrote them
    if len(os.fsencode(path)) > LONGEST_VALUE or any(character.isspace() for character in path):
        raise ValueError(f"{path}: expected a path without spaces, of at most {LONGEST_VALUE} bytes, for seconds")
    return path


def require_as_many_ranks(pattern: Path, command: Command) -> None:
    """A pattern of as many ranks as the command starts, as far as its options show."""
    ranks = _core.load_pattern(str(pattern))[0].ranks
    started = count_of(command)
    if started is not None and started != ranks:
        raise ValueError(f"{pattern}: a pattern of {ranks} ranks; the command starts {started}")


def wrong_setting(keys: Sequence[str]) -> str | None:
    """What is wrong with words for --reorder-info; None where nothing is."""
    for key in keys:
        name, equals, value = key.partition("=")
        if not (name and equals and value) or any(character.isspace() for character in key):
            return f"--reorder-info: expected KEY=VALUE without spaces, found '{key}'"
    return None


def count_of(command: Command) -> int | None:
    """How many ranks a command starts, as far as its options show; else None."""
    if not command.starter:
        return 1
    total = 0
    for part in command.parts:
        options = [option_from(words, command.family) for words in part.options]
        numbers = [option.values[0] for option in options if option.name in COUNTS[command.family] and option.values]
        if not numbers or not numbers[-1].isdigit():
            return None
        total += int(numbers[-1])
    return total


def helper_of(command: Command) -> Path:
    """Our program, built with the very MPI that is launched."""
    if not command.starter:
        raise ValueError("--dry-run needs a launcher's command (mpirun, mpiexec, srun)")
    family, version = identify_in([*command.prefix, command.starter])
    ranks = matching_helper(family, version, command.parts[0].program_file())
    helper = ranks.with_name(ranks.name.replace("ranktree-ranks-", HELPER)) if ranks is not None else None
    if helper is None or not helper.is_file():
        reason = f"none is built for {command.starter}; {HOW_TO_BUILD}" if built() else not_built()
        raise RuntimeError(f"--dry-run: {LIBRARY_FOLDER}/{HELPER}<mpi>: {reason}")
    return helper


def in_place_of_program(command: Command, program: Sequence[str]) -> list[str]:
    """The command with a helper for all its ranks, whose output is not written to files."""
    words = [*command.prefix, command.starter]
    for index, part in enumerate(command.parts):
        words += [] if index == 0 else [":"]
        options = (each for each in part.options if not redirects(option_from(each, command.family), command.family))
        words += [word for option in options for word in option]
        words += program
    return words


def dry_run(reorder: Reorder, command: Command, prepare: Prepare, folder: Path) -> list[str]:
    """Launches our program with the same options; what would change, in lines for a reader."""
    pattern = str(Path(reorder.pattern).absolute())
    arguments, variables = prepare([str(helper_of(command)), pattern, reorder.metric, *reorder.keys])
    from ranktree.reorder_report import described  # noqa: PLC0415 - numpy takes longer to import than all of a run

    return described(launch(Child(arguments, variables), folder), reorder)


def launch(child: Child, folder: Path) -> dict[str, Any]:
    """What our program reports."""
    output, errors = folder / "dry-run.output", folder / "dry-run.errors"
    code = child.run(SECONDS, output, errors)
    if child.ended_by is not None:
        raise Interrupted(child.ended_by)
    text = output.read_text(encoding="utf-8", errors="replace")
    start = text.find(MARK)
    if start >= 0:
        document: dict[str, Any] = json.JSONDecoder().raw_decode(text[start:])[0]
        return document
    said = [line.strip() for line in errors.read_text(encoding="utf-8", errors="replace").splitlines()]
    reason = next((line for line in said if line.startswith("ranktree-reorder: ")), "") or " | ".join(
        filter(None, said[:9])
    )
    late = f"the launch did not end in {SECONDS} s" if child.late else f"the launch failed with exit code {code}"
    raise RuntimeError(f"--dry-run: {late}: {reason or 'no message'}")
