"""The hosts of a trace on a machine that lacks them."""

from collections.abc import Callable

import numpy as np

from ranktree import _core


def fit_hosts(
    traffic: "_core.Pattern | _core.Weights | np.ndarray",
    tree: _core.Tree,
    notify: Callable[[str], None],
    oversubscribe: bool = False,
) -> None:
    """Reports traced hosts that the machine lacks, and takes them for its nodes in order, so that the plan is compared
    with what ran; where they do not fit in, with the current rank order.
    """
    if not isinstance(traffic, _core.Pattern) or not traffic.metadata["hosts"]:
        return
    nodes, note = _core.traced_nodes(tree, traffic.metadata["hosts"], oversubscribe)
    if note:
        notify(note)
    if nodes:
        traffic.metadata = traffic.metadata | {"hosts": nodes}
