"""`ranktree bench` starts ranks that call collectives in several variants, and prints the time of each."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.launch

Run = Callable[..., subprocess.CompletedProcess[str]]
Mpi = Any  # of tests/conftest.py
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
EVERY = "bcast,reduce,allreduce,barrier,gather,scatter,allgather,reduce_scatter,alltoall"


def bench(ranktree: Run, mpi: Mpi, *arguments: object, ranks: int) -> list[dict]:
    """The lines of a run that must succeed."""
    launcher = mpi.launch(ranks)
    result = ranktree("bench", *arguments, "--json", "--seconds", 0.01, "--", *launcher, timeout=100)
    assert result.returncode == 0, result.stdout + result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("ranks", [1, 3])
def test_every_collective_is_measured(ranktree: Run, mpi: Mpi, ranks: int) -> None:
    lines = bench(ranktree, mpi, EVERY, "--sizes", "8,1K", ranks=ranks)
    seen = {(line["collective"], line["variant"]) for line in lines}
    assert len(seen) == 2 * len(EVERY.split(","))
    for line in lines:
        assert "wrong" not in line, line
        assert line["ranks"] == ranks
        assert 0 < line["min"] <= line["median"] <= line["high"]
        assert line["min"] <= line["mean"]
        assert line["calls"] >= 6
        assert line["evidence"] >= 0
        assert line["variant"] != "native" or line["evidence"] < 1, "it never beats itself"
        assert line["variant"] != "native" or line["ratio"] == 1


def test_sizes_are_of_the_whole_vector(ranktree: Run, mpi: Mpi) -> None:
    lines = bench(ranktree, mpi, "bcast,allgather", "--sizes", "64:256", "--variant", "native", ranks=2)
    assert [line["bytes"] for line in lines[::2]] == [64, 128, 256] * 2


def test_a_table_without_json(ranktree: Run, mpi: Mpi) -> None:
    result = ranktree("bench", "bcast", "--sizes", "1K", "--seconds", 0.01, "--", *mpi.launch(2))
    assert result.returncode == 0, result.stderr
    title, head, native, ours = result.stdout.splitlines()
    assert title == "broadcast, 2 ranks on 1 node"
    assert head.split()[:3] == ["bytes", "variant", "median"]
    assert native.split()[:2] == ["1K", "native"]
    assert ours.split()[0] == "auto"


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["nothing"], 2, "no such collective: 'nothing' (expected one of bcast"),
        (["bcast", "--sizes", "8k"], 1, "--sizes: expected a number"),
        (["bcast", "--sizes", "1M:8"], 1, "--sizes: expected a number"),
        (["bcast", "--variant", "fastest"], 1, "choice 'fastest'"),
    ],
)
def test_wrong_arguments_are_named(
    ranktree: Run, mpi: Mpi, arguments: list[str], code: int, reason: str
) -> None:  # what the ranks themselves refuse ends the launcher, with a code of its own
    result = ranktree("bench", *arguments, "--", *mpi.launch(1))
    assert result.returncode == code
    assert reason in result.stderr


@pytest.mark.skipif(shutil.which("mpiexec.openmpi") is None, reason="Open MPI is not installed")
def test_a_launcher_is_found(ranktree: Run) -> None:
    result = ranktree(
        "bench", "barrier", "--np", 2, "--mpi", "openmpi", "--seconds", 0.01, env={**os.environ, **AS_ROOT}
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("barrier, 2 ranks")


def test_an_mpi_that_is_not_built(ranktree: Run) -> None:
    result = ranktree("bench", "bcast", "--mpi", "nobodys")
    assert result.returncode == 1
    assert "--mpi nobodys: expected one of" in result.stderr
