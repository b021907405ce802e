"""Applications that `run.py` starts: their commands, their inputs and the values that their authors give as right."""

import importlib.util
import math
import re
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Missing(Exception):
    """The application is not installed; the text has the command that installs it."""


@dataclass(frozen=True)
class Reference:
    """A value in the output."""

    name: str
    pattern: re.Pattern[str]  # one group: the number
    value: float
    tolerance: float  # absolute

    def fault(self, output: str) -> str | None:
        """What is wrong with it, or nothing. Where the pattern matches several lines, each must be right."""
        found = self.pattern.findall(output)
        if not found:
            return f"{self.name}: expected {self.value:g}, found no line"
        for text in found:
            number = parsed(text)
            if not abs(number - self.value) <= self.tolerance:  # NaN is wrong
                return f"{self.name}: expected {self.value:g} within {self.tolerance:g}, found {text}"
        return None


@dataclass(frozen=True)
class Application:
    """One folder's application.toml."""

    name: str
    program: str
    arguments: tuple[str, ...]
    ranks: int
    seconds: float  # limit of one run
    machines: tuple[str, ...]  # where a plain run takes less than that; empty for all
    package: str  # Debian's; empty where modules of Python are needed
    modules: tuple[str, ...]
    input: tuple[str, ...]  # files that are copied to where it runs
    output: str  # the file with the results; empty for standard output
    variables: dict[str, str]
    varying: tuple[re.Pattern[str], ...]  # lines of standard output that differ between equal runs
    references: tuple[Reference, ...]

    def command(self) -> list[str]:
        """The program with its arguments. Raises Missing."""
        absent = [name for name in self.modules if importlib.util.find_spec(name) is None]
        if absent:
            raise Missing(f"{self.name}: {absent[0]} is missing: {sys.executable} -m pip install {' '.join(absent)}")
        path = sys.executable if self.program == "python" else shutil.which(self.program)
        if path is None:
            raise Missing(f"{self.name}: {self.program} is missing: apt-get install {self.package}")
        return [path, *self.arguments]

    def prepare(self, folder: Path) -> None:
        """Puts the input into an empty folder."""
        folder.mkdir(parents=True)
        for name in self.input:
            shutil.copy(HERE / self.name / name, folder / name)

    def faults(self, standard_output: str, folder: Path) -> list[str]:
        """What is wrong with the results of a run in this folder."""
        output = standard_output
        if self.output:
            path = folder / self.output
            output = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        return [fault for reference in self.references if (fault := reference.fault(output))]

    def steady(self, standard_output: str) -> list[str]:
        """The lines that equal runs have in common."""
        lines = standard_output.splitlines()
        return [line for line in lines if not any(pattern.search(line) for pattern in self.varying)]


def parsed(text: str) -> float:
    """A number, NaN where the text is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def load(name: str) -> Application:
    """The application of a folder."""
    with (HERE / name / "application.toml").open("rb") as file:
        data = tomllib.load(file)
    references = tuple(
        Reference(each["name"], re.compile(each["pattern"], re.MULTILINE), each["value"], each["tolerance"])
        for each in data["reference"]
    )
    return Application(
        name=name,
        program=data["program"],
        arguments=tuple(data["arguments"]),
        ranks=data["ranks"],
        seconds=data["seconds"],
        machines=tuple(data.get("machines", ())),
        package=data.get("package", ""),
        modules=tuple(data.get("modules", ())),
        input=tuple(data["input"]),
        output=data.get("output", ""),
        variables=data.get("variables", {}),
        varying=tuple(re.compile(pattern) for pattern in data["varying"]),
        references=references,
    )


def names() -> list[str]:
    """All applications."""
    return sorted(path.parent.name for path in HERE.glob("*/application.toml"))
