"""Every algorithm and every installed peer on the same pattern and machine, all costs by our own evaluation."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from ranktree import _core
from ranktree.peers import PEERS, make_problem, run_peer
from ranktree.usable_machine import usable_slots

PRESETS = ("fast", "default", "strong")
OTHERS = ("treematch", "greedy", "round-robin", "identity")
PEER_LIMIT = 300.0  # seconds, where the user names none


@dataclass(frozen=True)
class Request:
    """What is compared."""

    tree: _core.Tree
    pattern: _core.Pattern | np.ndarray  # a whole matrix is only searched, not compared
    metric: str
    seed: int
    threads: int
    oversubscribe: bool
    limit: float | None
    keep_going: Callable[[], bool]

    def search(self, preset: str) -> dict[str, Any]:
        """The engine's options, by name."""
        return {
            "oversubscribe": self.oversubscribe,
            "preset": preset,
            "threads": self.threads,
            "time_limit": self.limit,
            "keep_going": self.keep_going,
        }

    @property
    def pairs(self) -> _core.Pattern:
        """The pattern that algorithms are compared on."""
        if isinstance(self.pattern, np.ndarray):
            raise TypeError("pattern: expected pairs, found a whole matrix")
        return self.pattern

    @property
    def capacity(self) -> int:
        """Ranks a place takes."""
        slots = usable_slots(self.tree)
        return max(-(-self.pairs.ranks // slots), 1) if self.oversubscribe and slots else 1


@dataclass(frozen=True)
class Result:
    """One row: a cost, or a note with the reason why there is none."""

    name: str
    cost: float | None
    over_bound: float | None
    seconds: float | None
    note: str = ""


def compare(request: Request) -> Iterator[Result]:
    """The rows, in the order in which they are run: ours, then the peers'."""
    bound = _core.lower_bound(request.tree, request.pairs, request.metric, request.capacity)
    runs = [(f"engine, {preset}", "engine", preset) for preset in PRESETS]
    runs += [(name, name, "default") for name in OTHERS]
    for name, algorithm, preset in runs:
        if not request.keep_going():
            yield Result(name, None, None, None, "not run")
            continue
        begin = time.process_time()
        leaf_of = run_ours(request, algorithm, preset)
        yield judged(request, name, leaf_of, time.process_time() - begin, bound)
    problem = None
    for name in PEERS:
        if not request.keep_going():
            yield Result(name, None, None, None, "not run")
            continue
        problem = problem or make_problem(request.tree, request.pairs, request.metric, request.capacity, request.seed)
        answer = run_peer(name, problem, request.limit or PEER_LIMIT, request.keep_going)
        if answer.leaf_of is None:
            yield Result(name, None, None, None, answer.note)
        else:
            yield judged(request, name, answer.leaf_of, answer.seconds, bound)


def run_ours(request: Request, algorithm: str, preset: str) -> np.ndarray:
    """The leaf of each rank."""
    return _core.compute_placement(
        request.tree,
        request.pairs,
        algorithm,
        request.metric,
        request.seed,
        **request.search(preset),
    )


def judged(request: Request, name: str, leaf_of: np.ndarray, seconds: float, bound: float) -> Result:
    """The cost, unless a place holds more ranks than it takes."""
    too_many = int(np.maximum(np.bincount(leaf_of) - request.capacity, 0).sum())
    if too_many > 0:
        return Result(name, None, None, seconds, f"unbalanced: {too_many:,} too many")
    _, cost = _core.evaluate(request.tree, request.pairs, leaf_of.astype(np.int32), request.metric)
    return Result(name, cost, cost / bound if bound > 0 else None, seconds)


def comparison_table(results: list[Result], bound: float) -> Table:
    """The rows, cheapest first; those without a cost last."""
    table = Table(title=f"the same pattern on the same machine; no placement costs less than {bound:,.6g}")
    table.add_column("placed by")
    for name in ("cost", "cost / bound", "CPU seconds"):
        table.add_column(name, justify="right")
    for each in sorted(results, key=lambda result: (result.cost is None, result.cost or 0)):
        cost = each.note if each.cost is None else f"{each.cost:,.6g}"
        ratio = "" if each.over_bound is None else f"{each.over_bound:.3f}"
        table.add_row(each.name, cost, ratio, "" if each.seconds is None else f"{each.seconds:.3f}")
    return table
