"""Measured rows as text, in CSV files whose columns the caller names."""

import csv
from collections.abc import Sequence
from pathlib import Path


def read_rows(path: Path, fields: Sequence[str]) -> list[dict[str, object]]:
    """What was measured before; columns that the file lacks are empty."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [dict.fromkeys(fields, "") | row for row in csv.DictReader(lines)]


def rows_but(path: Path, fields: Sequence[str], **about: object) -> list[dict[str, object]]:
    """The same without the rows that have all of these values: those that a new measurement replaces."""
    return [row for row in read_rows(path, fields) if any(row[name] != str(value) for name, value in about.items())]


def write_rows(path: Path, rows: Sequence[dict[str, object]], fields: Sequence[str]) -> None:
    """All rows, completely or not at all."""
    half = path.with_name(path.name + ".new")
    with half.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    half.replace(path)
