"""Collectives from Fortran and Python, and those with large counts, have the results of the native ones."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.collect_programs import SECONDS
from tests.helpers.mpis import Mpi, mpi4py_variables

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "collect" / "programs"
# Native calls, and schedules, whichever is faster.
RULES = ["native", "messages:binomial/flat:groups=1"]


def run(mpi: Mpi, ranks: int, *program: object, timeout: int = SECONDS, **variables: str) -> str:
    """The output of a program that exits with 0."""
    environment = {**os.environ, **variables}
    words = mpi.launch(ranks, *program)
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python_variables(mpi: Mpi) -> dict[str, str]:
    """What makes mpi4py run on this MPI."""
    return mpi4py_variables(mpi.name, mpi.build) | {"PYTHONPATH": str(mpi.build / "python")}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("binding", ["mpif", "usempi", "f08"])
def test_fortran(mpi: Mpi, binding: str, rule: str) -> None:
    """Every call in each of its forms, with each kind of handles."""
    assert run(mpi, 3, mpi.program(f"collect_fortran_{binding}"), RANKTREE_COLL=rule) == "ok\n"


@pytest.mark.parametrize("rule", RULES)
def test_python(mpi: Mpi, rule: str) -> None:
    """Every call in each of its forms."""
    command = [sys.executable, PROGRAMS / "python_collect.py"]
    assert run(mpi, 3, *command, RANKTREE_COLL=rule, **python_variables(mpi)) == "ok\n"


@pytest.mark.parametrize("rule", RULES)
def test_large_counts(mpi: Mpi, rule: str) -> None:
    """Counts and displacements of MPI_Count and MPI_Aint, small and beyond an int."""
    assert run(mpi, 5, mpi.program("collect_large"), RANKTREE_COLL=rule) == "ok\n"


@pytest.mark.parametrize("variant", ["native", "scheduled"])
def test_more_elements_than_an_int_counts(mpi: Mpi, variant: str, require_gigabytes: Callable[[int], None]) -> None:
    """A broadcast, and reductions in parts and in one, of 2 GiB a rank. Nonblocking ones are refused by the MPI."""
    require_gigabytes(12)
    rule = "native" if variant == "native" else "messages:binomial:groups=1"
    assert run(mpi, 2, mpi.program("collect_large"), variant, RANKTREE_COLL=rule) == "ok\n"


@pytest.mark.parametrize("language", ["fortran", "python"])
def test_documented_program(mpi: Mpi, language: str, tmp_path: Path) -> None:
    """The programs of docs/how-to/call-collectives.md."""
    text = (ROOT / "docs/how-to/call-collectives.md").read_text(encoding="utf-8")
    source = text.partition(f"```{language}\n")[2].partition("```\n")[0]
    if language == "python":
        path = tmp_path / "program.py"
        path.write_text(source, encoding="utf-8")
        said = run(mpi, 3, sys.executable, path, **python_variables(mpi))
    else:
        path = tmp_path / "program.f90"
        path.write_text(source, encoding="utf-8")
        library = mpi.programs.parent / "lib"
        words = [f"mpifort.{mpi.name}", ROOT / "include" / "ranktree" / "ranktree.f90", path, "-o", "program"]
        words += [f"-L{library}", f"-Wl,-rpath,{library}", f"-lranktree_mpi_{mpi.name}"]
        subprocess.run(list(map(str, words)), cwd=tmp_path, timeout=60, check=True)
        said = run(mpi, 3, tmp_path / "program")
    assert re.findall(r"sum \d+", said) == ["sum 3"] * 3
