"""Measured rows, as stored in results.csv."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

RESULTS = Path(__file__).resolve().with_name("results.csv")


@dataclass(frozen=True)
class Row:
    """One variant of one case. Seconds of one call; bytes are between nodes, of one call."""

    part: str
    mpi: str
    machine: str  # "4x4 packed", "8 ranks"
    setting: str  # of the MPI: "" by default, "HAN", ...
    collective: str
    bytes: int
    variant: str
    calls: int | None = None
    least: float | None = None
    median: float | None = None
    mean: float | None = None
    high: float | None = None
    cpu: float | None = None
    ratio: float | None = None
    inter_node_bytes: float | None = None
    payload_bytes: float | None = None
    wrong: str = ""


def load(path: Path) -> list[Row]:
    """The rows of a file; none when it does not exist."""
    if not path.exists():
        return []
    numbers = {each.name: each.type for each in fields(Row)}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Row(**{name: read(numbers[name], text) for name, text in each.items()}) for each in csv.DictReader(file)
        ]


def read(kind: object, text: str) -> object:
    """Converts a field back to its type."""
    if kind in (str, "str"):
        return text
    if not text:
        return None
    return int(text) if "int" in str(kind) else float(text)


def save(path: Path, rows: Sequence[Row]) -> None:
    """Writes the file atomically."""
    half = path.with_name(path.name + ".new")
    with half.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: shortened(value) for name, value in asdict(row).items()})
    half.replace(path)


def shortened(value: object) -> object:
    """Six significant digits."""
    return f"{value:.6g}" if isinstance(value, float) else value
