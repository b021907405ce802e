"""The programs of docs/how-to/reorder-from-your-language.md, built with the commands below them, in every language."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.faked_mpis import AS_ROOT, built_mpis, finish
from tests.helpers.mpis import mpi4py_variables

pytestmark = [pytest.mark.launch, pytest.mark.usefixtures("yielding")]

ROOT = Path(__file__).resolve().parents[2]

RANKS = 4
BOUND = {
    "openmpi": ["--oversubscribe", "--bind-to", "core:overload-allowed", "--map-by", "core"],
    "mpich": ["-bind-to", "core"],
}
SOURCES = ROOT / "include" / "ranktree"
MADE = {
    "c": ("program.c", "mpicc", []),
    "fortran": ("program.f90", "mpifort", [SOURCES / "ranktree.f90"]),
    "fortran77": ("program.f90", "mpifort", [SOURCES / "ranktree_mpif.f90"]),
}
PAIRS = "%%MatrixMarket matrix coordinate integer general\n4 4 4\n1 2 1000\n2 1 1000\n3 4 1000\n4 3 1000\n"


@pytest.fixture(params=list(BOUND))
def name(request: pytest.FixtureRequest, build_folder: Path) -> str:
    """Each of Debian's MPIs."""
    if request.param not in built_mpis(build_folder):
        pytest.skip(f"{build_folder} is built without {request.param}")
    return request.param


def make(name: str, build_folder: Path, block: str, folder: Path) -> list[str]:
    """Writes a program of the page and builds it; returns the words that start it."""
    text = (ROOT / "docs/how-to/reorder-from-your-language.md").read_text(encoding="utf-8")
    source = text.partition(f"```{block}\n")[2].partition("```\n")[0]
    assert source, block
    language = block.partition("-")[0]
    if language == "python":
        if importlib.util.find_spec("mpi4py") is None:
            pytest.skip("mpi4py is not installed")
        (folder / "program.py").write_text(source, encoding="utf-8")
        return [sys.executable, str(folder / "program.py")]
    file, wrapper, options = MADE[language]
    (folder / file).write_text(source, encoding="utf-8")
    library = build_folder / "lib"
    words = [f"{wrapper}.{name}", *options, file, "-o", "program", f"-I{ROOT / 'include'}"]
    words += [f"-L{library}", f"-Wl,-rpath,{library}", f"-lranktree_mpi_{name}"]
    subprocess.run(list(map(str, words)), cwd=folder, timeout=120, check=True)
    return [str(folder / "program")]


def run(name: str, build_folder: Path, words: list[str]) -> list[str]:
    """The lines of a run on two PUs round robin, sorted."""
    variables = {**os.environ, **AS_ROOT, **mpi4py_variables(name, build_folder)}
    variables["PYTHONPATH"] = str(build_folder / "python")
    result = finish([f"mpiexec.{name}", *BOUND[name], "-n", str(RANKS), *words], variables, 60)
    assert result.returncode == 0, result.stdout + result.stderr
    return sorted(line.strip() for line in result.stdout.splitlines())


@pytest.mark.skipif(len(os.sched_getaffinity(0)) != 2, reason="ranks are placed round robin on two PUs")
@pytest.mark.parametrize("language", ["c", "fortran", "fortran77", "python"])
def test_pairs(name: str, build_folder: Path, tmp_path: Path, language: str) -> None:
    lines = run(name, build_folder, make(name, build_folder, language, tmp_path))
    assert lines == ["0 talks to 1", "1 talks to 0", "2 talks to 3", "3 talks to 2", "order: central"]


@pytest.mark.parametrize("language", ["c", "fortran", "python"])
def test_a_recorded_pattern(name: str, build_folder: Path, tmp_path: Path, language: str) -> None:
    (tmp_path / "pairs.mtx").write_text(PAIRS, encoding="ascii")
    words = make(name, build_folder, f"{language}-pattern", tmp_path)
    lines = run(name, build_folder, [*words, str(tmp_path / "pairs.mtx")])
    assert lines == [f"{rank} of the new order" for rank in range(RANKS)]


@pytest.mark.parametrize("language", ["c", "fortran", "python"])
def test_a_grid_that_fits(name: str, build_folder: Path, tmp_path: Path, language: str) -> None:
    assert run(name, build_folder, make(name, build_folder, f"{language}-grid", tmp_path)) == ["4 x 1"]
