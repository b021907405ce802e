"""The log of `ranktree run --collectives-log`: which variant each kind of collective call got, and why."""

from collections.abc import Iterable
from typing import Any

MARK = "ranktree: "
CALLS = "calls"


def read_log(lines: Iterable[str]) -> list[dict[str, Any]]:
    """One entry a decision: `ranktree: WHERE: KIND: CHOICE | CANDIDATE TIME | ... | for N calls`.

    Lines of another form are kept as they are, so that no line of the log is lost.
    """
    found = []
    for line in lines:
        text = line.strip()
        if text:
            found.append(entry(text.removeprefix(MARK)))
    return found


def entry(text: str) -> dict[str, Any]:
    """One line, taken apart where it is a decision."""
    head, *candidates = text.split(" | ")
    words = head.split(": ", 2)
    if len(words) != 3 or not candidates or words[1] == CALLS:
        return {"text": text}
    where, kind, choice = words
    if candidates[-1].startswith("for "):
        return {"where": where, "kind": kind, "choice": choice, "candidates": candidates[:-1], "calls": candidates[-1]}
    return {"where": where, "kind": kind, "choice": choice, "candidates": candidates, "calls": ""}
