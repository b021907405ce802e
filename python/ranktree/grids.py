"""The grid of processes that a program could have in place of its own: `ranktree map` names it."""

from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from ranktree import _core
from ranktree.report.verdict import percent
from ranktree.usable_machine import usable_slots

MOST_RANKS = 16384  # what is exact takes too long beside the search above


@dataclass(frozen=True)
class BetterGrid:
    """Dimensions, and the cost of the best placement that was found for each."""

    dims: list[int]
    better: list[int]
    cost: float
    better_cost: float

    def as_dictionary(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)

    def sentence(self) -> str:
        """What to try, and on which condition it holds."""
        own, better = (" x ".join(map(str, dims)) for dims in (self.dims, self.better))
        less = percent(1 - self.better_cost / self.cost)
        return (
            f"The program's grid is {own}; {better} would cost {less} less, if as much is exchanged through each plane "
            "of its domain: ranktree_Cart_create_weighted chooses such grids."
        )


def better_grid(
    tree: "_core.Tree", traffic: "_core.Pattern | np.ndarray", metric: str, worthwhile: float
) -> BetterGrid | None:
    """None where the pattern is no grid, the ranks are not as many as the places, or no grid costs clearly less."""
    if isinstance(traffic, np.ndarray) or metric == "avg" or not 0 < traffic.ranks <= MOST_RANKS:
        return None
    if not traffic.ranks == tree.leaf_count == usable_slots(tree):
        return None
    found = cast(tuple[list[int], list[bool], list[float]] | None, _core.grid_of_pattern(traffic, metric))
    if found is None:
        return None
    dims, periods, weights = found
    cost = float(_core.choose_grid(tree, dims, periods, weights)[3])
    better, _, _, better_cost = _core.choose_grid(tree, [0] * len(dims), periods, weights)
    if not better_cost < cost * (1 - worthwhile):
        return None
    return BetterGrid(dims, better, cost, better_cost)
