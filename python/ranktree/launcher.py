"""A launcher's command line taken apart: which launcher and version it is, its options, and the program it starts."""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ranktree.launcher_options import (
    FLAGS,
    HET_GROUP,
    HOST_FILES,
    HOST_LISTS,
    HYDRA_TWO,
    LONG_WITH_ONE_DASH,
    NAMED,
    SHORT_WITH_WORD,
    TABLES,
)

VERSION_SECONDS = 30
FAMILY_MARKS = {"Intel(R) MPI": "intel", "HYDRA": "mpich", "Open MPI": "openmpi", "OpenRTE": "openmpi"}
STARTERS = re.compile(r"^(mpirun|mpiexec|orterun|prterun|srun|aprun|jsrun|flux)([.-].+)?$")
KNOWN = "mpirun, mpiexec, srun, flux run, aprun, jsrun"


@dataclass(frozen=True)
class Option:
    """One option: its name without dashes, its values, and the words it was written with."""

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]


@dataclass
class LaunchCommand:
    """`prefix starter options program`, of one family of launchers (COUNTS of launcher_options has them all).

    `flux run` is the prefix `flux` and the starter `run`.
    """

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


# Where the ranks start, and a relative program is looked for; {"wdir", "wd", "gwdir"} of other launchers.
FOLDER_OPTIONS = {"slurm": {"D", "chdir"}, "flux": {"cwd"}, "jsrun": {"h", "chdir"}}


def program_file(family: str, options: Sequence[Option], word: str) -> Path:
    """The file that ranks run, started with these options: from their folder, or from PATH."""
    names = FOLDER_OPTIONS.get(family, {"wdir", "wd", "gwdir"})
    folders = [option.values[0] for option in options if option.name in names and option.values]
    there = Path(*folders[-1:], word)
    return there if "/" in word else Path(shutil.which(word) or there)


def version_numbers(text: str) -> tuple[int, ...]:
    """(4, 1, 4) from the first number with a dot in a text."""
    match = re.search(r"\d+(\.\d+)+", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


# Prefixes behind which a launcher may be another than here; others are not started for its version alone.
STARTING_ANOTHER = {"env", "apptainer", "singularity", "podman", "docker", "ch-run", "sarus", "shifter"}


@functools.cache
def identify(starter: str, prefix: tuple[str, ...] = ()) -> tuple[str, tuple[int, ...]]:
    """Family and version of a launcher, from its own --version. `prefix`: `env` or a container that starts it, where
    another one of the same name may be.
    """
    if not prefix and shutil.which(starter) is None:
        raise ValueError(f"{starter}: no such launcher")
    if family := named_family(starter):
        return family, ()
    try:
        result = subprocess.run(
            [*prefix, starter, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=VERSION_SECONDS,
            check=False,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"{starter}: does not answer to --version in {VERSION_SECONDS} s") from None
    said = result.stdout + result.stderr
    here = Path(shutil.which(starter) or starter).resolve().parts if not prefix else ()
    if "pals" in {*here, *said.lower().split()}:
        return "pals", version_numbers(said)
    for mark, family in FAMILY_MARKS.items():
        if mark in said:
            after = said.partition("Version")[2] if family in {"intel", "mpich"} else said
            return family, version_numbers(after)
    if "PRRTE" in said or "prte" in said:
        return "openmpi", (5,)  # PRRTE 3 is Open MPI 5's runtime
    raise ValueError(f"{starter}: unknown launcher: '{starter} --version' prints: {said.strip().splitlines()[:1]}")


def named_family(starter: str) -> str | None:
    """The family of a launcher that its name shows."""
    return NAMED.get(re.split("[.-]", Path(starter).name)[0])


def slurm_binds() -> bool:
    """Whether Slurm binds the tasks of this job by one list of PUs: without a plugin it ignores --cpu-bind, and a srun
    outside a job gets as many CPUs of a node as tasks, the first ones. A node of which the job has fewer CPUs than of
    others refuses the whole list for PUs that are not among them, even if none of its tasks would get one.
    """
    if "SLURM_JOB_ID" not in os.environ or shutil.which("scontrol") is None:
        return False
    cpus = (value for name, value in os.environ.items() if name.startswith("SLURM_JOB_CPUS_PER_NODE"))
    if any("," in counts for counts in cpus):  # 2(x3),1
        return False
    words = ["scontrol", "show", "config"]
    try:
        found = subprocess.run(words, capture_output=True, text=True, timeout=VERSION_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired:
        return False
    return re.search(r"^TaskPlugin +=.*task/affinity", found, re.M) is not None


def find_starter(words: Sequence[str]) -> int:
    """Index of the launcher among the words of a command that may begin with `env`, `timeout` and the like."""
    for index, word in enumerate(words):
        if not STARTERS.match(Path(word).name):
            continue
        if named_family(word) != "flux":
            return index
        if list(words[index + 1 : index + 2]) == ["run"]:
            return index + 1
    raise ValueError(f"no launcher ({KNOWN}) in the command: {' '.join(words)}")


def identify_in(words: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """Family and version of the launcher of a command."""
    start = find_starter(words)
    first = start - 1 if words[start] == "run" else start
    elsewhere = any(Path(word).name in STARTING_ANOTHER for word in words[:first])
    return identify(words[first], tuple(words[:first]) if elsewhere else ())


def take_apart(words: Sequence[str]) -> LaunchCommand:
    """The parts of a launcher's command line. ValueError names what cannot be understood."""
    family, version = identify_in(words)
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
        count = words_after(rest, family)
        if count >= len(rest):
            raise ValueError(f"{command.starter}: option {rest[0]} needs {count} more words")
        command.options.append(option_from(rest[: count + 1], family))
        rest = rest[count + 1 :]
    command.program = rest
    return command


def words_after(words: Sequence[str], family: str) -> int:
    """How many words follow the first one, an option."""
    word = words[0]
    name, equals, _ = word.lstrip("-").partition("=")
    if family in {"mpich", "intel"} and name in HYDRA_TWO and any("=" in each for each in words[1:2]):
        return 1
    if family in TABLES:
        return max(0, TABLES[family].get(name, 0) - bool(equals))
    if is_long(word):
        return 0 if equals or name in FLAGS[family] else 1
    return 1 if len(word) == 2 and word[1] in SHORT_WITH_WORD[family] else 0


def is_long(word: str) -> bool:
    """Whether an option of a launcher that reads options as GNU programs do is no letter."""
    return word.startswith("--") or word.partition("=")[0] in LONG_WITH_ONE_DASH


def option_from(words: Sequence[str], family: str) -> Option:
    """`--name=value`, `--name value`, and the GNU programs' `-nvalue` alike."""
    first = words[0]
    if not is_long(first) and len(first) > 2 and first[1] in SHORT_WITH_WORD.get(family, ""):
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
    for option in command.options:
        if option.name in HET_GROUP and not option.values[0].isdigit():
            raise ValueError(f"{command.starter}: several components of a job ({option.words[0]}) are not supported")
    program = command.program[0]
    # Where the start folder is on other nodes only, what is here stands for it.
    if not program_file(command.family, command.options, program).exists() and not Path(program).exists():
        before = command.options[-1].words[-1] if command.options else command.starter
        raise ValueError(
            f"'{program}', after '{before}', is no program here; if it belongs to the option, write both as one word"
            " with '='"
        )


def hosts_named(command: LaunchCommand) -> list[str] | None:
    """The hosts a command allows, from its host options, each once; None when it names none."""
    found: list[str] | None = None
    for option in command.options:
        if option.values and (named := hosts_of(option, command.family)) is not None:
            found = [*(found or []), *named]
    return None if found is None else [*distinct(found)]


def hosts_of(option: Option, family: str) -> Iterable[str] | None:
    """What an option names; None where it names no hosts, or none that can be read here."""
    value = option.values[0]
    if option.name in HOST_FILES.get(family, ()):
        return hosts_in_file(Path(value))
    if option.name not in HOST_LISTS.get(family, ()):
        return None
    if family == "slurm":
        from ranktree import _core  # noqa: PLC0415 - most commands name no hosts

        is_file = option.name in {"F", "nodefile"} or "/" in value
        written = ",".join(Path(value).read_text(encoding="utf-8").split()) if is_file else value
        return _core.expand_hostlist(written, option.words[0])
    return None if "[" in value else (word.partition(":")[0] for word in value.split(","))


def real_name(host: str) -> str:
    """Plans name this node by its host name."""
    return os.uname().nodename if host in {"localhost", "127.0.0.1"} else host


def distinct(hosts: Iterable[str]) -> tuple[str, ...]:
    """Each host once, in order; `localhost` by its name."""
    return tuple(dict.fromkeys(map(real_name, hosts)))


def hosts_in_file(path: Path) -> Iterator[str]:
    """The first word of each line, without Hydra's `:processes` and Open MPI's `user@`."""
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words[0].partition(":")[0].rpartition("@")[2]
