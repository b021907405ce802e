"""Committed rows of placements, read without the bench's code."""

import csv
from pathlib import Path

PLACED = Path(__file__).resolve().parents[2] / "bench/papers/placed.csv"


def cells(kernel: str, ranks: int, field: str, machine: str = "") -> dict[str, float]:
    """A column by placement."""
    with PLACED.open(encoding="utf-8", newline="") as file:
        return {
            row["placement"]: float(row[field])
            for row in csv.DictReader(file)
            if (row["kernel"], row["ranks"]) == (kernel, str(ranks)) and machine in ("", row["machine"]) and row[field]
        }
