"""The preload library for a command: chosen by program and launcher, passed to the ranks only."""

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ranktree import collectives
from ranktree.elf import Elf, libraries, mpi_calls, read_elf
from ranktree.handing_on import (
    ENVIRONMENT_LIST,
    HANDING_ON,
    PRELOAD,
    listed_with,
    preload_of_all,
    take_environment_list,
    take_preload,
)
from ranktree.helpers import HOW_TO_BUILD, LIBRARY_FOLDER, abi_of, family_of, not_built
from ranktree.launcher import find_starter, identify_in, option_from, program_file, words_after

# Variables of the caller that the libraries read.
HOW_TO_LINK = "link it dynamically, or to record it with libranktree_trace_<mpi>.a (docs/how-to/trace.md)"
HANDED_ON = (
    "RANKTREE_VERBOSE",
    "RANKTREE_SPLIT",
    "RANKTREE_CART",
    "RANKTREE_CART_OBJECTIVE",
    "RANKTREE_GRAPH",
    "RANKTREE_GRAPH_OBJECTIVE",
    "RANKTREE_REORDER",
    "RANKTREE_REORDER_METRIC",
    "RANKTREE_REORDER_INFO",
    "RANKTREE_COLL",
    "RANKTREE_COLL_PARAMETERS",
    "RANKTREE_COLL_LOG",
    "RANKTREE_COLL_NONBLOCKING",
    "RANKTREE_COLL_HOST_BUFFERS",
    "RANKTREE_REPRODUCIBLE",
    "RANKTREE_PATIENCE",
    "RANKTREE_NETWORK",
    "RANKTREE_NODE_ID_FILE",
)
WORLD = ("RANKTREE_REORDER", "RANKTREE_CART", "RANKTREE_GRAPH")  # what the world library is for
TRACING = ("RANKTREE_TRACE", "RANKTREE_SPLIT")  # and the tracing library
COLLECTIVES = ("RANKTREE_COLL",)  # and the one that serves collectives
PREFIX = "libranktree_preload_"
WORLD_PREFIX = "libranktree_world_"
COLLECT_PREFIX = "libranktree_collect_"
# The MPI libraries, by the name by which the loader gives them to a program: one binary interface a line.
INTERFACES = {
    "libmpi.so.40": "openmpi",
    "libmpi.so.12": "mpich",
    "libmpich.so.12": "mpich",
    "libmpi_abi.so.0": "abi",
    "libmpi_abi.so.1": "abi",
}
MPI_LIBRARY = re.compile(
    r"^lib(mpi|mpich|mpi_abi|mpi_cray|mpi_gnu.*|mpi_intel.*|mpi_ibm|msmpi|mpitrampoline)\.so(\..*)?$"
)
# What sanitizers need in front of all preloaded libraries, by GCC's and Clang's names.
SANITIZER = re.compile(r"^lib(clang_rt\.)?[alt]san\b.*\.so")
NAMES = {
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "intel": "Intel MPI",
    "slurm": "Slurm",
    "flux": "Flux",
    "aprun": "ALPS",
    "jsrun": "jsrun",
    "pals": "PALS",
    "abi": "the standard ABI",
}
FAMILIES = {"openmpi": "openmpi", "mpich": "mpich", "intel": "mpich"}  # of launchers; the others start any MPI
PROGRAMS_IN_FILE = {
    "openmpi": {"app"},
    "mpich": {"configfile"},
    "intel": {"configfile"},
    "slurm": {"multi-prog"},
    "pals": {"f", "configfile"},
    "jsrun": {"f", "appfile"},
}


@dataclass
class Part:
    """One `options program arguments` of a launcher's command; several are separated by ':'."""

    options: list[list[str]] = field(default_factory=list)
    program: list[str] = field(default_factory=list)
    family: str = ""

    def program_file(self) -> Path:
        """What its ranks run."""
        return program_file(self.family, [option_from(words, self.family) for words in self.options], self.program[0])


@dataclass
class Command:
    """A launcher's command, or a program started by itself (no starter)."""

    prefix: list[str]
    starter: str
    family: str
    parts: list[Part]


@dataclass(frozen=True)
class Library:
    """An MPI library: the name by which the loader gives it to a file, and the file that the loader finds."""

    name: str
    file: Path | None


@dataclass(frozen=True)
class Shim:
    """A preload library and the MPI library it belongs to."""

    name: str
    path: Path
    library: Library

    def preloads(self, variables: Mapping[str, str]) -> str:
        """The libraries that `variables` are for. The tracing library in front: it counts in the new order of ranks.
        That of collectives last: they are the program's in its new order."""
        wanted = ((PREFIX, TRACING), (WORLD_PREFIX, WORLD), (COLLECT_PREFIX, COLLECTIVES))
        paths = [
            self.path.with_name(self.path.name.replace(PREFIX, prefix))
            for prefix, names in wanted
            if any(name in variables for name in names)
        ]
        for path in paths:
            if re.search(r"[\s:]", str(path)):
                raise ValueError(f"{path}: LD_PRELOAD cannot name a path with spaces or colons")
            if not path.is_file():
                raise ValueError(f"{path}: not built")
        return ":".join(map(str, paths))


@dataclass(frozen=True)
class Preload:
    """Our libraries, and the sanitizer's runtime that a program refuses to start without in front of all others."""

    ours: str
    runtime: str = ""

    def after(self, before: str | None) -> str:
        """The value of LD_PRELOAD: the caller's own preloads stay in front of ours."""
        known = (before or "").split(":")
        first = self.runtime if self.runtime not in known else ""
        return ":".join(word for word in (first, before, self.ours) if word)


def read_command(words: Sequence[str]) -> Command:
    """Takes a command apart. ValueError names what cannot be understood."""
    try:
        start = find_starter(words)
    except ValueError:
        return Command([], "", "", [Part([], list(words))])
    family, _ = identify_in(words)
    command = Command(list(words[:start]), words[start], family, [])
    part: list[str] = []
    for word in [*words[start + 1 :], ":"]:
        if word == ":":
            command.parts.append(read_part(part, command))
            part = []
        else:
            part.append(word)
    return command


def read_part(words: Sequence[str], command: Command) -> Part:
    """The options in front of a program, and the program."""
    part = Part(family=command.family)
    rest = list(words)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        end = rest[0] == "--"
        count = 0 if end else words_after(rest, command.family)
        if option_from(rest[: count + 1], command.family).name in PROGRAMS_IN_FILE.get(command.family, ()):
            raise ValueError(f"{command.starter} {rest[0]}: cannot look at programs that are named in a file")
        part.options.append(rest[: count + 1])
        rest = rest[count + 1 :]
        if end:
            break
    if not rest:
        raise ValueError(f"{command.starter}: the command names no program")
    part.program = rest
    return part


def shims() -> list[Shim]:
    """The preload libraries that are built."""
    found = []
    for path in sorted(LIBRARY_FOLDER.glob(f"{PREFIX}*.so")):
        elf = read_elf(path)
        library = next(mpi_libraries(elf), Library("", None)) if elf else Library("", None)
        found.append(Shim(path.name.removeprefix(PREFIX).removesuffix(".so"), path, library))
    return found


def mpi_libraries(elf: Elf) -> Iterator[Library]:
    """The MPI libraries that a file reaches, nearest first."""
    return (Library(name, file) for name, file in libraries(elf) if MPI_LIBRARY.match(name))


def find_program(part: Part) -> Path:
    """The file that a part's ranks will run."""
    word = part.program[0]
    found = part.program_file()
    if not found.is_file():
        raise ValueError(f"{word}: no such program")
    if not os.access(found, os.X_OK):
        raise ValueError(f"{word}: not an executable file")
    return found


def check_privileges(path: Path) -> None:
    """The loader ignores LD_PRELOAD in programs that gain rights when they start."""
    status = path.stat()
    gains = (status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid()) or (
        status.st_mode & stat.S_ISGID and status.st_gid != os.getegid()
    )
    if not gains and os.geteuid() != 0:
        gains = "security.capability" in attributes(path)
    if gains:
        raise ValueError(f"{path}: a setuid or setgid program, or one with capabilities: it would not load our library")


def attributes(path: Path) -> list[str]:
    """The extended attributes of a file; none on a file system that has none."""
    try:
        return os.listxattr(path)
    except OSError as error:
        if error.errno not in {errno.ENOTSUP, errno.ENOSYS}:
            raise
        return []


def mpi_library(path: Path) -> Library | None:
    """The MPI library of a program; None when it has none of its own (a script, an interpreter, a wrapper)."""
    check_privileges(path)
    elf = read_elf(path)
    if elf is None:
        return None
    if not elf.interpreter:
        raise ValueError(f"{path}: a static binary loads no library: {HOW_TO_LINK}")
    found = list(mpi_libraries(elf))
    if len({INTERFACES.get(library.name, library.name) for library in found}) > 1:
        raise ValueError(f"{path}: linked with more than one MPI: {', '.join(library.name for library in found)}")
    if not found and b"\0PMPI_Init\0" in path.read_bytes():
        raise ValueError(f"{path}: MPI is linked in statically: {HOW_TO_LINK}")
    return found[0] if found else None


def program_library(command: Command) -> tuple[Library | None, str]:
    """The one MPI library of a command's programs, and the program that needs it."""
    library, owner = None, command.parts[0].program[0]
    for part in command.parts:
        found = mpi_library(find_program(part))
        if found is None:
            continue
        if library is not None and library.name != found.name:
            raise ValueError(f"{owner} is linked with {library.name}, {part.program[0]} with {found.name}")
        library, owner = found, part.program[0]
    return library, owner


def fitting_shims(known: list[Shim], library: Library | None, command: Command, wanted: str | None) -> list[Shim]:
    """Those for the interface of the program's MPI, else of the launcher's; those of the very MPI come first."""
    family = FAMILIES.get(command.family)
    if library is not None:
        found = [shim for shim in known if shim.library.name == library.name]
    else:
        # A program of the standard ABI may run under any launcher, which does not show it.
        abi = [shim for shim in known if shim.name == wanted and interface(shim.library, known) == "abi"]
        found = abi or [shim for shim in known if family in {None, interface(shim.library, known)}]
    return sorted(found, key=lambda shim: strangeness(shim, library, command))


def interface(library: Library, known: list[Shim]) -> str | None:
    """The binary interface of an MPI library: by its name, or as the build found it for one of that name (Cray)."""
    abi = next((abi_of(shim.name) for shim in known if shim.library.name == library.name), None)
    return INTERFACES.get(library.name, "abi" if abi == "standard" else abi)


def strangeness(shim: Shim, library: Library | None, command: Command) -> tuple[bool, bool, int, int, bool]:
    """Least for the MPI library of the program or, where it names none, for one installed with the launcher.

    Releases of one MPI share a library name, and so do MPICH and Intel MPI: then the calls that the MPI library has
    decide, and the name that the build gave.
    """
    file = shim.library.file
    if library is not None:
        same = file is not None and file == library.file
    else:
        starter = shutil.which(command.starter)
        same = file is not None and starter is not None and file.is_relative_to(Path(starter).resolve().parent.parent)
    named = shim.name in {command.family, FAMILIES.get(command.family)}
    missing, unserved = misfit(shim, library.file if library is not None else file)
    return not same, family_of(shim.name) != command.family, missing, unserved, not named


def misfit(shim: Shim, library: Path | None) -> tuple[int, int]:
    """How many calls a preload library needs or wraps that the MPI library lacks, and how many it leaves alone."""
    if library is None:
        return 0, 0
    defined, needed = mpi_calls(shim.path)
    offered, _ = mpi_calls(library)
    wrapped = {name for name in defined if name.startswith("MPI_")}
    return len((wrapped | needed) - offered), len({name for name in offered if name.startswith("MPI_")} - wrapped)


def choose(command: Command, wanted: str | None) -> Shim:
    """The library for a command; `wanted` names one where nothing else does. ValueError: why there is none."""
    library, program = program_library(command)
    known = shims()
    if not known:
        raise ValueError(f"{PREFIX}<mpi>.so: {not_built()}")
    check_agreement(library, program, command, known)
    fitting = fitting_shims(known, library, command, wanted)
    user = library.name if library is not None else command.starter
    built = ", ".join(f"{shim.name} ({shim.library.name})" for shim in known)
    if wanted is not None:
        fitting = [shim for shim in fitting if shim.name == wanted]
        if not fitting:
            raise ValueError(f"no preload library '{wanted}' that fits {user}; built are {built}")
    if not fitting:
        raise ValueError(f"{program}: no preload library for {user}; built are {built}; {HOW_TO_BUILD}")
    if library is None and wanted is None and command.family not in FAMILIES:
        raise ValueError(
            f"{program} is linked with no MPI and {command.starter or 'no launcher'} shows none: name one with --mpi"
        )
    check_kind(fitting[0], command)
    return fitting[0]


def check_agreement(library: Library | None, program: str, command: Command, known: list[Shim]) -> None:
    """Refuses an unknown MPI, and a program whose ranks this launcher's MPI would not connect."""
    if library is None:
        return
    found = interface(library, known)
    if found is None:
        names = ", ".join(dict.fromkeys([*INTERFACES, *(shim.library.name for shim in known)]))
        raise ValueError(f"{program}: unknown MPI: linked with {library.name}; known are {names}")
    expected = FAMILIES.get(command.family)
    # A program of the standard ABI runs under the launcher of whichever MPI serves it.
    if expected is not None and found not in {expected, "abi"}:
        raise ValueError(
            f"{program} is linked with {library.name} ({NAMES[found]}), but {command.starter} is the launcher of "
            f"{NAMES[command.family]}"
        )


def check_kind(shim: Shim, command: Command) -> None:
    """A program of another machine or word size cannot load the library."""
    own = read_elf(shim.path)
    for part in command.parts:
        elf: Elf | None = read_elf(find_program(part))
        if elf is not None and own is not None and elf.kind != own.kind:
            raise ValueError(f"{part.program[0]}: a program for another machine than {shim.path.name}")


def handed_on() -> dict[str, str]:
    """The caller's variables for the library, which not every launcher hands on by itself."""
    found = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
    if found.get("RANKTREE_REORDER"):  # the program may start in another folder
        found["RANKTREE_REORDER"] = os.path.abspath(found["RANKTREE_REORDER"])  # noqa: PTH100
    return found | collectives.settled(found)


def with_shim(command: Command, shim: Shim, variables: Mapping[str, str]) -> list[str]:
    """The command that gives our libraries and `variables` to the ranks; the launcher and its daemons stay without.

    Open MPI's -x and srun's --export belong to one ':' part, Hydra's -genv to all. A preload of the caller's own stays,
    in front of ours: a tool that wraps MPI_X and calls PMPI_X is then counted once, as what it calls.
    """
    preload = Preload(shim.preloads(variables))
    if not command.starter:
        only = command.parts[0]
        return ["/usr/bin/env", *assignments(variables, with_runtime(preload, only)), *only.program]
    arguments = [*command.prefix, command.starter]
    listed = take_environment_list(command)
    shared = preload_of_all(command) or os.environ.get(PRELOAD)
    for index, part in enumerate(command.parts):
        options = [list(option) for option in part.options]
        before = take_preload(options, command.family) or shared
        ours = with_runtime(preload, part)
        settings = {**variables, PRELOAD: ours.after(before)}
        arguments += [] if index == 0 else [":"]
        if listed is None:
            arguments += HANDING_ON[command.family](index, options, settings, ours)
        elif index == 0:
            arguments += ["--mca", ENVIRONMENT_LIST, listed_with(listed, settings, ours)]
        arguments += [word for option in options for word in option]
        arguments += part.program
    return arguments


def with_runtime(preload: Preload, part: Part) -> Preload:
    """The same with the runtime of the sanitizer that a part's program is linked with."""
    elf = read_elf(find_program(part))
    found = libraries(elf) if elf is not None else ()
    runtime = next((file or name for name, file in found if SANITIZER.match(name)), None)
    return preload if runtime is None else Preload(preload.ours, str(runtime))


def assignments(variables: Mapping[str, str], ours: Preload) -> list[str]:
    """`NAME=value` words for a program without a launcher."""
    settings = {**variables, PRELOAD: ours.after(os.environ.get(PRELOAD))}
    return [f"{name}={value}" for name, value in settings.items()]
