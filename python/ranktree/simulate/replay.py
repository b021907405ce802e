"""A recorded pattern in place of a program: its messages are sent in a few rounds that stand for all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ranktree import _core
from ranktree.pattern import Pattern, expand, natural_model, read, save
from ranktree.simulate.machine import SimulatedMachine
from ranktree.simulate.run import Result, Settings, end_of, simulate
from ranktree.simulate.tools import built

ROUNDS = 4
MOST_MESSAGES = 1_000_000  # of all rounds: a minute or so of simulation
AMOUNTS = ("messages", "bytes")
LONGEST = 1 << 30  # bytes of a message, as in src/simulate/replay_main.cpp


@dataclass(frozen=True)
class Rounds:
    """How some of the pairs are sent: in so many rounds, each for `weight` of the program's own."""

    pattern: Pattern  # of these pairs only
    count: int
    weight: float


def rounds_of(pattern: Pattern, most: int) -> list[Rounds]:
    """First the pairs with the most messages, in at most so many rounds, fewer where there are very many pairs. Those
    with less than half a message for each of these rounds follow in rounds of their own, and so on: a pair that sends
    once must not be sent as often as others. ValueError for a pattern without messages.
    """
    senders = np.repeat(np.arange(pattern.ranks), np.diff(pattern.indptr))
    needed = np.maximum(np.maximum(pattern.messages, np.ceil(pattern.bytes / LONGEST)), 1.0)
    left = np.flatnonzero((senders != pattern.indices) & ((pattern.messages > 0) | (pattern.bytes > 0)))
    if not left.size:
        raise ValueError("the pattern has no messages between ranks to replay")
    found = []
    while left.size:
        iterations = math.ceil(needed[left].max())
        count = most_rounds(needed[left], iterations, min(iterations, most))
        often = needed[left] >= iterations / count / 2
        sent, left = left[often], left[~often]
        amounts = (array[sent].astype(np.float64) for array in (pattern.messages, pattern.bytes))
        pairs = _core.Pattern.from_pairs(
            pattern.ranks, senders[sent].astype(np.int64), pattern.indices[sent].astype(np.int64), *amounts
        )
        found.append(Rounds(pairs, count, iterations / count))
    return found


def most_rounds(needed: np.ndarray, iterations: int, most: int) -> int:
    """The largest number of rounds whose messages are not too many, at least one. The more rounds, the more pairs."""
    least = 1
    while least < most:
        middle = (least + most + 1) // 2
        if middle * int((needed >= iterations / middle / 2).sum()) <= MOST_MESSAGES:
            least = middle
        else:
            most = middle - 1
    return least


def load_expanded(path: str, collectives: str) -> tuple[Pattern, list[str]]:
    """The pattern with its collective calls as pairs, and what its format does not hold."""
    traffic, warnings = read(path)
    return expand(traffic, natural_model(traffic) if collectives == "model" else collectives), warnings


def summed(reports: Sequence[dict[str, Any]], rounds: Sequence[Rounds]) -> dict[str, Any]:
    """All that the rounds stand for. Messages are those of the simulations times their weights."""
    weighted = list(zip(reports, [each.weight for each in rounds], strict=True))
    found = {**reports[0], "simulated_s": sum(report["simulated_s"] * weight for report, weight in weighted)}
    found["levels"] = [
        {**level, **{key: sum(report["levels"][at][key] * weight for report, weight in weighted) for key in AMOUNTS}}
        for at, level in enumerate(found["levels"])
    ]
    found["most_loaded_link"] = most_loaded(weighted)
    found["host_s"] = sum(report["host_s"] for report in reports)
    found |= {key: max(report[key] for report in reports) for key in ("host_bytes", "estimated_bytes")}
    found["replay"] = [{"pairs": len(each.pattern), "rounds": each.count, "weight": each.weight} for each in rounds]
    return found


def most_loaded(weighted: Sequence[tuple[dict[str, Any], float]]) -> dict[str, Any] | None:
    """The link that takes longest for the bytes of all rounds, of equals the one with the lowest number."""
    loads: dict[int, dict[str, Any]] = {}
    for report, weight in weighted:
        for number, name, size, bandwidth in report["links"]:
            load = loads.setdefault(number, {"name": name, "bytes": 0.0, "bandwidth_bytes_per_s": bandwidth})
            load["bytes"] += size * weight
            load["busy_s"] = load["bytes"] / bandwidth
    return max((loads[number] for number in sorted(loads)), key=lambda load: load["busy_s"], default=None)


def replay(
    machine: SimulatedMachine, leaves: Sequence[int], rounds: Sequence[Rounds], settings: Settings, folder: Path
) -> Result:
    """Simulates the messages of a pattern, rank i on leaves[i]. The first exit code that is not 0."""
    program, file = str(built("libranktree_replay.so")), folder / "pattern.npz"
    shared = replace(settings, share_globals=True, end=end_of(settings.time_limit))  # of all rounds together
    reports: list[dict[str, Any]] = []
    code = 0
    for each in rounds:
        save(str(file), each.pattern)
        result = simulate(machine, leaves, [program, str(file), str(each.count), repr(each.weight)], shared)
        reports.append(result.report)
        code = code or result.code
    return Result(code, summed(reports, rounds))
