"""The file of measured runs (docs/reference/formats/runs.md): times of each command, medians, a comparison."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from ranktree import _core
from ranktree.runs.statistics import CONFIDENCE, FEWEST, median_interval, ratio_interval

FORMAT, VERSION = "ranktree-runs", 1


@dataclass
class Series:
    """The times of one command, in the order in which it ran."""

    name: str
    command: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


def document(series: Sequence[Series], unit: str, what: str, paired: bool, seed: int = 1) -> dict[str, Any]:
    """The whole file; with two series or more, the last one is compared with the first."""
    known = [each for each in series if each.values]
    result: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "what": what,
        "unit": unit,
        "seed": seed,
        "confidence": CONFIDENCE,
        "series": [described(each, seed) for each in known],
        "comparison": None,
    }
    if len(known) >= 2:
        result["comparison"] = compared(known[0], known[-1], paired, seed)
    return result


def described(series: Series, seed: int) -> dict[str, Any]:
    """One series with its median and interval."""
    return {
        "name": series.name,
        "command": series.command,
        "values": series.values,
        "median": median(series.values),
        "interval": list(median_interval(series.values, seed)),
    }


def compared(baseline: Series, candidate: Series, paired: bool, seed: int) -> dict[str, Any]:
    """How many times as fast the candidate is, and whether its interval leaves 1 out."""
    rounds = min(len(baseline.values), len(candidate.values))
    paired = paired and len(baseline.values) == len(candidate.values)
    ratio = median(baseline.values) / median(candidate.values)
    low, high = ratio_interval(baseline.values, candidate.values, paired, seed)
    result = outcome(rounds, low, high)
    return {
        "baseline": baseline.name,
        "candidate": candidate.name,
        "paired": paired,
        "ratio": ratio,
        "low": low,
        "high": high,
        "result": result,
        "sentence": sentence(result, (baseline.name, candidate.name), (ratio, low, high), rounds),
    }


def outcome(rounds: int, low: float, high: float) -> str:
    """The result as the report's verdict names it."""
    if rounds < FEWEST:
        return "too few runs"
    if low > 1:
        return "faster"
    return "slower" if high < 1 else "no difference"


def sentence(result: str, names: tuple[str, str], ratio: tuple[float, float, float], rounds: int) -> str:
    """The comparison in words."""
    baseline, candidate = names
    value, low, high = ratio
    if result == "too few runs":
        return (
            f"Too few runs for a verdict: {candidate} took {1 / value:.2f}x the time of {baseline}; "
            f"{rounds} of each, {FEWEST} are needed."
        )
    if result == "slower":
        value, low, high = 1 / value, 1 / high, 1 / low
    interval = f"95 % interval {low:.2f} to {high:.2f}"
    if result == "no difference":
        return f"No difference between {baseline} and {candidate}: the speedup's {interval} contains 1."
    return f"{candidate} is {value:.2f}x {result} than {baseline} ({interval})."


def load(path: str) -> dict[str, Any]:
    """A file of runs. ValueError names what is wrong with it."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: expected JSON: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") != VERSION:
        raise ValueError(f'{path}: expected "format": "{FORMAT}" and "version": {VERSION}')
    require(path, found, "series", list)
    for index, each in enumerate(found["series"]):
        require_series(f"{path}: series[{index}]", each)
    for name in ("unit", "what"):
        require(path, found, name, str)
    comparison = found.get("comparison")
    if comparison is not None:
        for name, kind in (("ratio", float), ("low", float), ("high", float), ("result", str), ("sentence", str)):
            require(f"{path}: comparison", comparison, name, kind)
    try:
        json.dumps(found, allow_nan=False)
    except ValueError:
        raise ValueError(f"{path}: expected a finite number in every field, found NaN or Infinity") from None
    return found


KINDS = {list: "a list", str: "a text", float: "a finite number"}


def is_number(value: Any) -> bool:
    """A finite number: JSON files of Python may hold NaN and Infinity, which pages cannot read."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def require(where: str, found: Any, name: str, kind: type) -> None:
    """A field of an object, of this kind."""
    value = found.get(name) if isinstance(found, dict) else None
    if not (is_number(value) if kind is float else isinstance(value, kind)):
        raise ValueError(f"{where}: {name}: expected {KINDS[kind]}, found {'none' if value is None else repr(value)}")


def require_series(where: str, each: Any) -> None:
    """A name and positive times."""
    if not isinstance(each, dict) or not isinstance(each.get("name"), str):
        raise ValueError(f"{where}: expected an object with a name")
    values = each.get("values")
    if not isinstance(values, list) or not values:
        raise ValueError(f"{where}.values: expected at least one time")
    for value in values:
        if not is_number(value) or value <= 0:
            raise ValueError(f"{where}.values: expected times above 0, found {value!r}")
    require(where, each, "median", float)
    require_optional(where, each.get("command"), each.get("interval"))


def require_optional(where: str, command: Any, interval: Any) -> None:
    """What a series may lack."""
    if command is not None and not (isinstance(command, list) and all(isinstance(word, str) for word in command)):
        raise ValueError(f"{where}.command: expected a list of words, found {command!r}")
    if interval is not None and not (
        isinstance(interval, list) and len(interval) == 2 and all(map(is_number, interval))
    ):
        raise ValueError(f"{where}.interval: expected two finite numbers, found {interval!r}")


def series_of(path: str) -> tuple[Series, dict[str, Any]]:
    """The one series of `FILE`, or the one that `FILE:NAME` names; and its file."""
    file, _, name = path.partition(":") if not Path(path).exists() else (path, "", "")
    found = load(file)
    names = [each["name"] for each in found["series"]]
    if not name and len(names) == 1:
        name = names[0]
    if name not in names:
        raise ValueError(f"{file}: name one of its series: " + ", ".join(f"{file}:{each}" for each in names))
    each = found["series"][names.index(name)]
    label = name if len(names) > 1 else Path(file).stem
    return Series(label, each.get("command") or [], [float(value) for value in each["values"]]), found


def save(path: Path, found: dict[str, Any]) -> None:
    """Writes the file completely or not at all."""
    _core.write_file(str(path), json.dumps(found, indent=1, allow_nan=False) + "\n")
