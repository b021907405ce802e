"""What may make a launch faster, ranked by what it saves on the model: plans, and other orders of the ranks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ranktree import _core
from ranktree.pattern import expand, natural_model
from ranktree.usable_machine import is_oversubscribed

MOST_MEASURED = 2
METRICS = ("size", "msg")


@dataclass(frozen=True)
class Candidate:
    """A plan, what it saves on the model, and its file."""

    name: str
    plan: "_core.Plan"
    gain: float  # fraction of the cost of the placement before
    path: Path
    reorders: bool = False  # the processes stay where they are, MPI_COMM_WORLD gets another order

    @property
    def slots(self) -> list[tuple[str, list[int]]]:
        """Host and PUs of each rank."""
        return _core.plan_slots(self.plan)


def candidates(tree: "_core.Tree", recorded: "_core.Pattern", folder: Path, seed: int) -> list[Candidate]:
    """A plan for each metric that the pattern holds, the best on the model first."""
    traffic = expand(recorded, natural_model(recorded))
    known = {"size": traffic.bytes.any(), "msg": traffic.messages.any()}
    shared = is_oversubscribed(tree, recorded.ranks)
    found = []
    for metric in METRICS:
        if not known[metric]:
            continue
        plan = _core.make_plan(tree, traffic, "best", metric, seed, oversubscribe=shared)
        found.append(Candidate(f"plan for {METRIC_WORDS[metric]}", plan, gain_of(plan), folder / f"plan.{metric}.json"))
    if not found:
        raise ValueError("the pattern holds no traffic: nothing to place")
    return sorted(found, key=lambda each: -each.gain)


def reorderings(tree: "_core.Tree", recorded: "_core.Pattern", folder: Path, seed: int) -> list[Candidate]:
    """Other orders of the ranks in the slots that the launch uses, for each metric; those that save something."""
    used = used_slots(tree, list(recorded.metadata["hosts"]))
    if used is None:
        return []
    found = candidates(tree.with_allowed(used), recorded, folder, seed)
    return [
        replace(
            each,
            name=f"reordering for {METRIC_WORDS[each.plan.metric]}",
            path=folder / f"reorder.{each.plan.metric}.json",
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


METRIC_WORDS = {"size": "bytes", "msg": "messages"}


def gain_of(plan: "_core.Plan") -> float:
    """How much less the plan costs than the traced placement, else than the current rank order."""
    rows = {row.placement: row.total for row in plan.costs}
    before = rows.get("traced", rows["identity"])
    return 1 - rows["plan"] / before if before > 0 else 0.0


def worth_measuring(found: Sequence[Candidate], worthwhile: float) -> list[Candidate]:
    """Those that save enough on the model, each placement once for plans and for orders, the two best."""
    chosen: list[Candidate] = []
    for each in sorted(found, key=lambda one: -one.gain):
        known = [other.slots for other in chosen if other.reorders == each.reorders]
        if each.gain >= worthwhile and each.slots not in known:
            chosen.append(each)
    return chosen[:MOST_MEASURED]
