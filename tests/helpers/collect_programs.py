"""Test programs of collectives under a rule of RANKTREE_COLL."""

import os
import subprocess
from pathlib import Path

from tests.helpers.mpis import Mpi

# A time limit is for programs that hang: beside other work, they take many times as long as alone.
SECONDS = 240


def run(  # noqa: PLR0913
    mpi: Mpi, ranks: int, *program: object, rule: str = "native", timeout: int = SECONDS, log: Path | None = None
) -> str:
    """Runs a test program, which must print ok."""
    logged = {} if log is None else {"RANKTREE_COLL_LOG": str(log)}
    done = subprocess.run(
        mpi.launch(ranks, *program),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "RANKTREE_COLL": rule, **logged},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ok"), done.stdout + done.stderr
    return done.stdout
