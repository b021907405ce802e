"""Applications that `run.py` starts: their commands, their inputs and the values that their authors give as right."""

import importlib.util
import math
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

HERE = Path(__file__).resolve().parent


class Missing(Exception):
    """The application is not installed; the text has the command that installs it, or the option that names it."""


@dataclass(frozen=True)
class Reference:
    """A value in the output."""

    name: str
    pattern: re.Pattern[str]  # one group: the number or word
    value: float | str
    tolerance: float  # absolute

    def fault(self, output: str) -> str | None:
        """What is wrong with it, or nothing. Where the pattern matches several lines, each must be right."""
        found = self.pattern.findall(output)
        if not found:
            return f"{self.name}: expected {self.value}, found no line"
        for text in found:
            if isinstance(self.value, str):
                if text != self.value:
                    return f"{self.name}: expected {self.value}, found {text}"
                continue
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
    cart: bool  # makes Cartesian communicators
    package: str  # Debian's; empty where modules of Python are needed, or a source folder
    modules: tuple[str, ...]
    source: str  # the option of run.py that names the folder which holds the program; empty for an installed one
    folder: Path | None  # that folder
    build: tuple[str, ...]  # makes the program, or more input, from the input; may be empty
    input: tuple[str, ...]  # files and folders that are copied to where it runs
    output: str  # the file with the results; empty for standard output
    variables: dict[str, str]
    varying: tuple[re.Pattern[str], ...]  # lines of standard output that differ between equal runs
    rounding: tuple[re.Pattern[str], ...]  # lines whose last digits depend on the order of sums
    references: tuple[Reference, ...]

    def command(self) -> list[str]:
        """The program with its arguments. Raises Missing."""
        absent = [name for name in self.modules if importlib.util.find_spec(name) is None]
        if absent:
            raise Missing(f"{self.name}: {absent[0]} is missing: {sys.executable} -m pip install {' '.join(absent)}")
        if self.source and not (self.folder and (self.folder / self.program).exists()):
            raise Missing(
                f"{self.name}: --{self.source} FOLDER: expected a folder with {self.program}, found {self.folder}"
            )
        program = str(self.folder / self.program) if self.folder else self.program
        if program == "python":
            program = sys.executable
        for name in self.needed(program):
            if shutil.which(name) is None and not Path(name).is_file():
                raise Missing(f"{self.name}: {name} is missing: apt-get install {self.package}")
        return [shutil.which(program) or program, *self.arguments]

    def needed(self, program: str) -> list[str]:
        """Programs and files that must be installed: those of the build, and a program that it does not make."""
        read = [*self.build[:1], *(word for word in self.build if word.startswith("/"))]
        return read if program.startswith("./") else [*read, program]

    def prepare(self, folder: Path) -> None:
        """Puts the input into an empty folder."""
        folder.mkdir(parents=True)
        for name in self.input:
            source = HERE / self.name / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
        if self.build:
            environment = os.environ | self.variables
            subprocess.run(self.build, cwd=folder, env=environment, stdout=subprocess.DEVNULL, timeout=120, check=True)

    def faults(self, standard_output: str, folder: Path) -> list[str]:
        """What is wrong with the results of a run in this folder."""
        output = standard_output
        if self.output:
            path = folder / self.output
            output = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        return [fault for reference in self.references if (fault := reference.fault(output))]

    def steady(self, standard_output: str, bitwise: bool = False) -> list[str]:
        """The lines that equal runs have in common; bitwise: if sums are reproducible."""
        lines = standard_output.splitlines()
        ignored = self.varying if bitwise else self.varying + self.rounding
        return [line for line in lines if not any(pattern.search(line) for pattern in ignored)]


def parsed(text: str) -> float:
    """A number, NaN where the text is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def load(
    name: str, mpi: str = "openmpi", folders: Mapping[str, Path | None] = MappingProxyType({}), machine: str = ""
) -> Application:
    """The application of a folder, for an MPI and a machine. KeyError if it is not built with that MPI."""
    with (HERE / name / "application.toml").open("rb") as file:
        data = tomllib.load(file)
    for own in (data.get(machine, {}), data[mpi] if mpi != "openmpi" else {}):
        data |= own | {"variables": data.get("variables", {}) | own.get("variables", {})}
    source = data.get("source", "")
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
        cart=data.get("cart", False),
        package=data.get("package", ""),
        modules=tuple(data.get("modules", ())),
        source=source,
        folder=folders.get(source),
        build=tuple(data.get("build", ())),
        input=tuple(data["input"]),
        output=data.get("output", ""),
        variables=data["variables"],
        varying=tuple(re.compile(pattern) for pattern in data["varying"]),
        rounding=tuple(re.compile(pattern) for pattern in data.get("rounding", ())),
        references=references,
    )


def names() -> list[str]:
    """All applications."""
    return sorted(path.parent.name for path in HERE.glob("*/application.toml"))
