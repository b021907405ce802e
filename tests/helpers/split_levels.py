"""The levels that levels_dump prints, and those that a vector of tests/split/data expects."""

import json
from collections.abc import Iterator, Sequence

from tests.helpers.mpis import RunResult


def dumped(result: RunResult) -> list[list[dict]]:
    """The levels of every rank, checked to be a rank's own."""
    assert result.returncode == 0, f"exit {result.returncode}: {result.stdout}{result.stderr}"
    ranks = json.loads(result.stdout)
    assert [entry["rank"] for entry in ranks] == list(range(len(ranks)))
    for entry in ranks:
        assert all(entry["rank"] in level["members"] for level in entry["levels"])
    return [entry["levels"] for entry in ranks]


def parents_of(steps: Sequence[dict], depth: int, size: int) -> Iterator[list[int]]:
    """The communicators that are split into those of a step."""
    return iter([list(range(size))] if depth == 0 else steps[depth - 1]["comms"])


def expected(steps: Sequence[dict], size: int) -> list[list[dict]]:
    """The levels of every rank as the vector has them; number and index by their definition."""
    ranks: list[list[dict]] = [[] for _ in range(size)]
    for depth, step in enumerate(steps):
        for parent in parents_of(steps, depth, size):
            parts = sorted(part for part in step["comms"] if set(part) <= set(parent))
            for index, part in enumerate(parts):
                for rank in part:
                    roots = [other[0] for other in parts] if rank == part[0] else None
                    ranks[rank].append(
                        {
                            "type": step["type"],
                            "num_comms": len(parts),
                            "index": index,
                            "members": part,
                            "roots": roots,
                            "compare_parent": "MPI_UNEQUAL",
                            "compare_self": "MPI_CONGRUENT" if len(part) == 1 else "MPI_UNEQUAL",
                        }
                    )
    return ranks
