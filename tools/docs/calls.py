"""The page of the MPI calls that the preload libraries know, from the table that their wrappers are generated from."""

import csv
import re
from pathlib import Path

from text import table

PRELOAD = Path(__file__).resolve().parents[2] / "src" / "preload"
# Class in calls.tsv: what tracing does with a call of it.
RECORDED = {
    "send": "messages and bytes of the pair",
    "send-init": "at each start",
    "partitioned-send-init": "at each start",
    "start": "the sends of the persistent requests it starts",
    "collective": "the call, with bytes and communicator",
    "collective-init": "at each start",
    "neighbor": "messages and bytes of each pair",
    "neighbor-init": "at each start",
    "rma": "messages and bytes of the pair, at the origin",
}
# Whose counts differ: recorded as pairs (src/preload/collective.cpp).
BY_PAIR = re.compile(r"MPI_I?(alltoall[vw]|gatherv|scatterv)$", re.IGNORECASE)
HEAD = """Of an unmodified program, in C and in every Fortran binding. Forms with large counts (`_c`) are treated alike.

- **Recorded** by `ranktree trace`, and how; every other call passes through.
- **Served** under `ranktree run --collectives`, where a variant is faster.
  `yes *`: only with `RANKTREE_COLL_NONBLOCKING=thread`.
- **Renumbered** under `ranktree run --reorder`: every call that takes a communicator, group, window, file or session,
  {extensions} extensions (`MPIX_`) among them, so it is not listed.
- **Split** under `ranktree run --split`: `MPI_Comm_split_type`, `MPI_Get_hw_resource_info` and the calls of
  [hsplit-2018](../how-to/split-unmodified-programs.md)."""


def recorded(name: str, kind: str) -> str:
    """What tracing does with a call."""
    return RECORDED["neighbor"] if kind == "collective" and BY_PAIR.search(name) else RECORDED[kind]


def page() -> str:
    """The table, collectives with what serves them."""
    with (PRELOAD / "calls.tsv").open(encoding="utf-8") as lines:
        kinds = {row["call"]: row["class"] for row in csv.DictReader(lines, delimiter="\t")}
    served = served_calls()
    names = sorted(name for name in kinds if not name.endswith("_c"))
    large = {name.removesuffix("_c") for name in kinds if name.endswith("_c")}
    rows = [
        [f"`{name}`" + (", `_c`" if name in large else ""), recorded(name, kinds[name]), service(name, served, large)]
        for name in names
        if kinds[name] in RECORDED
    ]
    extensions = sum(kind == "extension" for kind in kinds.values())
    others = [f"`{name}`" for name in names if kinds[name] == "other-world"]
    return "\n\n".join(
        [
            "# Supported MPI calls",
            HEAD.format(extensions=extensions),
            table(["call", "recorded", "served"], rows),
            "Counted as unattributed, because the other process is in another world: " + ", ".join(others) + ".",
        ]
    )


def service(name: str, served: dict[str, str], large: set[str]) -> str:
    """What serves a call, and whether its form with large counts is left out."""
    found = served.get(name, "")
    return found + (", but not `_c`" if found and name in large and f"{name}_c" not in served else "")


def served_calls() -> dict[str, str]:
    """Calls that the wrappers pass to the chooser."""
    text = (PRELOAD / "generated" / "collect.cpp").read_text(encoding="utf-8")
    return {
        name: "yes *" if nonblocking else "yes"
        for nonblocking, name in re.findall(r"^RANKTREE_SERVED(_NONBLOCKING)?\((MPI_\w+),", text, re.MULTILINE)
    }
