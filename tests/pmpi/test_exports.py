"""A preload library has no MPI call that its MPI lacks: a program that looks one up finds what it finds without us."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.mpis import NAMES, Mpi, mpi4py_variables

C_NAME = re.compile(r" [TWV] (P?MPIX?_[A-Z][a-z]\w*)$", re.M)  # MPI_ATTR_GET and the like are Fortran's
# Calls of ranktree/paper.h: of no MPI, and found by programs that were written for them only.
PAPER = {"MPI_Comm_hsplit_with_roots", "MPI_Comm_get_hlevel_info", "MPI_Comm_get_min_hlevel"}


def exported(*libraries: Path) -> set[str]:
    """The MPI calls that libraries define."""
    words = ["nm", "-D", "--defined-only", *map(str, libraries)]
    return set(C_NAME.findall(subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout))


@pytest.mark.parametrize("kind", ["preload", "world", "collect"])
@pytest.mark.parametrize("name", NAMES)
def test_no_call_but_those_of_the_mpi(build_folder: Path, name: str, kind: str) -> None:
    library = build_folder / "lib" / f"libranktree_{kind}_{name}.so"
    if not library.exists():
        pytest.skip(f"{library} is not built")
    listing = subprocess.run(["ldd", library], capture_output=True, text=True, check=True, timeout=60).stdout
    below = [Path(path) for path in re.findall(r"=> (\S*/libmpi\S*)", listing)]
    known, ours = exported(*below), exported(library)
    assert len(known) > 600, below
    assert "MPI_Init" in ours
    assert sorted(ours - known - (PAPER if kind == "preload" else set())) == []


def test_mpi4py_finds_the_calls_of_the_mpi(mpi: Mpi, build_folder, ranktree, tmp_path, monkeypatch) -> None:
    """The same bare and under every library; Open MPI 4.1 lacks them all."""
    for name, value in mpi4py_variables(mpi.name, build_folder).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "pairs.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 9\n")
    launch = mpi.launch(2, sys.executable, Path(__file__).with_name("absent_calls.py"))
    bare = subprocess.run(launch, capture_output=True, text=True, timeout=120, check=True).stdout
    assert len(bare.splitlines()) == 5
    if mpi.name == "openmpi":
        assert bare.count("NotImplementedError") == 5
    for words in (["trace", "-q", "-o", "a.npz"], ["run", "--reorder", "pairs.mtx"], ["run", "--collectives", "auto"]):
        assert ranktree(*words, "--", *launch, cwd=tmp_path).stdout == bare
