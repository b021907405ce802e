"""What collectives cost by the models of docs/explanation/models.md: the functions behind `ranktree predict`.

from ranktree.prediction import Hierarchy, Parameters, predict_candidates
ranks = Hierarchy.flat(64)
predict_candidates("broadcast", 1 << 20, ranks, Parameters.usual(1, 1))
"""

from ranktree._core import (
    Hierarchy,
    MeasuredParameters,
    Parameters,
    collective_algorithms,
    collective_forms,
    load_parameters,
    predict_candidates,
    predict_cost,
    predict_groups,
    predict_segments,
)

__all__ = [
    "Hierarchy",
    "MeasuredParameters",
    "Parameters",
    "collective_algorithms",
    "collective_forms",
    "load_parameters",
    "predict_candidates",
    "predict_cost",
    "predict_groups",
    "predict_segments",
]
