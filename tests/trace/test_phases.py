"""Phases of a program whose exchanges alternate."""

from pathlib import Path

import numpy
import pytest
from ranktree import _core


def phases_of(path: Path) -> list[tuple[str, float, list[tuple[int, int, float, float]]]]:
    """Name, count and (from, to, messages, bytes) of each phase."""
    pattern = _core.load_pattern(str(path))[0]
    senders = numpy.repeat(numpy.arange(pattern.ranks), numpy.diff(pattern.indptr))
    assert pattern.phases is not None
    return [
        (
            phase["name"],
            phase["count"],
            [
                (int(senders[pair]), int(pattern.indices[pair]), messages, size)
                for pair, messages, size in zip(phase["pairs"], phase["messages"], phase["bytes"], strict=True)
            ],
        )
        for phase in pattern.phases
    ]


def expected(ranks: int) -> list[tuple[str, float, list[tuple[int, int, float, float]]]]:
    """As the program has them. The half of one rank is all ranks, so that its barrier cuts as well."""
    return [
        (
            "before MPI_Barrier",
            20 if ranks == 1 else 10,
            sorted((rank, (rank + 1) % ranks, 20, 80000) for rank in range(ranks)),
        ),
        ("before MPI_Barrier", 10, sorted((rank, (rank - 1) % ranks, 10, 8000) for rank in range(ranks))),
        ("before MPI_Allreduce", 1, sorted((rank, (rank + 1) % ranks, 1, 10) for rank in range(ranks))),
    ]


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_exchanges_that_alternate_are_phases(mpi, ranks, ranktree, tmp_path) -> None:
    """Their counts are those of the loop; what follows the last call is in none."""
    path = tmp_path / "phases.npz"
    result = ranktree("trace", "-o", path, "--", *mpi.launch(ranks, mpi.program("trace_phases")))
    assert result.returncode == 0, result.stderr
    assert phases_of(path) == expected(ranks)
    pattern = _core.load_pattern(str(path))[0]
    assert pattern.messages.sum() == 32 * ranks
    _core.save_pattern(str(tmp_path / "again.npz"), pattern)
    assert phases_of(tmp_path / "again.npz") == expected(ranks)
    _core.save_pattern(str(tmp_path / "pairs.csv"), pattern)
    assert _core.load_pattern(str(tmp_path / "pairs.csv"))[0].phases is None


def test_a_simulated_run_has_them_too(simulated_program, ranktree, tmp_path) -> None:
    """By the same library."""
    program = simulated_program(Path(__file__).parent / "programs/phases.c")
    path = tmp_path / "phases.npz"
    result = ranktree("trace", "--simulate", "--np", 5, "-o", path, "--", program)
    assert result.returncode == 0, result.stderr
    assert phases_of(path) == expected(5)
