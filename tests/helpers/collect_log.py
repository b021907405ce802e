"""The log of `ranktree run --collectives`."""

import re
from pathlib import Path

import pytest

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}


def served(log: Path) -> dict[str, int]:
    """The calls of each collective that were not native, of all communicators in the log."""
    found: dict[str, int] = {}
    for name, ours in re.findall(r"(\w+) (\d+) of \d+ not by the MPI", log.read_text(encoding="utf-8")):
        found[name] = found.get(name, 0) + int(ours)
    return found


def skip_if_overdrawn(text: str) -> None:
    """Skips where set-up or agreements took most of what `auto` may spend: on a busy machine ranks wait for a processor
    at every step.
    """
    if "its set-up was never affordable" in text:
        pytest.skip(f"a busy machine: {text.strip()}")
    account = re.search(r"spent: set-up (\S+) (.s), agreements (\S+) (.s), .*; allowed (\S+) (.s) in", text)
    assert account, text
    set_up, agreements, allowed = (float(account[i]) * UNITS[account[i + 1]] for i in (1, 3, 5))
    if set_up > 0.3 * allowed or agreements > 0.8 * allowed:
        pytest.skip(
            f"set-up and agreements took {set_up + agreements:.2g} of {allowed:.2g} s on a busy machine: "
            "nothing more is tried"
        )


def require_tried(log: Path, collective: str) -> None:
    """Variants that are not native served some calls, whatever was decided on them: on a busy machine that takes more
    calls than the program makes. Skips where the account covered no trial.
    """
    skip_if_overdrawn(log.read_text(encoding="utf-8"))
    assert served(log)[collective] > 0
