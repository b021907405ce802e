"""Every function that an installed mpi.h declares has a class, and the committed wrappers are those of the table."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "tools/generate_preload.py"


def generate(*options: object) -> subprocess.CompletedProcess[str]:
    """Runs the generator."""
    words = [sys.executable, str(GENERATOR), *map(str, options)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def header(mpi, tmp_path: Path) -> Path:
    """This MPI's mpi.h, preprocessed."""
    path = tmp_path / "mpi.h"
    words = [mpi.mpicc, "-E", "-P", "-x", "c", "-"]
    text = subprocess.run(words, input="#include <mpi.h>\n", capture_output=True, text=True, check=True).stdout
    path.write_text(text)
    return path


def test_every_function_of_the_header_is_classified(header):
    result = generate("--check-header", header)
    assert result.returncode == 0, result.stdout
    found = re.search(r"(\d+) MPI functions, 0 not classified", result.stdout)
    assert found, result.stdout
    assert int(found[1]) > 390


def test_a_function_without_a_class_is_found(header):
    header.write_text(header.read_text() + "\nint MPI_Send_everything(const void* buf, int count);\n")
    result = generate("--check-header", header)
    assert result.returncode == 1
    assert "MPI_Send_everything is not classified" in result.stdout


def test_the_committed_wrappers_are_those_of_the_table():
    pytest.importorskip("pympistandard")
    result = generate("--check")
    assert result.returncode == 0, result.stdout
