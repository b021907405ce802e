"""What `ranktree map` does behind its options: the pattern, the search, and its result as a table or as JSON."""

from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ranktree import _core
from ranktree.compare import Request, Result, compare
from ranktree.grids import BetterGrid, better_grid
from ranktree.interrupt import Interruption
from ranktree.measures import METRICS
from ranktree.model import seconds_text
from ranktree.objective import Model, planned, resource_text
from ranktree.pattern import expand, natural_model, read, read_whole
from ranktree.placement import square
from ranktree.progress import LongWork
from ranktree.report.places import known_gap
from ranktree.report.units import weight_text
from ranktree.report.verdict import modelled, percent
from ranktree.usable_machine import Notify

FORMAT, VERSION = "ranktree-map", 1


def limit_lines(limits: list[dict[str, Any]]) -> list[str]:
    """The resource that limits each placement, with its share of the modelled time, and what would help the plan."""
    lines = [
        f"Limit of {limit['placement']}: {resource_text(limit)}, "
        f"{limit['share']:.0%} of {seconds_text(limit['seconds'])}."
        for limit in limits
        if limit["resource"]
    ]
    helps = [f"  {remedy['sentence']}" for limit in limits for remedy in limit.get("would_help", [])]
    return [*lines, "What would shorten the plan's modelled time:", *helps] if helps else lines


def sentence(plan: _core.Plan, limits: list[dict[str, Any]], worthwhile: float) -> str:
    """What the plan saves: of the objective's seconds where these chose it, else of the cost."""
    return str(modelled(plan, limits, worthwhile)["sentence"])


def change(before: float, after: float) -> str:
    """`12 % less`, `3.1 % more`; nothing where both are the same."""
    if before == after or before <= 0:
        return ""
    return f"{percent(abs(1 - after / before))} {'less' if after < before else 'more'}"


def print_table(plan: _core.Plan, cost: str) -> None:
    """Cost by level, one column a placement; the change of each total against identity and the traced placement."""
    unit = "hop-bytes" if (cost, plan.metric) == ("hops", "size") else f"cost ({METRICS[plan.metric]} x {cost})"
    table = Table(title=f"{METRICS[plan.metric]} by level of the machine")
    table.add_column("level")
    for each in plan.costs:
        table.add_column(each.placement, justify="right")
    for index, level in enumerate(plan.levels):
        label = level if index + 1 < len(plan.levels) else f"same {level}"
        table.add_row(label, *(weight_text(each.weight[index]) for each in plan.costs))
    totals = {each.placement: each.total for each in plan.costs}
    table.add_section()
    table.add_row(unit, *(f"{each.total:,.6g}" for each in plan.costs))
    for before in ("identity", "traced"):
        if before in totals:
            table.add_row(f"against {before}", *(change(totals[before], total) for total in totals.values()))
    Console(width=120).print(table)


def bound_line(plan: _core.Plan) -> str:
    """How far the plan may be from the best."""
    gap = known_gap(plan)
    if gap == 0:
        return "No placement costs less."
    if gap is None:
        bound = "0" if plan.gap is None else "less than half of the plan's cost"
        return f"How much less another placement could cost is not known: the bound is {bound}."
    most = percent(gap).replace("< ", "less than ")
    words = most if most.startswith("less") else f"at most {most}"
    return f"No placement costs less than {plan.bound:,.6g}: the plan costs {words} more than the best one."


def grid_for(request: Request, worthwhile: float) -> BetterGrid | None:
    """A better grid for the program, if its pattern is one."""
    return better_grid(request.tree, request.pattern, request.metric, worthwhile)


def usual_levels(tree: _core.Tree, model: Model) -> list[str]:
    """Kinds of the levels whose modelled latency or bandwidth is a usual value; none where time is not modelled."""
    return [] if model.objective is None else _core.usual_levels(tree, (model.objective, model.parameters))


def usual_line(kinds: list[str]) -> str:
    """What the modelled times rest on."""
    return f"Usual latencies or bandwidths stand in for: {', '.join(kinds)}. `ranktree calibrate` measures them."


def lines_below(
    plan: _core.Plan, limits: list[dict[str, Any]], worthwhile: float, grid: BetterGrid | None, usual: list[str]
) -> list[str]:
    """The sentences below the table."""
    lines = [sentence(plan, limits, worthwhile), bound_line(plan), *limit_lines(limits)]
    return [*lines, *([usual_line(usual)] if usual else []), *([grid.sentence()] if grid else [])]


def as_dictionary(  # noqa: PLR0913, PLR0917  what is in the dictionary
    plan: _core.Plan,
    stopped: str | None,
    results: list[Result],
    worthwhile: float,
    limits: list[dict[str, Any]],
    grid: BetterGrid | None,
    usual: list[str],
) -> dict[str, Any]:
    """The plan's table for `--json`."""
    dictionary: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "algorithm": plan.algorithm,
        "metric": plan.metric,
        "gain": plan.gain,
        "bound": plan.bound,
        "gap": known_gap(plan),
        "stopped": stopped,
        "levels": plan.levels,
        "level_costs": plan.level_costs,
        "costs": [{"placement": each.placement, "weight": each.weight, "total": each.total} for each in plan.costs],
        "verdict": sentence(plan, limits, worthwhile),
    }
    if limits:
        dictionary["limits"] = limits
        dictionary["usual_levels"] = usual
    if grid:
        dictionary["grid"] = grid.as_dictionary()
    if results:
        dictionary["comparison"] = [asdict(each) for each in results]
    return dictionary


def load_expanded(
    path: str, metric: str, collectives: str, whole: bool, notify: Notify
) -> "_core.Pattern | np.ndarray":
    """The pattern, collective calls as pairs, or a whole matrix as it is where it may be one.

    The one number of a format that has only one is taken for messages where these are wanted.
    """
    traffic, warnings = (read_whole if whole else read)(path, metric="msg" if metric == "msg" else None)
    for warning in warnings:
        notify(f"{path}: {warning}")
    if isinstance(traffic, np.ndarray):
        return square(traffic)
    if collectives != "none" and not traffic.collectives:
        return traffic  # as it would be, without a copy
    return expand(traffic, natural_model(traffic) if collectives == "model" else collectives)


def search(  # noqa: PLR0913, PLR0917  what is placed, how, and by which model
    request: Request,
    algorithm: str,
    preset: str,
    interruption: Interruption,
    pins: list[tuple[int, int]],
    model: Model,
) -> tuple[_core.Plan, str | None, list[dict[str, Any]]]:
    """The plan, what cut the search short, if anything did, and, by an objective, what limits each placement."""
    pattern = request.pattern
    options = request.search(preset) | {"pins": pins}
    with LongWork(
        f"placing {len(pattern) if isinstance(pattern, np.ndarray) else pattern.ranks:,} ranks", request.limit
    ):
        options |= {"algorithm": algorithm, "seed": request.seed}
        plan, limits = planned(request.tree, pattern, request.metric, model, **options)
    stopped = None if not plan.stopped else "Ctrl-C" if interruption.requested else "the time limit"
    return plan, stopped, limits


def compare_all(request: Request) -> list[Result]:
    """What every algorithm and peer makes of it."""
    with LongWork("comparing"):
        return list(compare(request))
