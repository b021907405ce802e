"""What limits each placement by the model of `ranktree map --objective time`, and what would shorten that time."""

from typing import Any

import numpy as np

from ranktree import _core
from ranktree.model import seconds_text
from ranktree.objective import resource_text
from ranktree.report.inputs import Inputs
from ranktree.report.remedies import remedies


def limits(inputs: Inputs, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows by time that have a limit, with what would help."""
    slot_of = {placed.name: placed.slot_of for placed in inputs.placements}
    limited = [row | {"sentence": sentence(row)} for row in rows if row["resource"]]
    for row in limited:
        row["would_help"] = remedies(inputs, limited, row, slot_of[row["placement"]])
    return limited


def limit_rows(inputs: Inputs, objective: str) -> list[dict[str, Any]]:
    """A row a placement; none without a machine, and for machines that the model does not serve."""
    if inputs.tree is None:
        return []
    rows = []
    for placed in inputs.placements:
        try:
            limit = _core.limit_of(inputs.tree, inputs.traffic, placed.slot_of.astype(np.int32), (objective, None))
        except (RuntimeError, ValueError):
            return []
        rows.append(limit | {"placement": placed.name, "label": placed.label})
    return rows


def sentence(limit: dict[str, Any]) -> str:
    """`traced placement: limited by node n3 up, 62 % of the modelled 1.2 s`."""
    share = f"{100 * limit['share']:.0f} % of the modelled {seconds_text(limit['seconds'])}"
    return f"{limit['label']}: limited by {resource_text(limit)}, {share}"
