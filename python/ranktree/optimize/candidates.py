"""What may make a launch faster, ranked by what it saves on the model: plans, and other orders of the ranks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ranktree import _core
from ranktree.objective import Model, planned
from ranktree.usable_machine import is_oversubscribed

MOST_MEASURED = 2
GOALS = {"time": "time", "size": "bytes", "msg": "messages"}  # in file names and sentences


@dataclass(frozen=True)
class Candidate:
    """A plan, what it saves on the model, and its file."""

    name: str
    plan: "_core.Plan"
    gain: float  # fraction of the modelled time of the placement before, or of its cost
    path: Path
    goal: str  # of GOALS
    reorders: bool = False  # the processes stay where they are, MPI_COMM_WORLD gets another order

    @property
    def slots(self) -> list[tuple[str, list[int]]]:
        """Host and PUs of each rank."""
        return _core.plan_slots(self.plan)


def candidates(tree: "_core.Tree", traffic: "_core.Pattern", folder: Path, seed: int) -> list[Candidate]:
    """A plan for each goal that the pattern, which has no collective calls any more, has figures for; the best on the
    model first.
    """
    known = {"size": bool(traffic.bytes.any()), "msg": bool(traffic.messages.any())}
    if not any(known.values()):
        return []
    options = {"algorithm": "best", "seed": seed, "oversubscribe": is_oversubscribed(tree, traffic.ranks)}
    found = []
    for goal, word in GOALS.items():
        if not known.get(goal, True):
            continue
        metric, objective = ("size", "time") if goal == "time" else (goal, None)
        plan, limits = planned(tree, traffic, metric, Model(objective), **options)
        found.append(Candidate(f"plan for {word}", plan, gain_of(plan, limits), folder / f"plan.{goal}.json", goal))
    return sorted(found, key=lambda each: -each.gain)


def reorderings(tree: "_core.Tree", traffic: "_core.Pattern", folder: Path, seed: int) -> list[Candidate]:
    """Other orders of the ranks in the slots that the launch uses, for each goal; those that save something."""
    used = used_slots(tree, list(traffic.metadata["hosts"]))
    if used is None:
        return []
    found = candidates(tree.with_allowed(used), traffic, folder, seed)
    return [
        replace(
            each,
            name=f"reordering for {GOALS[each.goal]}",
            path=folder / f"reorder.{each.goal}.json",
            reorders=True,
        )
        for each in found
        if each.gain > 0
    ]


def used_slots(tree: "_core.Tree", hosts: Sequence[str]) -> list[int] | None:
    """The first free slots of each traced host, as many as it had ranks; None where the machine does not have them."""
    free: dict[str, list[int]] = {}
    for leaf in range(tree.leaf_count):
        if tree.allowed(leaf):
            free.setdefault(tree.host(leaf), []).append(leaf)
    used = []
    for host, count in Counter(hosts).items():
        if len(free.get(host, [])) < count:
            return None
        used += free[host][:count]
    return sorted(used) or None


def gain_of(plan: "_core.Plan", limits: Sequence[dict[str, Any]] = ()) -> float:
    """How much less the plan takes or costs than the traced placement, else than the current rank order."""
    rows = {row.placement: row.total for row in plan.costs}
    rows |= {limit["placement"]: limit["seconds"] for limit in limits}
    before = rows.get("traced", rows["identity"])
    return 1 - rows["plan"] / before if before > 0 else 0.0


def worth_measuring(found: Sequence[Candidate], worthwhile: float) -> list[Candidate]:
    """Two that save enough on the model, that for time before others: a plan and an order where there are both."""
    ordered = sorted(found, key=lambda one: (one.goal != "time", -one.gain))
    distinct: list[Candidate] = []
    for each in ordered:
        known = [other.slots for other in distinct if other.reorders == each.reorders]
        if each.gain >= worthwhile and each.slots not in known:
            distinct.append(each)
    orders = [each for each in distinct if each.reorders]
    plans = [each for each in distinct if not each.reorders]
    return [*plans[:1], *orders[:1], *plans[1:], *orders[1:]][:MOST_MEASURED]
