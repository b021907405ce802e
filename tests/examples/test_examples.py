"""The examples run and check themselves, at odd rank counts too, on every MPI of the build."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.mpis import mpi4py_variables

pytestmark = [pytest.mark.launch, pytest.mark.usefixtures("yielding")]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RANKS = (1, 2, 3, 4, 8)
LAUNCHERS = {
    "openmpi": ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"],
    "mpich": ["mpiexec.mpich"],
}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def launch(mpi: str, ranks: int, *command: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a program of an MPI."""
    return subprocess.run(
        [*LAUNCHERS[mpi], "-n", str(ranks), *map(str, command)],
        env={**os.environ, **ROOT, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def program(build_folder: Path, name: str, mpi: str) -> Path:
    """An example of the build; skips when the build does not have this MPI."""
    path = build_folder / "bin" / f"{name}_{mpi}"
    if not path.exists():
        pytest.skip(f"{path.name} is not in this build")
    return path


def result_of(process: subprocess.CompletedProcess[str]) -> dict:
    """The JSON line of a run that must succeed."""
    assert process.returncode == 0, process.stdout + process.stderr
    return json.loads(process.stdout)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_rings(build_folder: Path, mpi: str, ranks: int) -> None:
    options = ["--rings", 3, "--bytes", 20000, "--iterations", 3, "--turns", 2, "--json"]
    result = result_of(launch(mpi, ranks, program(build_folder, "rings", mpi), *options))
    assert result["ranks"] == ranks
    assert result["rings"] == min(3, ranks)
    assert result["seconds_per_iteration"] > 0


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("mpi", LAUNCHERS)
@pytest.mark.parametrize(
    "shape", [["--dimensions", 2], ["--dimensions", 3, "--periodic"]], ids=["open2d", "periodic3d"]
)
def test_stencil(build_folder: Path, mpi: str, ranks: int, shape: list) -> None:
    options = [*shape, "--cells", 5, "--iterations", 4, "--json"]
    result = result_of(launch(mpi, ranks, program(build_folder, "stencil", mpi), *options))
    x, y, z = result["blocks"]
    assert x * y * z == ranks


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_fortran_stencil(build_folder: Path, mpi: str, ranks: int) -> None:
    process = launch(mpi, ranks, program(build_folder, "stencil_f08", mpi), 5, 4)
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stdout.startswith("stencil_f08: ")


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_python_rings(build_folder: Path, mpi: str, ranks: int) -> None:
    program(build_folder, "rings", mpi)
    variables = mpi4py_variables(mpi, build_folder)
    command = [sys.executable, EXAMPLES / "rings.py", "--rings", 2, "--bytes", 4000, "--iterations", 2, "--json"]
    result = result_of(launch(mpi, ranks, *command, **variables))
    assert (result["ranks"], result["rings"]) == (ranks, min(2, ranks))


# The program compares each product with a serial one and stops at a wrong element.
@pytest.mark.parametrize(("ranks", "grid"), [(1, "1x1"), (2, None), (3, "1x3"), (5, "5x1"), (6, "2x3"), (9, "3x3")])
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_summa(build_folder: Path, mpi: str, ranks: int, grid: str | None) -> None:
    shape = ["--grid", grid] if grid else []
    options = ["--size", 37, "--block", 8, "--groups", 2, "--groups", 3, "--iterations", 1, "--check", "--json", *shape]
    result = result_of(launch(mpi, ranks, program(build_folder, "summa", mpi), *options))
    rows, columns = result["grid"]
    assert rows * columns == ranks
    assert grid is None or grid == f"{rows}x{columns}"
    assert {"simple", "groups-2", "groups-3", "topology", "collect"} == {form["name"] for form in result["forms"]}
    assert all(0 < form["communication_median"] <= form["seconds_median"] for form in result["forms"])


# Matrices smaller than the grid, so that some ranks have no elements.
def test_summa_of_small_matrices(build_folder: Path) -> None:
    options = ["--size", 2, "--block", 4, "--groups", 2, "--check", "--json", "--iterations", 1]
    assert result_of(launch("openmpi", 9, program(build_folder, "summa", "openmpi"), *options))["checked"]


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_vectors(build_folder: Path, mpi: str, ranks: int) -> None:
    options = ["--values", 100, "--iterations", 2, "--json"]
    result = result_of(launch(mpi, ranks, program(build_folder, "vectors", mpi), *options))
    assert [each["name"] for each in result["hierarchies"]] == ["topology", "2,2,2", "3,2", "2,4", "4,2"]
    assert all(0 <= each["seconds_min"] <= each["seconds_median"] for each in result["hierarchies"])


# hsplit-2018 §7.4's four configurations, which have 576 ranks there.
def test_vectors_of_the_papers_hierarchies(build_folder: Path) -> None:
    levels = ["3,4,2,3,8", "6,2,2,3,8", "3,2,2,8,6", "3,2,4,6,4"]
    options = [word for level in levels for word in ("--levels", level)]
    command = [program(build_folder, "vectors", "openmpi"), "--values", 3, *options, "--iterations", 1, "--json"]
    result = result_of(launch("openmpi", 13, *command))
    assert [each["name"] for each in result["hierarchies"]] == ["topology", *levels]


@pytest.mark.parametrize("mpi", LAUNCHERS)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rings", ["--bytes", "3"]),
        ("rings", ["--rings"]),
        ("stencil", ["--dimensions", "4"]),
        ("stencil", ["--what"]),
        ("summa", ["--grid", "2x"]),
        ("summa", ["--block", "0"]),
        ("vectors", ["--levels", "2,x"]),
        ("vectors", ["--values"]),
    ],
)
def test_wrong_options_stop_the_run(build_folder: Path, mpi: str, name: str, options: list[str]) -> None:
    said = ""
    # MPICH's launcher may lose the last output of ranks before they exit.
    for _ in range(5):
        process = launch(mpi, 2, program(build_folder, name, mpi), *options)
        assert process.returncode != 0
        said = process.stdout + process.stderr
        if said or mpi == "openmpi":
            break
    assert f"usage: {name}" in said
