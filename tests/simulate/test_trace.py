"""`ranktree trace --simulate`: the same file as a trace of a real run."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TRACED = ROOT / "tests/trace/programs"
# Source, arguments, ranks: examples that need no library, kernels, and programs that call all there is of a class.
PROGRAMS = {
    "rings": (ROOT / "examples/rings.c", ["--rings", 3, "--bytes", 5000], 8),
    "stencil": (ROOT / "examples/stencil.c", ["--dimensions", 3, "--cells", 8, "--periodic"], 8),
    "cg": (ROOT / "bench/scale/kernels.c", ["cg", "--bytes", 70000], 16),
    "rows": (ROOT / "bench/scale/kernels.c", ["rows", "--bytes", 300], 16),
    "p2p": (TRACED / "p2p.c", ["expected"], 5),
    "collectives": (TRACED / "collectives.c", ["expected"], 5),
    "vectors": (TRACED / "vectors.c", ["expected"], 8),
    "rma": (TRACED / "rma.c", ["expected"], 4),
}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def real_trace(command: str, program: Path, arguments: list, ranks: int, output: Path) -> None:
    """With Open MPI, on this machine."""
    launch = [
        "mpirun.openmpi",
        "--oversubscribe",
        "--bind-to",
        "none",
        "--mca",
        "mpi_yield_when_idle",
        "1",
        "-n",
        ranks,
    ]
    words = [command, "trace", "-q", "-o", output, "--", *launch, program, *arguments]
    environment = {**os.environ, **AS_ROOT}
    subprocess.run(
        list(map(str, words)), check=True, timeout=120, env=environment, cwd=output.parent, capture_output=True
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_simulated_trace_is_that_of_a_real_run(  # noqa: PLR0913  what it runs, and with what
    name: str,
    command: str,
    ranktree: Callable,
    compiled: Callable,
    mpi_builds: dict,
    simulated_program: Callable,
    tmp_path: Path,
) -> None:
    if "openmpi" not in mpi_builds:
        pytest.skip("Open MPI is not installed: no real run to compare with")
    source, arguments, ranks = PROGRAMS[name]
    real, simulated = tmp_path / "real.npz", tmp_path / "simulated.npz"
    real_trace(command, compiled("openmpi", source), arguments, ranks, real)
    program = simulated_program(source)
    result = ranktree(
        "trace", "-q", "--simulate", "--np", ranks, "-o", simulated, "--", program, *arguments, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    with np.load(real) as expected, np.load(simulated) as found:
        assert sorted(found.files) == sorted(expected.files)
        for array in expected.files:
            if array != "metadata":
                assert np.array_equal(found[array], expected[array]), array
        metadata = [json.loads(bytes(file["metadata"])) for file in (found, expected)]
    assert metadata[0]["unattributed"] == metadata[1]["unattributed"]
    assert metadata[0]["complete"] is True
    assert metadata[0]["program"] == " ".join([str(program), *map(str, arguments)])
    assert metadata[0]["mpi"].startswith("SMPI")


def test_both_options_or_neither(ranktree: Callable, tmp_path: Path) -> None:
    for options in (["--simulate"], ["--np", 4]):
        result = ranktree("trace", *options, "-o", tmp_path / "app.npz", "--", "./app")
        assert result.returncode == 2
        assert "--simulate and --np" in result.stderr


def test_a_program_that_aborts_leaves_what_it_did(
    ranktree: Callable, simulated_program: Callable, tmp_path: Path
) -> None:
    program = simulated_program(ROOT / "examples/rings.c")
    result = ranktree("trace", "--simulate", "--np", 4, "-o", tmp_path / "app.npz", "--", program, "--bytes", "x")
    assert result.returncode != 0
    assert "of 4 ranks were ended by MPI_Abort or by a deadlock" in result.stderr
    assert len(list((tmp_path / "app.npz.parts").iterdir())) > 0
