"""The commands that start the program of a pattern again: as it was traced, and by a plan."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from ranktree import _core
from ranktree.launcher import FAMILY_MARKS, STARTERS, named_family, read_words
from ranktree.rewrite import without_placement

SIMULATED = "SMPI"
MARKS = FAMILY_MARKS | {"MPICH": "mpich"}  # also as MPI_Get_library_version has them


def shell_text(words: Sequence[str]) -> str:
    """The words as a shell takes them, in printable characters: `$'...'` where a word has others (bash, ksh, zsh)."""
    return " ".join(shlex.quote(word) if word.isprintable() else f"$'{''.join(map(escaped, word))}'" for word in words)


def escaped(letter: str) -> str:
    """A character inside `$'...'`."""
    if letter in "'\\":
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def words_of(command: str) -> list[str]:
    """The words of a recorded command line, which other sources may not have written for a shell."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


@dataclass(frozen=True)
class Launch:
    """How the program of a pattern was started."""

    ranks: int
    program: str  # its command line, for a shell
    words: tuple[str, ...]  # the launcher's command; none in patterns of other sources and of older versions
    mpi: str

    @classmethod
    def of(cls, recorded: "_core.Pattern") -> "Launch":
        """As far as the pattern has it."""
        metadata = recorded.metadata
        program = shell_text(words_of(metadata["program"])) or "./app"
        return cls(recorded.ranks, program, tuple(metadata["launch"]), metadata["mpi"])

    def traced(self, pattern: str) -> str:
        """The command that records the pattern."""
        output = f"-o {shell_text([pattern])}"
        if self.mpi.startswith(SIMULATED):
            return f"ranktree trace --simulate --np {self.ranks} {output} -- {self.program}"
        return f"ranktree trace {output} -- {shell_text(self.words) or self.usual()}"

    def by_plan(self, plan: str, machine: str | None) -> str:
        """The command that runs the program by a plan, without the options that the plan replaces."""
        if self.mpi.startswith(SIMULATED):
            named = shell_text(["--machine", machine or "MACHINE", "--np", str(self.ranks), "--plan", plan])
            return f"ranktree simulate {named} -- {self.program}"
        return f"ranktree run --plan {shell_text([plan])} -- {self.without_placement()}"

    def without_placement(self) -> str:
        """The launcher's command by its recorded words, without a look at this machine; its family by the MPI."""
        starters = [word for word in self.words if STARTERS.match(word.rpartition("/")[2])]
        if not starters:
            return self.usual()
        by_mpi = next((name for mark, name in MARKS.items() if mark in self.mpi), "openmpi")
        family = named_family(starters[0]) or by_mpi
        try:
            return shell_text(without_placement(read_words(self.words, family, ()))[0])
        except ValueError:
            return shell_text(self.words)

    def usual(self) -> str:
        """A command that starts as many ranks."""
        return f"mpirun -n {self.ranks} {self.program}"
