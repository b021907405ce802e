"""`ranktree run --collectives` and `--reorder` find their libraries for every MPI that is traced."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PAIRS = """%%MatrixMarket matrix coordinate integer general
3 3 2
1 3 1000
3 1 1000
"""


@pytest.mark.smoke_on("openmpi")
def test_collectives_are_served(ranktree: Callable, mpi, compiled: Callable, tmp_path: Path) -> None:
    """The same bytes as without us, and the log counts the calls as ours."""
    program = compiled(mpi.name, HERE.parent / "collect/preload/every_call.c", "-O1")
    rules = "bcast=messages:binomial:groups=1 allreduce=messages:ring:groups=1"
    options = ("--collectives", rules, "--collectives-log", tmp_path / "log")
    result = ranktree("run", *options, "--", *mpi.launch(3, program, 4))
    assert result.returncode == 0, result.stdout + result.stderr
    log = (tmp_path / "log").read_text(encoding="utf-8")
    for served in (
        "broadcast 4-8: messages:binomial:groups=1 | by rule",
        "allreduce 4-8: messages:ring:groups=1 | by rule",
    ):
        assert served in log
    alone = subprocess.run(mpi.launch(3, program, 4), capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == alone.stdout


@pytest.mark.smoke_on("openmpi")
def test_the_order_of_the_ranks_is_decided(ranktree: Callable, mpi, compiled: Callable, tmp_path, monkeypatch) -> None:
    """Unbound ranks on one node have nothing to gain: the printed reason comes from the library."""
    (tmp_path / "pairs.mtx").write_text(PAIRS, encoding="ascii")
    monkeypatch.setenv("RANKTREE_VERBOSE", "1")
    program = compiled(mpi.name, HERE.parent / "reorder/world/first.c", "-O1")
    result = ranktree("run", "--reorder", tmp_path / "pairs.mtx", "--", *mpi.launch(3, program))
    assert result.returncode == 0, result.stdout + result.stderr
    assert len([line for line in result.stdout.splitlines() if line]) == 3
    assert re.search(r"^ranktree: world: 0 of 3 ranks move", result.stderr, re.M), result.stderr
