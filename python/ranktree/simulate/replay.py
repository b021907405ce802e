"""A recorded pattern in place of a program: its messages are sent in a few rounds that stand for all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ranktree.pattern import Pattern, expand, natural_model, read, save
from ranktree.simulate.machine import SimulatedMachine
from ranktree.simulate.run import Result, Settings, simulate
from ranktree.simulate.tools import built

ROUNDS = 4
MOST_MESSAGES = 1_000_000  # of all rounds: a minute or so of simulation
LONGEST = 1 << 30  # bytes of a message


@dataclass(frozen=True)
class Rounds:
    """How a pattern is sent: so many rounds, each for `weight` of the program's own."""

    count: int
    weight: float


def rounds_of(pattern: Pattern, most: int) -> Rounds:
    """As many rounds as the busiest pair has messages, at most so many; fewer where there are very many pairs."""
    if len(pattern.indices) == 0:
        raise ValueError("the pattern has no messages between ranks to replay")
    own = float(np.max(pattern.messages, initial=0))
    longest = float(np.max(pattern.bytes, initial=0)) / LONGEST
    iterations = max(1.0, math.ceil(own), math.ceil(longest))
    affordable = max(MOST_MESSAGES // len(pattern.indices), 1)
    count = int(min(iterations, most, affordable))
    return Rounds(count, iterations / count)


def load_expanded(path: str, collectives: str) -> tuple[Pattern, list[str]]:
    """The pattern with its collective calls as pairs, and what its format does not hold."""
    traffic, warnings = read(path)
    return expand(traffic, natural_model(traffic) if collectives == "model" else collectives), warnings


def scaled(report: dict[str, Any], rounds: Rounds) -> dict[str, Any]:
    """All that the rounds stand for. Messages are those of the simulation times the weight."""
    found = {**report, "simulated_s": report["simulated_s"] * rounds.weight}
    found["levels"] = [
        {**level, "messages": level["messages"] * rounds.weight, "bytes": level["bytes"] * rounds.weight}
        for level in report["levels"]
    ]
    link = report["most_loaded_link"]
    if link is not None:
        amounts = {key: link[key] * rounds.weight for key in ("bytes", "busy_s")}
        found["most_loaded_link"] = {**link, **amounts}
    found["replay"] = {"rounds": rounds.count, "weight": rounds.weight}
    return found


def replay(
    machine: SimulatedMachine, leaves: Sequence[int], pattern: Pattern, rounds: Rounds, settings: Settings, folder: Path
) -> Result:
    """Simulates the messages of an expanded pattern, rank i on leaves[i]."""
    file = folder / "pattern.npz"
    save(str(file), pattern)
    program = str(built("libranktree_replay.so"))
    words = [program, str(file), str(rounds.count), repr(rounds.weight)]
    result = simulate(machine, leaves, words, replace(settings, share_globals=True))
    return replace(result, report=scaled(result.report, rounds))
