"""How often runs of one program decide alike: the last decision that each run's log has of each kind of call."""

import re
from collections import Counter
from collections.abc import Iterable

NATIVE = "native"
MOST_FLIPS = 0.05
# "ranktree: 4 ranks on 1 node: allreduce 8-16: shared:rabenseifner | native 472 us dropped | ..."
LINE = re.compile(r"^ranktree: (\d+ ranks? on \d+ nodes?): ([^:|]+): (\S+) \| ", re.MULTILINE)

Decisions = dict[str, str]  # the variant of a kind of call on a communicator of one shape


def last_decisions(log: str) -> Decisions:
    """The last variants of a run. A kind without a decision stays native, and has no line."""
    return {f"{shape}, {kind}": variant for shape, kind, variant in LINE.findall(log)}


def by_kind(runs: Iterable[Decisions]) -> dict[str, Counter[str]]:
    """How many runs have each variant last, for each kind that some run has decided."""
    all_runs = list(runs)
    kinds = sorted({kind for run in all_runs for kind in run})
    return {kind: Counter(run.get(kind, NATIVE) for run in all_runs) for kind in kinds}


def flips(counts: Counter[str]) -> int:
    """Runs whose last variant is neither native nor that of most others."""
    ours = [count for variant, count in counts.items() if variant != NATIVE]
    return sum(ours) - max(ours, default=0)


def is_steady(counts: Counter[str]) -> bool:
    """Whether 19 of 20 runs had the same variant or native last."""
    return flips(counts) <= MOST_FLIPS * counts.total()


def text_of(counts: Counter[str]) -> str:
    """ "native 14, shared:flat 6"."""
    return ", ".join(f"{variant} {count}" for variant, count in counts.most_common())
