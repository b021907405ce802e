"""What every command-line test shares."""

import atexit
import contextlib
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import mpis
from tests.helpers.mpis import DEBIAN, WHEELS, Mpi, RunResult, needed_mpi, read_builds

FORTRAN_INCLUDES = Path(__file__).resolve().parent / "fortran"
# Open MPI 5 sleeps for a second in MPI_Init where it finds no network of libfabric's for this transport.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")
# Without it every MPI_Init looks for Omni-Path by libpsm2 and libfabric, and for InfiniBand by UCX: 0.2 s in
# Open MPI 4.1, half the CPU time in 5.
os.environ.setdefault("OMPI_MCA_pml", "^cm,ucx")
# Open MPI 4.1 has hwloc list PCI devices, whose registers a virtual machine reads slowly: a quarter of the CPU time of
# a run of 4 ranks.
os.environ.setdefault("HWLOC_COMPONENTS", "-linux:pci,-pci,-opencl,-gl")
# The last of a user's runs on a host removes the folder of Open MPI 4.1 that another may be about to use: runs of other
# workers have other folders.
SESSIONS = tempfile.mkdtemp(prefix="ranktree-ompi-")
atexit.register(shutil.rmtree, SESSIONS, ignore_errors=True)
os.environ.update(OMPI_MCA_orte_tmpdir_base=SESSIONS)
# NumPy's threads, which nothing here needs, spin for as long as its import takes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The package beside the command under test, where the build has one: Python keeps the first that anything imports.
if "RANKTREE_COMMAND" in os.environ:
    sys.path.insert(0, str(Path(os.environ["RANKTREE_COMMAND"]).resolve().parents[1] / "python"))
    with contextlib.suppress(ImportError):
        importlib.import_module("ranktree")


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
    return read_builds(build_folder)


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


@pytest.fixture
def yielding(build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks that wait leave the cores to others, for tests without the fixture `mpi`, which has the same effect."""
    if found := mpis.yielding(build_folder):
        monkeypatch.setenv("LD_PRELOAD", ":".join(found))


@pytest.fixture(params=DEBIAN)
def mpi(request: pytest.FixtureRequest, mpi_builds: dict, build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """Each of Debian's MPIs in turn; skipped where the build is without it."""
    return needed_mpi(request.param, mpi_builds, build_folder, monkeypatch)


@pytest.fixture(scope="session")
def simgrid(build_folder: Path) -> None:
    """Skips where SimGrid is missing."""
    if shutil.which("smpirun") is None or not (build_folder / "lib/libranktree_platform.so").exists():
        pytest.skip("SimGrid is not installed (Debian: simgrid, libsimgrid-dev), or was not when Ranktree was built")


@pytest.fixture(scope="session")
def simulated_program(simgrid: None, command: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a source by `ranktree simulate --compile`, once for all tests."""
    folder = tmp_path_factory.mktemp("simulated")
    known: dict[Path, Path] = {}

    def compile_(source: Path, *options: object) -> Path:
        if source not in known:
            program = folder / f"{source.stem}_{len(known)}"
            language = {".c": "cc", ".cpp": "c++"}.get(source.suffix, "f90")
            words = [command, "simulate", "--compile", "--", language, "-O1", source, "-o", program, *options]
            environment = {**os.environ, "TMPDIR": str(folder)}
            subprocess.run(list(map(str, words)), check=True, timeout=120, env=environment, cwd=folder)
            known[source] = program
        return known[source]

    return compile_


# What a test needs, by the fixtures and parameters it has; `slow` and `smoke_on` are written at the tests.
LABELS = {
    "launch": {"mpi", "any_mpi", "mpiexec", "compiled", "made", "mpi_builds"},
    "cluster": {"cluster", "make_cluster", "minicluster"},
    "browser": {"browser"},
    "simgrid": {"simgrid", "simulated_program"},
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Labels tests, so that `-m` can choose them."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        for label, fixtures in LABELS.items():
            if names & fixtures:
                item.add_marker(label)
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if any(isinstance(value, str) and value in WHEELS for value in parameters.values()):
            item.add_marker("wheel")
        values = {value for value in parameters.values() if isinstance(value, str | int)}
        if any(set(chosen.args) <= values for chosen in item.iter_markers("smoke_on")):
            item.add_marker("smoke")
    if "packages" not in config.option.markexpr:
        leave_out_packages(config, items)
    begin_with_long_files(items)


def leave_out_packages(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that take an hour run only where `-m` names their label."""
    left_out = [item for item in items if item.get_closest_marker("packages")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


# Few tests that take long. Files like these are begun first, as are those of many tests: the last would end alone.
LONG = {"test_mpi4py_suite.py", "test_optimize.py", "test_slurm.py", "test_install.py", "test_decisions_kept.py"}


def begin_with_long_files(items: list[pytest.Item]) -> None:
    """Orders files for `--dist loadfile --no-loadscope-reorder`."""
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path.name not in LONG, -tests[item.path], item.path))
