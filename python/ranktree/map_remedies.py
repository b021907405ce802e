"""What would shorten the modelled time of `ranktree map`'s plan, by the figures that the report has."""

from typing import Any

import numpy as np

from ranktree import _core
from ranktree.compare import Request
from ranktree.objective import Model
from ranktree.report import remedies
from ranktree.report.traffic import Pairs

LABELS = {
    "identity": "current rank order",
    "round-robin": "round-robin placement",
    "traced": "traced placement",
}


def add_would_help(  # noqa: PLR0913, PLR0917  what is limited, by which model, and how another plan is searched
    limits: list[dict[str, Any]], request: Request, plan: "_core.Plan", model: Model, worthwhile: float, **search: Any
) -> None:
    """Adds `would_help` to the plan's row of `limits`; there is none without an objective."""
    for row in limits:
        if row["placement"] == "plan":
            row["would_help"] = would_help(limits, request, plan, model, worthwhile, **search)


def would_help(  # noqa: PLR0913, PLR0917  as above
    limits: list[dict[str, Any]], request: Request, plan: "_core.Plan", model: Model, worthwhile: float, **search: Any
) -> list[dict[str, Any]]:
    """Rows as in the report's `would_help`, for the plan; none without traffic."""
    rows = {each["placement"]: each for each in limits}
    seconds = rows["plan"]["seconds"]
    if model.objective is None or not seconds > 0:
        return []
    others = [
        remedies.other_placement(rows["plan"], rows[name] | {"label": label})
        for name, label in LABELS.items()
        if name in rows
    ]
    if model.objective in {"bytes", "messages"} and is_short(request, plan):
        by_time = remedies.seconds_by_time(request.tree, request.pairs, model.parameters, seed=request.seed, **search)
        others.append(remedies.other_objective(1 - by_time / seconds))
    leaf_of = plan.permutation
    assert leaf_of is not None, "a plan that was searched here has its leaves"
    if is_short(request, plan) and not search["pins"] and not request.oversubscribe:
        by = ("bottleneck" if model.objective == "bottleneck" else "time", model.parameters)
        options = {"seed": request.seed, **search}
        others += remedies.other_ranks_a_node(request.tree, request.pairs, leaf_of, seconds, by, **options)
    parts = remedies.parts_of(request.tree, request.pairs, leaf_of, seconds, (model.objective, model.parameters))
    least = max(worthwhile, 1e-9)
    return [
        *remedies.most_first(others, least),
        *remedies.served(request.pairs, between_nodes(request.tree, request.pairs, leaf_of), worthwhile),
        *remedies.most_first([remedies.fewer_messages(parts, seconds), remedies.fewer_bytes(parts, seconds)], least),
    ]


def is_short(request: Request, plan: "_core.Plan") -> bool:
    """Whether another search may follow: few pairs, and no limit of time that it would double."""
    return len(request.pairs.indices) <= remedies.MOST_PAIRS and request.limit is None and not plan.stopped


def between_nodes(tree: "_core.Tree", traffic: "_core.Pattern", leaf_of: np.ndarray) -> np.ndarray:
    """By pair, whether its ranks are on different hosts."""
    number: dict[str, int] = {}
    host_of_leaf = np.array([number.setdefault(tree.host(leaf), len(number)) for leaf in range(tree.leaf_count)])
    host_of_rank = host_of_leaf[leaf_of]
    pairs = Pairs(traffic)
    crosses: np.ndarray = host_of_rank[pairs.senders] != host_of_rank[pairs.receivers]
    return crosses
