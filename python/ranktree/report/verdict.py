"""The result of a report in one sentence with its figure."""

from collections.abc import Sequence
from typing import Any

from ranktree import _core
from ranktree.measures import METRICS
from ranktree.model import seconds_text
from ranktree.report.inputs import WORTHWHILE, Inputs
from ranktree.report.places import between_nodes
from ranktree.report.units import bytes_text, count_text

SMALLEST, LARGEST = 0.05, 99.5  # percent: what is beyond would be rounded to 0 or 100
BEFORE = {"traced": "the traced placement", "identity": "the current rank order"}
TIMED = ("time", "bottleneck")  # objectives whose plans are judged by modelled seconds
Limits = Sequence[dict[str, Any]]  # a row a placement


def verdict(inputs: Inputs, traffic: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """`result` for programs, `sentence` for people, `gain` as a fraction where there is one.

    `limits`: by the objective of the plan, where that is one of TIMED and the machine is known.
    """
    if inputs.runs is not None and inputs.runs.get("comparison"):
        return measured(inputs.runs["comparison"], inputs.request.worthwhile)
    if inputs.plan is None or not inputs.plan.costs:
        return described(inputs, traffic)
    return modelled(inputs.plan, limits, inputs.request.worthwhile)


def measured(comparison: dict[str, Any], worthwhile: float) -> dict[str, Any]:
    """The result of the measured runs."""
    gain = comparison["ratio"] - 1
    small = comparison["result"] == "faster" and gain < worthwhile
    return {
        "result": "not worthwhile" if small else comparison["result"],
        "sentence": ("Nothing worth changing, measured: " if small else "Measured: ") + comparison["sentence"],
        "gain": gain,
        "source": "measured",
    }


def described(inputs: Inputs, traffic: dict[str, Any]) -> dict[str, Any]:
    """A pattern alone: no placement to judge."""
    size = bytes_text(traffic["bytes"]) if traffic["bytes"] else f"{count_text(traffic['messages'])} messages"
    ranks, pairs = inputs.recorded.ranks, traffic["pairs"]
    exchange = f"{ranks:,} ranks exchange {size} in {count_text(pairs)} {'pair' if pairs == 1 else 'pairs'}."
    if not pairs:
        exchange = "No traffic between ranks is recorded."
    return {
        "result": "described",
        "sentence": f"{exchange} Name a machine (--machine) to see what a better placement saves.",
        "gain": None,
        "source": "pattern",
    }


def modelled(plan: "_core.Plan", limits: Limits = (), worthwhile: float = WORTHWHILE) -> dict[str, Any]:
    """What the plan saves: of the modelled time where that chose it, else of the cost."""
    rows = {row.placement: row for row in plan.costs}
    name = "traced" if "traced" in rows else "identity"
    before, after = rows[name].total, rows["plan"].total
    gain = 1 - after / before if before > 0 else 0.0
    if plan.algorithm in TIMED:
        seconds = {limit["placement"]: limit["seconds"] for limit in limits}
        if name in seconds and "plan" in seconds:
            return timed(name, seconds[name], seconds["plan"], worthwhile)
        return not_timed(plan, name, gain)
    if gain <= 0:
        result = "no gain"
        sentence = f"Nothing to gain: no placement found costs less than {BEFORE[name]}{bound(plan)}."
    elif gain < worthwhile:
        result = "not worthwhile"
        sentence = (
            f"Nothing worth changing: the plan saves {percent(gain)} of the cost of {BEFORE[name]}; "
            f"below {percent(worthwhile)} a rerun is unlikely to show it."
        )
    else:
        result, sentence = "gain", saving(plan, name, gain)
    return {"result": result, "sentence": sentence, "gain": gain, "source": "model"}


def timed(name: str, before: float, after: float, worthwhile: float) -> dict[str, Any]:
    """By the modelled seconds before and by the plan."""
    worth = after > 0 and before / after - 1 > worthwhile
    if worth:
        faster = f"{before / after:.2f}x faster"
        sentence = f"Modelled time: {seconds_text(before)} {name}, {seconds_text(after)} by the plan, {faster}."
    else:
        sentence = (
            f"Nothing worth changing: no placement found is modelled more than {percent(worthwhile)} faster than "
            f"{BEFORE[name]}."
        )
    gain = 1 - after / before if before > 0 else 0.0
    return {"result": "gain" if worth else "not worthwhile", "sentence": sentence, "gain": gain, "source": "model"}


def not_timed(plan: "_core.Plan", name: str, gain: float) -> dict[str, Any]:
    """A plan by seconds that are not known here: its machine is not named, or its traced hosts are not those."""
    change = f"costs {percent(abs(gain))} {'less' if gain > 0 else 'more'} than" if gain else "costs as much as"
    sentence = (
        f"The plan minimises the modelled {plan.algorithm}, which is not known here; by {METRICS[plan.metric]} and "
        f"distance it {change} {BEFORE[name]}."
    )
    return {"result": "described", "sentence": sentence, "gain": None, "source": "model"}


def saving(plan: "_core.Plan", name: str, gain: float) -> str:
    """`The plan moves 62 % fewer bytes between nodes than the traced placement, and costs 41 % less by the model.`"""
    before, after = between_nodes(plan, name), between_nodes(plan, "plan")
    if before <= 0 or after >= before:
        return f"The plan costs {percent(gain)} less than {BEFORE[name]} by the cost model."
    if after == 0:
        return f"By the plan nothing crosses between nodes: it costs {percent(gain)} less than {BEFORE[name]}."
    fewer = f"{percent(1 - after / before)} fewer {METRICS[plan.metric]} between nodes"
    return f"The plan moves {fewer} than {BEFORE[name]}, and costs {percent(gain)} less by the model."


def bound(plan: "_core.Plan") -> str:
    """How close to the lower bound the placement is, where the bound is known."""
    return ", and none can" if plan.gap == 0 else ""


def percent(fraction: float) -> str:
    """`12 %`, `0.8 %`, `< 0.1 %`, `> 99 %`: what is above 0 is never shown as 0, what is below 1 never as all."""
    value = 100 * fraction
    if 0 < value < SMALLEST:
        return "< 0.1 %"
    if LARGEST < value < 100:
        return "> 99 %"
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %"
