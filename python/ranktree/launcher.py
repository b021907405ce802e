"""A launcher's command line taken apart: which launcher and version it is, its options, and the program it starts."""

import functools
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ranktree.launcher_options import SLURM_FLAGS, SLURM_SHORT_WITH_WORD, TABLES

VERSION_SECONDS = 30
FAMILY_MARKS = {"Intel(R) MPI": "intel", "HYDRA": "mpich", "Open MPI": "openmpi", "OpenRTE": "openmpi"}
STARTERS = re.compile(r"^(mpirun|mpiexec|orterun|prterun|srun)([.-].+)?$")


@dataclass(frozen=True)
class Option:
    """One option: its name without dashes, its values, and the words it was written with."""

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]


@dataclass
class LaunchCommand:
    """`prefix starter options program`, of one family of launchers: openmpi, mpich, intel or slurm."""

    prefix: list[str]
    starter: str
    family: str
    version: tuple[int, ...]
    options: list[Option] = field(default_factory=list)
    program: list[str] = field(default_factory=list)

    @property
    def launcher(self) -> str:
        """The name that `emit --launcher` knows this launcher by."""
        if self.family == "openmpi":
            return "openmpi5" if self.version >= (5,) else "openmpi4"
        return self.family


def version_numbers(text: str) -> tuple[int, ...]:
    """(4, 1, 4) from the first number with a dot in a text."""
    match = re.search(r"\d+(\.\d+)+", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


@functools.cache
def identify(starter: str) -> tuple[str, tuple[int, ...]]:
    """Family and version of a launcher, from its own --version."""
    if shutil.which(starter) is None:
        raise ValueError(f"{starter}: no such launcher")
    if Path(starter).name.startswith("srun"):
        return "slurm", ()
    try:
        result = subprocess.run(
            [starter, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_SECONDS,
            check=False,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"{starter}: does not answer to --version in {VERSION_SECONDS} s") from None
    said = result.stdout + result.stderr
    for mark, family in FAMILY_MARKS.items():
        if mark in said:
            after = said.partition("Version")[2] if family in {"intel", "mpich"} else said
            return family, version_numbers(after)
    if "PRRTE" in said or "prte" in said:
        return "openmpi", (5,)  # PRRTE 3 is Open MPI 5's runtime
    raise ValueError(f"{starter}: unknown launcher: '{starter} --version' prints: {said.strip().splitlines()[:1]}")


def find_starter(words: Sequence[str]) -> int:
    """Index of the launcher among the words of a command that may begin with `env`, `timeout` and the like."""
    for index, word in enumerate(words):
        if STARTERS.match(Path(word).name):
            return index
    raise ValueError(f"no launcher (mpirun, mpiexec, srun) in the command: {' '.join(words)}")


def take_apart(words: Sequence[str]) -> LaunchCommand:
    """The parts of a launcher's command line. ValueError names what cannot be understood."""
    family, version = identify(words[find_starter(words)])
    command = read_words(words, family, version)
    check_program(command)
    return command


def read_words(words: Sequence[str], family: str, version: tuple[int, ...]) -> LaunchCommand:
    """The parts of the command of a launcher of a known family, without a look at this machine."""
    start = find_starter(words)
    command = LaunchCommand(list(words[:start]), words[start], family, version)
    rest = list(words[start + 1 :])
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        if rest[0] == "--":
            rest = rest[1:]
            break
        count = slurm_words(rest[0]) if family == "slurm" else table_words(rest[0], TABLES[family])
        if count >= len(rest):
            raise ValueError(f"{command.starter}: option {rest[0]} needs {count} more words")
        command.options.append(option_from(rest[: count + 1], family))
        rest = rest[count + 1 :]
    command.program = rest
    return command


def table_words(word: str, table: dict[str, int]) -> int:
    """How many words follow an option."""
    name, equals, _ = word.lstrip("-").partition("=")
    return max(0, table.get(name, 0) - bool(equals))


def slurm_words(word: str) -> int:
    """The same for srun, which reads options as GNU programs do."""
    if word.startswith("--"):
        name, equals, _ = word[2:].partition("=")
        return 0 if equals or name in SLURM_FLAGS else 1
    return 1 if len(word) == 2 and word[1] in SLURM_SHORT_WITH_WORD else 0


def option_from(words: Sequence[str], family: str) -> Option:
    """`--name=value`, `--name value`, and srun's `-nvalue` alike."""
    first = words[0]
    if family == "slurm" and not first.startswith("--") and len(first) > 2 and first[1] in SLURM_SHORT_WITH_WORD:
        return Option(first[1], (first[2:],), tuple(words))
    name, equals, value = first.lstrip("-").partition("=")
    values = (value, *words[1:]) if equals else tuple(words[1:])
    return Option(name, values, tuple(words))


def check_program(command: LaunchCommand) -> None:
    """Refuses a command without a program, with several, or whose program cannot be distinguished from its options."""
    if not command.program:
        raise ValueError(f"{command.starter}: the command names no program")
    if ":" in command.program:  # for srun, the components of a heterogeneous step
        raise ValueError(f"{command.starter}: several programs in one command (':') are not supported")
    program = command.program[0]
    if shutil.which(program) is None and not Path(program).exists():
        before = command.options[-1].words[-1] if command.options else command.starter
        raise ValueError(
            f"'{program}', after '{before}', is no program here; if it belongs to the option, write both as one word"
            " with '='"
        )


def hosts_named(command: LaunchCommand) -> list[str] | None:
    """The hosts a command allows, from its host options; None when it names none."""
    lists = {"H", "host", "hosts"} | ({"w", "nodelist"} if command.family == "slurm" else set())
    files = {"hostfile", "machinefile", "default-hostfile"} | ({"f"} if command.family != "openmpi" else set())
    found: list[str] | None = None
    for option in command.options:
        if option.name in lists and option.values and "[" not in option.values[0]:
            found = [*(found or []), *(word.partition(":")[0] for word in option.values[0].split(","))]
        elif option.name in files and option.values:
            found = [*(found or []), *hosts_in_file(Path(option.values[0]))]
    return found


def hosts_in_file(path: Path) -> Iterator[str]:
    """The first word of each line, without Hydra's `:processes`."""
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words[0].partition(":")[0]
