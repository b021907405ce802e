"""Several commands, one run of each in turn, so that what disturbs the machine disturbs all of them alike."""

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ranktree.runs.document import Series
from ranktree.runs.process import measured, run_once, tail

Progress = Callable[[int, Series], None]


@dataclass
class Measurement:
    """What is measured and how."""

    series: list[Series]
    runs: int
    pattern: "re.Pattern[str] | None" = None
    limit: float | None = None  # seconds of one run
    variables: dict[str, Mapping[str, str]] = field(default_factory=dict)  # by series; else this process's own
    expected: int = 0  # exit code of a good run


def measure(what: Measurement, notify: Progress = lambda number, series: None) -> None:
    """Fills the series. Every second round runs backwards. A failed or late run raises RuntimeError.

    The series hold the complete rounds so far whatever is raised.
    """
    with tempfile.TemporaryDirectory(prefix="ranktree-runs-") as folder:
        for number in range(what.runs):
            order = what.series if number % 2 == 0 else what.series[::-1]
            times: dict[str, float] = {}
            for series in order:
                notify(number, series)
                times[series.name] = one(what, series, Path(folder) / "output")
            for series in what.series:
                series.values.append(times[series.name])


def one(what: Measurement, series: Series, log: Path) -> float:
    """The time of one run."""
    outcome = run_once(series.command, what.variables.get(series.name, os.environ), log, what.limit)
    if outcome.late:
        raise RuntimeError(f"{series.name}: a run did not end in {what.limit:g} s: {tail(outcome.output)}")
    if outcome.code != what.expected:
        how = f"exit code {outcome.code}" if outcome.code >= 0 else f"signal {-outcome.code}"
        raise RuntimeError(f"{series.name}: a run failed with {how}: {tail(outcome.output)}")
    return measured(outcome, what.pattern)


def compiled(pattern: str | None) -> "re.Pattern[str] | None":
    """--metric-regex, which has one group: the number."""
    if pattern is None:
        return None
    try:
        found = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ValueError(f"--metric-regex: '{pattern}': {error}") from None
    if found.groups != 1:
        raise ValueError(f"--metric-regex: expected one group around the number, found {found.groups} in '{pattern}'")
    return found


def split_commands(words: Sequence[str]) -> list[list[str]]:
    """Commands separated by `--`."""
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    return [command for command in commands if command]
