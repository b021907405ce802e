"""Every function an mpi.h declares has a class in src/preload/calls.tsv, and the committed wrappers are the generated ones."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "tools/generate_preload.py"


def preprocessed(compiler: str, folder: Path) -> Path:
    """What a program that includes mpi.h sees."""
    source, output = folder / "include.c", folder / "include.i"
    source.write_text("#include <mpi.h>\n", encoding="utf-8")
    subprocess.run([compiler, "-E", "-P", str(source), "-o", str(output)], check=True, timeout=60)
    return output


def check(header: Path) -> subprocess.CompletedProcess[str]:
    """The generator's verdict on a header."""
    return subprocess.run(
        [sys.executable, str(GENERATOR), "--check-header", str(header)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("compiler", ["mpicc.openmpi", "mpicc.mpich"])
def test_every_declared_function_has_a_class(compiler: str, tmp_path: Path) -> None:
    """A new MPI with a call nobody thought about is noticed here."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    result = check(preprocessed(compiler, tmp_path))
    assert result.returncode == 0, result.stdout
    assert "0 not classified" in result.stdout


@pytest.mark.parametrize("compiler", ["mpicc.openmpi", "mpicc.mpich"])
def test_an_unknown_function_is_named(compiler: str, tmp_path: Path) -> None:
    """The check can fail."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    header = preprocessed(compiler, tmp_path)
    with header.open("a", encoding="utf-8") as file:
        file.write("extern int MPI_Teleport(const void *buf, int count);\n")
    result = check(header)
    assert result.returncode == 1
    assert "MPI_Teleport is not classified" in result.stdout


def test_a_file_that_is_no_header_is_refused(tmp_path: Path) -> None:
    """Nothing found is not nothing wrong."""
    header = tmp_path / "empty.h"
    header.write_text("int main(void);\n", encoding="utf-8")
    assert check(header).returncode == 1


def test_the_committed_wrappers_are_the_generated_ones() -> None:
    """calls.tsv, the generator and src/preload/generated belong together."""
    pytest.importorskip("pympistandard")
    result = subprocess.run(
        [sys.executable, str(GENERATOR), "--check"], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stdout
