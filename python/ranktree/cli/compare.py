"""`ranktree compare`: which of two commands is faster, which of two files of runs, which of two plans."""

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ranktree.cli.options import Argument, BadParameter, Option, echo
from ranktree.model import digits_text

if TYPE_CHECKING:
    from ranktree.runs.document import Series

INTERSPERSED = False
EXAMPLE = "ranktree compare --runs 7 -- mpirun -n 4 ./old -- mpirun -n 4 ./new"


def command(  # noqa: PLR0913, PLR0917  every option is one parameter
    words: Annotated[
        list[str], Argument(metavar="A.json B.json | -- CMD_A -- CMD_B", help="files, or one or two commands")
    ],
    runs: Annotated[int, Option("--runs", min=1, max=10_000, help="of each command, in turn")] = 7,
    metric_regex: Annotated[
        str | None, Option(help="one group: the time in the program's output [the wall time]")
    ] = None,
    unit: Annotated[str, Option(help="of the time that --metric-regex finds")] = "s",
    time_limit: Annotated[float | None, Option(above=0, help="SECONDS of one run")] = None,
    seed: Annotated[int, Option(min=0, help="of the resampling")] = 1,
    output: Annotated[Path | None, Option("-o", "--output", decides="written", help="write the runs here")] = None,
    plot: Annotated[Path | None, Option(decides="written", help="write a picture (SVG) here")] = None,
    json: Annotated[bool, Option("--json", help="print JSON (docs/reference/formats/runs.md)")] = False,
) -> None:
    """Compare two commands by interleaved runs, or two files of runs, or two plans.

    The result is "no difference" where the 95 % interval of the ratio of the medians contains 1. Interrupted, it keeps
    the complete rounds and leaves no run behind.
    """
    # #lizard forgives the number of parameters: every option is one
    from ranktree.cli.output import require_writable  # noqa: PLC0415  numpy, for this verb only
    from ranktree.runs.interleave import Measurement, compiled, split_commands  # noqa: PLC0415

    for path in (output, plot):
        if path is not None:
            require_writable(path)
    if are_files(words[:2]):
        if len(words) > 2:
            raise BadParameter(f"expected two files, found '{words[2]}': options come before the files")
        found = compare_files(words, seed)
    elif len(words) == 1 and Path(words[0]).suffix == ".json":
        raise BadParameter(f"expected two files or a command, found '{words[0]}' alone")
    else:
        commands = split_commands(words)
        if len(commands) not in (1, 2):
            raise BadParameter(f"expected one or two commands separated by '--', found {len(commands)}")
        what = Measurement(named(commands), runs, compiled(metric_regex), time_limit)
        found = measure_all(what, unit if metric_regex else "s", seed, output)
    write(found, output, plot, json)


def are_files(words: list[str]) -> bool:
    """`A.json B.json`, each perhaps with `:SERIES`."""
    return len(words) == 2 and all(".json" in word for word in words)


def compare_files(words: list[str], seed: int) -> dict[str, Any]:
    """Two files of runs, or two plans."""
    from ranktree.runs.document import document, series_of  # noqa: PLC0415
    from ranktree.runs.plans import compare_plans  # noqa: PLC0415

    first = words[0].partition(":")[0] if not Path(words[0]).exists() else words[0]
    if format_of(first) == "ranktree-plan":
        return compare_plans(words[0], words[1])
    (one, file), (other, other_file) = map(series_of, words)
    if file["unit"] != other_file["unit"]:
        raise ValueError(f"{words[1]}: expected times in {file['unit']}, found {other_file['unit']}")
    if one.name == other.name:
        one.name, other.name = words
    paired = file == other_file and bool((file.get("comparison") or {}).get("paired"))
    return document([one, other], file["unit"], file["what"], paired=paired, seed=seed)


def format_of(path: str) -> str | None:
    """The field `format` of a JSON file."""
    try:
        found = json_format.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise OSError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: expected JSON: {error}") from None
    return found.get("format") if isinstance(found, dict) else None


def named(commands: list[list[str]]) -> list["Series"]:
    """A and B."""
    from ranktree.runs.document import Series  # noqa: PLC0415

    return [Series(name, command) for name, command in zip("AB", commands, strict=False)]


def measure_all(what: Any, unit: str, seed: int, output: Path | None) -> dict[str, Any]:
    """Runs everything. Complete rounds are written to `output` even when a run fails or the user interrupts."""
    from ranktree.child import Interrupted  # noqa: PLC0415
    from ranktree.runs.document import document, save  # noqa: PLC0415
    from ranktree.runs.interleave import measure  # noqa: PLC0415
    from ranktree.runs.process import ends_cleanly  # noqa: PLC0415

    label = "wall time" if what.pattern is None else f"what '{what.pattern.pattern}' finds"

    def result() -> dict[str, Any]:
        return document(what.series, unit, label, paired=True, seed=seed)

    try:
        with ends_cleanly():
            measure(what, show_progress(what.runs))
    except (Interrupted, RuntimeError, ValueError, OSError):
        if output is not None and what.series[0].values:
            save(output, result())
            print(f"ranktree: {output}: holds the {len(what.series[0].values)} complete rounds", file=sys.stderr)
        raise
    return result()


def show_progress(runs: int) -> Any:
    """A line on a terminal's stderr."""

    def notify(number: int, series: "Series") -> None:
        if sys.stderr.isatty():
            print(f"\rranktree: round {number + 1} of {runs}: {series.name} ", end="", file=sys.stderr, flush=True)

    return notify


def write(found: dict[str, Any], output: Path | None, plot: Path | None, json: bool) -> None:
    """Files, then the result on stdout."""
    from ranktree import _core  # noqa: PLC0415  the extension, for this verb only
    from ranktree.runs import picture, plans  # noqa: PLC0415
    from ranktree.runs.document import FORMAT, save  # noqa: PLC0415

    is_runs = found["format"] == FORMAT
    if plot is not None and not is_runs:
        raise BadParameter("plans have no times to draw", param_hint="--plot")
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    if output is not None:
        save(output, found)
    if plot is not None:
        _core.write_file(str(plot), picture.svg(found))
    if json:
        echo(json_format.dumps(found, indent=1, allow_nan=False))
    else:
        echo(runs_text(found) if is_runs else plans.as_text(found))


def runs_text(found: dict[str, Any]) -> str:
    """A line a command, then the comparison."""
    from ranktree.report.text import columns  # noqa: PLC0415

    rows = [
        [
            each["name"],
            str(len(each["values"])),
            f"{digits_text(each['median'], 4)} {found['unit']}",
            " to ".join(digits_text(end, 4) for end in each["interval"]),
        ]
        for each in found["series"]
    ]
    lines = columns(found["what"], ["command", "runs", "median", "95 % interval"], rows)
    return "\n".join([*lines, *([found["comparison"]["sentence"]] if found["comparison"] else [])])
