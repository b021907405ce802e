"""What collectives cost by the models of docs/explanation/models.md: the functions behind `ranktree predict`.

from ranktree.prediction import Hierarchy, Parameters, predict, predict_candidates
predict("bcast", 64, 1 << 20, "node:8 core:8")["base"]["binomial"]      # {"choice": ..., "seconds": ...}
ranks = Hierarchy.flat(64)
predict_candidates("broadcast", 1 << 20, ranks, Parameters.usual(1, 1))
"""

import os
from typing import TYPE_CHECKING, Any

from ranktree import _core
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
from ranktree.placement import tree_of

if TYPE_CHECKING:
    from ranktree.notebook.machine import Machine

__all__ = [
    "Hierarchy",
    "MeasuredParameters",
    "Parameters",
    "collective_algorithms",
    "collective_forms",
    "load_parameters",
    "predict",
    "predict_candidates",
    "predict_cost",
    "predict_groups",
    "predict_segments",
]


def predict(  # noqa: PLR0913  what runs, where, and how it is modelled
    collective: str,
    ranks: int,
    size: int,
    machine: "Machine | str | os.PathLike[str]" = "live",
    *,
    parameters: "str | os.PathLike[str] | None" = None,
    groups: int = 0,
    by_node: bool = False,
    shared: bool = True,
    model: str = "auto",
    network: "str | os.PathLike[str] | None" = None,
) -> dict[str, Any]:
    """Predict the costs of a collective, as `ranktree predict` does for one size.

    Parameters
    ----------
    collective : str
        "bcast", "reduce", "allreduce", "barrier", "gather", "scatter", "allgather", "reduce_scatter" or "alltoall".
    ranks : int
        How many, at least 2.
    size : int
        Bytes of the whole vector, or of one block in collectives of blocks.
    machine : str or os.PathLike or Machine, default "live"
        As `ranktree predict --machine` takes it; or a `ranktree.Machine`, as it is.
    parameters : str or os.PathLike, optional
        A file of `ranktree calibrate`.
    groups : int
        That many groups of consecutive ranks; 0: the machine's levels.
    by_node : bool
        Whether ranks go to nodes in turn.
    shared : bool
        Whether shared memory inside nodes counts, where a node has several ranks.
    model : {"auto", "closed", "hockney", "loggp"}
        Closed forms, or following messages; "auto": "loggp" for up to 32 ranks, "closed" for more.
    network : str or os.PathLike, optional
        As `ranktree predict --network` takes it.

    Returns
    -------
    dict
        "base": the choice and its seconds by algorithm; "hierarchical" and "shared": the cheapest of these kinds, or
        None; "groups": the best number of groups by form and algorithm, with the papers' condition, both as if all
        links were as the outermost, and "best": the choice on this machine, where messages are followed; "model".

    Raises
    ------
    ValueError
        Where an argument or a file is wrong, or the machine has fewer slots than ranks.
    OSError
        Where a file cannot be read.
    """
    if ranks < 2:  # noqa: PLR2004  one rank communicates with no other
        raise ValueError(f"ranks: expected at least 2, found {ranks}")
    tree = tree_of(machine, "core", "hops", network)
    links = None if parameters is None else os.fspath(parameters)
    found: dict[str, Any] = _core.model_launch(tree, ranks, links, by_node).predict(
        collective, 0 if collective == "barrier" else size, model, shared, groups
    )
    return found
