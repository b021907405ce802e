"""Collectives of a simulated program by Ranktree: the settings for them, and what was decided."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ranktree import collectives
from ranktree.simulate.tools import built


def wrong_setting(text: str) -> str | None:
    """What is wrong with a text for --collectives in a simulation; None where nothing is."""
    if wrong := collectives.wrong_setting(text):
        return wrong.removeprefix("--collectives: ")
    if collectives.is_inline(text):
        for entry in collectives.entries(text):
            if collectives.variant_of(entry) == "shared":
                return f"'{entry}': simulated ranks have no shared variants, whose copies SMPI would not time"
    return None


def library() -> Path:
    """What serves the calls of unmodified programs."""
    return built("libranktree_collect_smpi.so")


def decided(text: str, log: Path) -> dict[str, Any]:
    """The decisions of every communicator, from the lines that its rank 0 put into the log, equal ones once.

    Such a line is `11 ranks on 3 nodes: broadcast 1K-2K: messages:binomial | by rule`.
    """
    counted: dict[tuple[str, str, str, str], int] = {}
    calls = []
    notes = []
    for line in log.read_text(encoding="utf-8").splitlines():
        fields = line.removeprefix("ranktree: ").split(": ", 2)
        communicator, what = fields[0], fields[1] if len(fields) > 1 else ""
        if len(fields) == 3 and what == "calls":
            calls.append({"communicator": communicator, "calls": fields[2]})
        elif len(fields) == 3 and " | " in fields[2]:
            variant, _, reason = fields[2].partition(" | ")
            key = (communicator, what, variant, reason)
            counted[key] = counted.get(key, 0) + 1
        elif what != "" or communicator != "":
            notes.append(line.removeprefix("ranktree: "))
    decisions = [
        {"communicator": key[0], "call": key[1], "variant": key[2], "reason": key[3], "times": times}
        for key, times in counted.items()
    ]
    return {"setting": text, "decisions": decisions, "calls": calls, "notes": notes}


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The same as text."""
    yield f"Collectives ({found['setting']}):"
    for each in found["decisions"]:
        times = f" ({each['times']} times)" if each["times"] > 1 else ""
        yield f"  {each['communicator']}: {each['call']}: {each['variant']} | {each['reason']}{times}"
    if not found["decisions"]:
        yield "  no decision: all calls by SMPI"
    for each in found["calls"]:
        yield f"  {each['communicator']}: calls: {each['calls']}"
    for note in found["notes"]:
        yield f"  {note}"
