"""Two plans beside each other: what each costs on each level."""

from typing import Any

from ranktree import _core
from ranktree.report.text import columns
from ranktree.report.units import weight_text


def compare_plans(first: str, second: str) -> dict[str, Any]:
    """Cost by level of both, and how much less the second costs. ValueError where they are not of one kind."""
    plans = [_core.load_plan(path) for path in (first, second)]
    ranks = [len(plan.slots) for plan in plans]
    if ranks[0] != ranks[1]:
        raise ValueError(f"{second}: expected a plan of as many ranks as {first}, {ranks[0]}; found {ranks[1]}")
    for what in ("levels", "level_costs", "metric"):
        one, other = (getattr(plan, what) for plan in plans)
        if one != other:
            raise ValueError(f"{second}: expected a plan with the {what} of {first}, {one}; found {other}")
    rows = [row_of_plan(plan, path) for plan, path in zip(plans, (first, second), strict=True)]
    moved = sum(one != other for one, other in zip(*map(_core.plan_slots, plans), strict=True))
    gain = 1 - rows[1].total / rows[0].total if rows[0].total > 0 else 0.0
    return {
        "format": "ranktree-plan-comparison",
        "version": 1,
        "plans": [first, second],
        "metric": plans[0].metric,
        "levels": plans[0].levels,
        "weights": [row.weight for row in rows],
        "totals": [row.total for row in rows],
        "gain": gain,
        "ranks_in_other_slots": moved,
        "sentence": sentence(second, first, gain),
    }


def row_of_plan(plan: "_core.Plan", path: str) -> "_core.CostRow":
    """What the placement itself costs. ValueError where the file does not have it."""
    for row in plan.costs:
        if row.placement == "plan":
            return row
    raise ValueError(f"{path}: costs: expected a row 'plan', found {[row.placement for row in plan.costs]}")


def sentence(second: str, first: str, gain: float) -> str:
    """The result in words."""
    if gain == 0:
        return f"No difference: {first} and {second} cost the same."
    return f"{second} costs {abs(100 * gain):.1f} % {'less' if gain > 0 else 'more'} than {first}."


def as_text(found: dict[str, Any]) -> str:
    """A row a level."""
    rows = [
        [level, *(weight_text(weights[index]) for weights in found["weights"])]
        for index, level in enumerate(found["levels"])
    ]
    rows.append(["cost", *(f"{total:,.6g}" for total in found["totals"])])
    lines = columns("weight by level", ["level", *found["plans"]], rows)
    moved = f"{found['ranks_in_other_slots']:,} ranks have another slot."
    return "\n".join([*lines, "", moved, found["sentence"]])
