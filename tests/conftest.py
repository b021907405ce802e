"""What every command-line test shares."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

RunResult = subprocess.CompletedProcess[str]
FORTRAN_INCLUDES = Path(__file__).resolve().parent / "fortran"
# Open MPI 5 sleeps for a second in MPI_Init where it finds no network of libfabric's for this transport.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")


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
    table = json.loads((build_folder / "mpis.json").read_text(encoding="utf-8"))
    return {entry["name"]: entry for entry in table}


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


# As root, on fewer cores than ranks.
LAUNCHERS = {
    "openmpi": ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"],
    "mpich": ["mpiexec.mpich"],
}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Mpi:
    """One MPI of this machine and the programs that were built for it."""

    name: str
    programs: Path

    def launch(self, ranks: int, *program: object) -> list[str]:
        """The command that starts so many ranks of a program."""
        return [*LAUNCHERS[self.name], "-n", str(ranks), *map(str, program)]

    def program(self, name: str) -> Path:
        """A test program by its name."""
        path = self.programs / f"{name}_{self.name}"
        assert path.exists(), f"{path} is not built"
        return path


@pytest.fixture(params=list(LAUNCHERS))
def mpi(request: pytest.FixtureRequest, build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """Each MPI in turn; skipped where it is not installed, or not part of the build."""
    launcher = LAUNCHERS[request.param][0]
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not installed")
    if not (build_folder / f"lib/libranktree_preload_{request.param}.so").exists():
        pytest.skip(f"{build_folder} is built without {request.param}")
    for name, value in AS_ROOT.items():
        monkeypatch.setenv(name, value)
    return Mpi(request.param, build_folder / "bin")
