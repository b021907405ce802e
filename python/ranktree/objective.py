"""What a plan minimises: one function for `ranktree.place` and `ranktree map`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ranktree import _core


@dataclass(frozen=True)
class Model:
    """The values of --objective and --parameters."""

    objective: str | None = None
    parameters: str | None = None

    def loaded_metric(self, metric: str) -> str:
        """What the one number of a pair is in files that have only one."""
        return "msg" if self.objective == "messages" else metric


def planned(
    tree: "_core.Tree",
    traffic: "_core.Pattern | _core.Weights | np.ndarray",
    metric: str,
    model: Model,
    **options: Any,
) -> tuple["_core.Plan", list[dict[str, Any]]]:
    """The plan and, by an objective, what limits each placement of its table.

    `traffic` has no collective calls any more; an objective needs a pattern. Options are those of `_core.make_plan`.
    """
    if isinstance(traffic, np.ndarray):
        return _core.plan_matrix(tree, traffic, metric=metric, **options), []
    if isinstance(traffic, _core.Weights):
        return _core.make_plan(tree, traffic, metric=metric, **options), []
    if model.objective is None:
        return _core.make_plan(tree, traffic, metric=metric, **options), []
    plan, limits = _core.plan_by_objective(tree, traffic, (model.objective, model.parameters), **options)
    return plan, limits


def resource_text(limit: dict[str, Any]) -> str:
    """What limits a placement, and in which phase: `node n3 up in the phase "before MPI_Barrier" (20 times)`."""
    if "phase" not in limit:
        return str(limit["resource"])
    phase = limit["phases"][limit["phase"]]
    times = f" ({phase['count']:,.0f} times)" if phase["count"] > 1 else ""
    return f'{limit["resource"]} in the phase "{phase["name"]}"{times}'
