"""Known bugs and limits of MPIs, declared once by version range in known_bugs.tsv.

A test names what it meets: `known_bugs.skip(mpi, "no-spawn")`. Outside of the version range the test runs.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.mpis import Mpi

TABLE = Path(__file__).with_name("known_bugs.tsv")
Version = tuple[int, ...]


@dataclass(frozen=True)
class KnownBug:
    """A row of the table: versions first to last of one family; `last` covers all versions that begin with it."""

    name: str
    mpi: str
    first: Version
    last: Version
    symptom: str
    reference: str

    def covers(self, family: str, version: Version) -> bool:
        """Whether this version of this MPI has it."""
        return self.mpi == family and self.first <= version and version[: len(self.last)] <= self.last


def read(path: Path = TABLE) -> list[KnownBug]:
    """All rows of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        KnownBug(row["name"], row["mpi"], version(row["first"]), version(row["last"]), row["symptom"], row["reference"])
        for row in rows
    ]


def version(text: str) -> Version:
    """(4, 0, 2) from 4.0.2."""
    return tuple(map(int, text.split(".")))


KNOWN = read()


def find(mpi: Mpi, name: str) -> KnownBug | None:
    """The row that covers this MPI; a name that no row has is an error of the test."""
    rows = [row for row in KNOWN if row.name == name]
    assert rows, f"{TABLE.name} has no {name}"
    return next((row for row in rows if row.covers(mpi.family, mpi.version)), None)


def has(mpi: Mpi, name: str) -> bool:
    """Whether this MPI has the bug or limit."""
    return find(mpi, name) is not None


def spins(mpi: Mpi) -> bool:
    """Whether more ranks than cores take minutes: fewer ranks, fewer rounds."""
    return has(mpi, "waiting-ranks-spin")


def skip(mpi: Mpi, name: str) -> None:
    """Skips the test on an MPI that has the bug."""
    row = find(mpi, name)
    if row:
        pytest.skip(f"{mpi.name} {'.'.join(map(str, mpi.version))}, {name}: {row.symptom}")


def need(mpi: Mpi, name: str) -> None:
    """Skips the test, which shows the bug itself, on an MPI that is not known to have it."""
    if not has(mpi, name):
        pytest.skip(f"{mpi.name} {'.'.join(map(str, mpi.version))} is not known to have {name}")
