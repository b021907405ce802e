"""The resource of the machine that limits each placement, by the model of `ranktree map --objective time`."""

from typing import Any

import numpy as np

from ranktree import _core
from ranktree.model import seconds_text
from ranktree.report.inputs import Inputs


def limits(inputs: Inputs) -> list[dict[str, Any]]:
    """A row a placement; none without a machine, without traffic, and for machines that the model does not serve."""
    if inputs.tree is None:
        return []
    rows = []
    for placed in inputs.placements:
        try:
            limit = _core.limit_of(inputs.tree, inputs.traffic, placed.slot_of.astype(np.int32), ("time", None))
        except (RuntimeError, ValueError):
            return []
        if limit["resource"]:
            row = limit | {"placement": placed.name, "label": placed.label}
            rows.append(row | {"sentence": sentence(row)})
    return rows


def sentence(limit: dict[str, Any]) -> str:
    """`traced placement: node n3 up, 62 % of the modelled 1.2 s`."""
    share = f"{100 * limit['share']:.0f} %"
    return f"{limit['label']}: {limit['resource']}, {share} of the modelled {seconds_text(limit['seconds'])}"
