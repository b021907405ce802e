"""The helper program of the launch around this process, which finds where every rank is."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ranktree import _core
from ranktree.advice import mpi_family
from ranktree.helpers import HOW_TO_BUILD, built, helper_for, not_built

SECONDS = 120


def choose_helper() -> Path:
    """The helper of the MPI that this launch is for."""
    family = mpi_family(os.environ)
    helper = helper_for(family) if family else None
    if helper is None:
        known = f"built: {', '.join(built())}; {HOW_TO_BUILD}" if built() else not_built()
        raise RuntimeError(f"where: no helper is built for the MPI of this launch ({family}); {known}")
    return helper


def places_text(helper: Path) -> str:
    """Runs the helper as this rank (it inherits the launcher's variables and descriptors); its text at rank 0."""
    try:
        result = subprocess.run(
            [helper], stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False, close_fds=False
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"where: {helper.name} did not finish in {SECONDS} s") from None
    if result.returncode != 0:
        raise RuntimeError(f"where: {helper.name} failed with exit code {result.returncode}")
    return next((line for line in result.stdout.splitlines() if line.startswith('{"format":"ranktree-ranks"')), "")


def shortened(ranks: Sequence[int]) -> str:
    """`ranks 0-3,7`."""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {_core.cpu_list(ranks)}"
