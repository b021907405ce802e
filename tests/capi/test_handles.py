"""The C++ handles of reordering and collectives: moves, one free of each, errors as ranktree::Error."""

import subprocess
from pathlib import Path

import pytest

from tests.helpers.faked_mpis import Machine, finish, needed_mpi
from tests.helpers.mpis import Mpi

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@pytest.fixture
def program(mpi: Mpi, build_folder: Path, tmp_path: Path) -> Path:
    """handles.cpp, compiled as a user does."""
    lib = build_folder / "lib"
    options = ["-x", "c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    link = [f"-L{lib}", f"-Wl,-rpath,{lib}", f"-lranktree_mpi_{mpi.name}", "-lstdc++"]
    words = [mpi.mpicc, *options, f"-I{ROOT / 'include'}", HERE / "programs/handles.cpp", "-o", tmp_path / "handles"]
    subprocess.run([*map(str, words), *link], check=True, timeout=240)
    return tmp_path / "handles"


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_handles(mpi: Mpi, program: Path, ranks: int) -> None:
    """On one rank, on two, on an odd number."""
    result = subprocess.run(mpi.launch(ranks, program), capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stderr


def test_the_objective_of_a_graph_changes_the_order(mpi: Mpi, program: Path, build_folder: Path) -> None:
    """By the info key; ranks 1 and 2 share a cache, rank 3 is alone in its package."""
    faked = needed_mpi(mpi.name, build_folder)
    machine = Machine("pack:2 l3:2 core:2 pu:2", [list(range(8)), [0, 1], [2], [12]])
    result = finish([*faked.launch_on(4), str(program), "objective"], faked.variables(machine), 60)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stderr
