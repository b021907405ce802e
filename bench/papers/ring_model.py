"""Formula 12 of hier-bcast-2014, which Figures 7 and 8 draw, by the costs of a machine file."""

import json
import math
from pathlib import Path

MACHINES = Path(__file__).resolve().parents[2] / "machines"
OVERHEAD = 3e-7  # seconds of a send or a receive: the simulation's


def costs_of(machine: str) -> tuple[float, float]:
    """Seconds of a message between neighbours without its bytes, and of a byte."""
    document = json.loads((MACHINES / f"{machine}.json").read_text(encoding="utf-8"))
    network = document["network"]
    latency = document["costs"]["Node"]["latency_s"] + network["latency_s"]["hop"] + 2 * OVERHEAD
    return latency, 1 / network["bandwidth_bytes_per_s"]["hop"]


def seconds_of(machine: str, ranks: int, size: int, groups: int) -> float:
    """Of a scatter and a ring between the groups, then inside them."""
    latency, per_byte = costs_of(machine)
    steps = math.log2(ranks) + groups + ranks / groups - 2
    return steps * latency + 2 * size * (2 - 1 / groups - groups / ranks) * per_byte
