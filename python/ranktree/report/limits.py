"""What limits each placement by the model of `ranktree map --objective time`, and what would shorten that time."""

from typing import Any

import numpy as np

from ranktree import _core
from ranktree.model import seconds_text
from ranktree.objective import resource_text
from ranktree.report.inputs import Inputs
from ranktree.report.remedies import remedies


def limits(inputs: Inputs) -> list[dict[str, Any]]:
    """A row a placement; none without a machine, without traffic, and for machines that the model does not serve."""
    if inputs.tree is None:
        return []
    rows: list[dict[str, Any]] = []
    slots = []
    for placed in inputs.placements:
        try:
            limit = _core.limit_of(inputs.tree, inputs.traffic, placed.slot_of.astype(np.int32), ("time", None))
        except (RuntimeError, ValueError):
            return []
        if limit["resource"]:
            row = limit | {"placement": placed.name, "label": placed.label}
            rows.append(row | {"sentence": sentence(row)})
            slots.append(placed.slot_of)
    for row, slot_of in zip(rows, slots, strict=True):
        row["would_help"] = remedies(inputs, rows, row, slot_of)
    return rows


def sentence(limit: dict[str, Any]) -> str:
    """`traced placement: limited by node n3 up, 62 % of the modelled 1.2 s`."""
    share = f"{100 * limit['share']:.0f} % of the modelled {seconds_text(limit['seconds'])}"
    return f"{limit['label']}: limited by {resource_text(limit)}, {share}"
