"""C, C++, Fortran and Python give the same levels, orders, errors and texts, on every MPI."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.faked_mpis import FakedMpi, Machine, RunResult, built_mpis, finish
from tests.helpers.mpis import DEBIAN, NAMES, mpi4py_variables

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "split" / "programs"
SYNTHETIC = "pack:2 l3:2 core:2 pu:2"
# Rank 0 is bound to a package, too loosely for the caches and cores that ranks 1 and 2 have; rank 3 to one PU of the
# other package.
BINDS = [list(range(8)), [0, 1], [2], [12]]
# By hand.
EXPECTED = {
    1: ["rank 0, levels: 0"],
    3: [
        "rank 0, levels: 0",
        "rank 1, levels: 2",
        "  L3Cache 0 of 1, ranks: 2, root",
        "  Core 0 of 2, ranks: 1, root",
        "rank 2, levels: 2",
        "  L3Cache 0 of 1, ranks: 2",
        "  Core 1 of 2, ranks: 1, root",
    ],
    4: [
        "rank 0, levels: 1",
        "  Package 0 of 2, ranks: 3, root",
        "rank 1, levels: 3",
        "  Package 0 of 2, ranks: 3",
        "  L3Cache 0 of 1, ranks: 2, root",
        "  Core 0 of 2, ranks: 1, root",
        "rank 2, levels: 3",
        "  Package 0 of 2, ranks: 3",
        "  L3Cache 0 of 1, ranks: 2",
        "  Core 1 of 2, ranks: 1, root",
        "rank 3, levels: 1",
        "  Package 1 of 2, ranks: 1, root",
    ],
}

# Every number of ranks on Debian's MPIs, the one with all levels on the wheels', whose bindings have the same source.
SIZES = [(name, ranks) for name in NAMES for ranks in EXPECTED if name in DEBIAN or ranks == max(EXPECTED)]
each_size = pytest.mark.parametrize(("mpi", "ranks"), SIZES, indirect=["mpi"])


def run(mpi: FakedMpi, ranks: int, *command: object, **variables: str) -> RunResult:
    """Runs a program on the machine."""
    machine = Machine(SYNTHETIC, BINDS[:ranks])
    words = [*mpi.launch(ranks), *map(str, command)]
    return finish(words, {**mpi.variables(machine), **variables}, 60)


def succeed(result: RunResult) -> list[str]:
    """The lines of a run that succeeded."""
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.splitlines()


def program(mpi: FakedMpi, name: str) -> Path:
    """A program of the build; skips where this MPI cannot have it."""
    fortran = "calls_" in name or "reorder_" in name
    if ("f08" in name and not mpi.has_f08) or (fortran and not mpi.has_mpif):
        pytest.skip(f"the wheel of {mpi.name} has no such Fortran module")
    path = mpi.build / "bin" / f"{name}_{mpi.name}"
    assert path.exists(), f"{path} is not built"
    return path


def python_variables(mpi: FakedMpi) -> dict[str, str]:
    """What makes mpi4py run on this MPI."""
    if mpi.abi == "standard":
        pytest.skip("mpi4py's wheel has no module for the standard ABI")
    variables = mpi4py_variables(mpi.abi, mpi.build) | {"PYTHONPATH": str(mpi.build / "python")}
    if mpi.is_wheel:
        variables["LD_LIBRARY_PATH"] = str(root_of(mpi) / "lib")
    return variables


def root_of(mpi: FakedMpi) -> Path:
    """Where an MPI of a wheel is; a script that names the folder stands in for Intel's launcher."""
    if mpi.family != "intel":
        return Path(mpi.mpiexec).parents[1]
    script = Path(mpi.mpiexec).read_text(encoding="utf-8")
    return Path(script.partition("I_MPI_ROOT='")[2].partition("'")[0])


def in_order(lines: list[str]) -> list[str]:
    """The lines by rank, from a program whose ranks print by themselves, each line behind its rank."""
    by_rank = sorted((line.split(": ", 1) for line in lines), key=lambda words: int(words[0]))
    return [text for _, text in by_rank]


def closing(ranks: int) -> list[str]:
    """What the examples print at last."""
    return [f"broadcast down the levels: {ranks} of {ranks} ranks have the value"]


@each_size
def test_c_example(mpi: FakedMpi, ranks: int) -> None:
    assert succeed(run(mpi, ranks, program(mpi, "levels"))) == EXPECTED[ranks] + closing(ranks)


@each_size
def test_fortran_example(mpi: FakedMpi, ranks: int) -> None:
    assert succeed(run(mpi, ranks, program(mpi, "levels_f08"))) == EXPECTED[ranks] + closing(ranks)


@each_size
def test_python_example(mpi: FakedMpi, ranks: int) -> None:
    command = [sys.executable, ROOT / "examples" / "levels.py"]
    assert succeed(run(mpi, ranks, *command, **python_variables(mpi))) == EXPECTED[ranks] + closing(ranks)


@each_size
@pytest.mark.parametrize("name", ["hierarchy_calls", "calls_mpif", "calls_usempi", "calls_f08"])
def test_same_levels(mpi: FakedMpi, name: str, ranks: int) -> None:
    """C++, and Fortran by mpif.h, `use mpi` and mpi_f08."""
    assert in_order(succeed(run(mpi, ranks, program(mpi, f"split_{name}"), "levels"))) == EXPECTED[ranks]


@pytest.fixture
def pattern(tmp_path: Path) -> Path:
    """Ranks 0 and 3 send each other 1,000 bytes."""
    path = tmp_path / "pair.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer general\n4 4 2\n1 4 1000\n4 1 1000\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("binding", ["mpif", "usempi", "f08"])
def test_fortran_reorder(mpi: FakedMpi, binding: str, pattern: Path) -> None:
    """Every reordering call; MPI_UNWEIGHTED as array and as scalar."""
    assert succeed(run(mpi, 4, program(mpi, f"split_reorder_{binding}"), pattern)) == ["ok"]


def test_python_reorder(mpi: FakedMpi, pattern: Path) -> None:
    command = [sys.executable, PROGRAMS / "python_reorder.py", pattern]
    assert succeed(run(mpi, 4, *command, **python_variables(mpi))) == ["ok"]


@pytest.mark.parametrize("task", ["calls", "errors"])
@pytest.mark.parametrize("binding", ["mpif", "usempi", "f08"])
def test_fortran_calls(mpi: FakedMpi, binding: str, task: str) -> None:
    """With ierror and without; texts padded and cut; error classes; outputs untouched on error."""
    assert succeed(run(mpi, 4, program(mpi, f"split_calls_{binding}"), task)) == ["ok"]


def test_hierarchy(mpi: FakedMpi) -> None:
    """Moves, frees everything once, nothing after MPI_Finalize; throws the class and the reason."""
    assert succeed(run(mpi, 4, program(mpi, "split_hierarchy_calls"), "calls")) == ["ok"]


def test_python_calls(mpi: FakedMpi) -> None:
    variables = python_variables(mpi)
    assert succeed(run(mpi, 4, sys.executable, PROGRAMS / "python_calls.py", **variables)) == ["ok"]


# The header has no line that depends on an MPI.
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
@pytest.mark.parametrize("copies", [False, True])
def test_a_hierarchy_cannot_be_copied(mpi: FakedMpi, copies: bool) -> None:
    """The program compiles, unless a line copies a Hierarchy."""
    compiler = Path(mpi.mpiexec).parent / Path(mpi.mpiexec).name.replace("mpiexec", "mpicc")
    options = ["-x", "c++", "-std=c++17", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    options += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", *(["-DCOPY"] if copies else [])]
    words = [str(compiler), *options, str(PROGRAMS / "hierarchy_calls.cpp")]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode != 0) == copies, result.stderr
    assert ("use of deleted function" in result.stderr) == copies


DOCUMENTED = {
    "c": ("program.c", "mpicc", []),
    "cpp": ("program.cpp", "mpicxx", ["-std=c++17"]),
    "fortran": ("program.f90", "mpifort", [ROOT / "include" / "ranktree" / "ranktree.f90"]),
}


@pytest.mark.parametrize("language", [*DOCUMENTED, "python"])
def test_documented_program(mpi: FakedMpi, language: str, tmp_path: Path) -> None:
    """The programs of docs/how-to/split-from-your-language.md, built with the command that stands below them."""
    if mpi.name not in {"openmpi", "mpich"}:
        pytest.skip("the documented commands are for MPIs with all wrappers")
    text = (ROOT / "docs/how-to/split-from-your-language.md").read_text(encoding="utf-8")
    source = text.partition(f"```{language}\n")[2].partition("```\n")[0]
    lines = ["Package 0 of 2"] * 3 + ["Package 1 of 2"]
    if language == "python":
        (tmp_path / "program.py").write_text(source, encoding="utf-8")
        result = run(mpi, 4, sys.executable, tmp_path / "program.py", **python_variables(mpi))
        lines = [*lines, "L3Cache 0 of 1", "L3Cache 0 of 1", "Core 0 of 2", "Core 1 of 2"]
    else:
        name, wrapper, options = DOCUMENTED[language]
        (tmp_path / name).write_text(source, encoding="utf-8")
        library = mpi.build / "lib"
        words = [f"{wrapper}.{mpi.name}", *options, name, "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-o", "program"]
        words += [f"-I{ROOT / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", f"-lranktree_mpi_{mpi.name}"]
        subprocess.run(list(map(str, words)), cwd=tmp_path, timeout=120, check=True)
        result = run(mpi, 4, tmp_path / "program")
        if language == "cpp":
            lines = [*lines, "L3Cache 0 of 1", "L3Cache 0 of 1", "Core 0 of 2", "Core 1 of 2"]
    # Ranks print by themselves, and Python a line and its end apart: another rank's line may come between.
    printed = re.findall(r"[A-Z]\w+ \d of \d", "\n".join(succeed(result)))
    assert sorted(printed) == sorted(lines)


def run_python(build_folder: Path, code: str, **variables: str) -> RunResult:
    """A Python program by itself."""
    environment = {**os.environ, "PYTHONPATH": str(build_folder / "python"), **variables}
    words = [sys.executable, "-c", code]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_python_without_mpi4py(build_folder: Path) -> None:
    """The rest of the package does without it; the error of ranktree.mpi names what it needs."""
    result = run_python(build_folder, "import sys; sys.modules['mpi4py'] = None; import ranktree.mpi")
    assert result.returncode != 0
    assert result.stderr.splitlines()[-1] == (
        "ImportError: ranktree.mpi needs mpi4py, version 3.1 or later: pip install mpi4py"
    )


def test_python_without_a_library(build_folder: Path) -> None:
    """A library that was not built for this MPI is named, and what there is."""
    if importlib.util.find_spec("mpi4py") is None or "openmpi" not in built_mpis(build_folder):
        pytest.skip("needs mpi4py and Open MPI")
    code = "from mpi4py import MPI; import ranktree.mpi; ranktree.mpi.levels(MPI.COMM_WORLD)"
    variables = {"MPI4PY_MPIABI": "openmpi", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    result = run_python(build_folder, code, RANKTREE_MPI="other", **variables)
    assert result.returncode != 0
    assert "ImportError: RANKTREE_MPI=other: no libranktree_mpi_<mpi>.so in " in result.stderr
    assert "for Open MPI" in result.stderr
    assert run_python(build_folder, code, RANKTREE_MPI="openmpi", **variables).returncode == 0
