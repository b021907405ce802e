"""The choice at run time: what is measured decides, on all ranks alike."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.collect_log import skip_if_overdrawn

SOURCES = Path(__file__).resolve().parent / "preload"


def under_auto(launch: Callable, ranks: int, preload: str, log: Path, *program: object) -> tuple[str, str]:
    """Standard output and the log of a program that must succeed."""
    variables = {"LD_PRELOAD": preload, "RANKTREE_COLL": "auto", "RANKTREE_COLL_LOG": log}
    words = launch(ranks, "env", *(f"{name}={value}" for name, value in variables.items()), *program)
    result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout, log.read_text(encoding="utf-8")


@pytest.mark.parametrize("ranks", [2, 3])
def test_an_mpi_that_is_slow_is_replaced(mpi, compiled, build_folder: Path, tmp_path: Path, ranks: int) -> None:
    """10 ms a call more: tried once the account covers it, later on a busy machine, and used from then on."""
    if ranks > 2 and known_bugs.spins(mpi):
        pytest.skip("more spinning ranks than cores: a call takes as long as the ranks wait for a processor")
    program = compiled(mpi.name, SOURCES / "loop.c", "-O1")
    slow = compiled(mpi.name, SOURCES / "slow_allreduce.c", "-O1", "-shared", "-fPIC", "-ldl")
    preload = f"{build_folder}/lib/libranktree_collect_{mpi.name}.so:{slow}"
    output, text = under_auto(mpi.launch, ranks, preload, tmp_path / "log", program, 600, 4096)
    assert (output.count("right"), output.count("wrong")) == (ranks, 0)  # lines of ranks may mix
    skip_if_overdrawn(text)
    decision = re.search(r"allreduce 16K-32K: (\S+) \| native (\S+ .s) ", text)
    assert decision, text
    assert decision[1] != "native", text
    served = re.search(r"allreduce (\d+) of (\d+) not by the MPI", text)
    assert int(served[1]) >= 100, text
    spent = re.search(r"spent: set-up \S+ .s, agreements \S+ .s, trials \S+ .s; allowed \S+ .s in", text)
    assert spent, text


def test_the_account_is_logged_in_finalize(mpi, compiled, build_folder: Path, tmp_path: Path) -> None:
    """Once, also for communicators that the program does not free, which write no line."""
    program = compiled(mpi.name, SOURCES / "not_freed.c", "-O1")
    preload = f"{build_folder}/lib/libranktree_collect_{mpi.name}.so"
    _, text = under_auto(mpi.launch, 2, preload, tmp_path / "log", program)
    lines = [line for line in text.splitlines() if "in MPI_Finalize: " in line]
    assert len(lines) == 1, lines
    assert re.search(r"in MPI_Finalize: spent: set-up \S+ .s, agreements .*; allowed \S+ .s in", lines[0]), lines
