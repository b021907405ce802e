"""Each MPI in turn, and the paper's examples."""

import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster"), str(HERE.parents[1] / "tools" / "minicluster")]

from fakes import NAMES, Mpi, built_mpis  # noqa: E402


@pytest.fixture(params=NAMES)
def mpi(request: pytest.FixtureRequest, build_folder: Path) -> Mpi:
    """Each MPI in turn; skipped where the build has none of that name."""
    mpis = built_mpis(build_folder)
    if request.param not in mpis:
        pytest.skip(f"{build_folder} is built without {request.param} (tools/mpis.sh installs the wheels)")
    if not os.access(mpis[request.param].mpiexec, os.X_OK):
        pytest.skip(f"{mpis[request.param].mpiexec} is gone")
    return mpis[request.param]


def load_vectors() -> list[dict]:
    """The cases of data/hsplit.json."""
    return json.loads((HERE / "data" / "hsplit.json").read_text(encoding="utf-8"))
