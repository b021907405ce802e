"""The log of `ranktree run --collectives`."""

import re
from pathlib import Path


def served(log: Path) -> dict[str, int]:
    """The calls of each collective that were not native, of all communicators in the log."""
    found: dict[str, int] = {}
    for name, ours in re.findall(r"(\w+) (\d+) of \d+ not by the MPI", log.read_text(encoding="utf-8")):
        found[name] = found.get(name, 0) + int(ours)
    return found
