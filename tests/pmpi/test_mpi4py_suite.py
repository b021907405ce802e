"""mpi4py's own tests have the same results bare and under every library. Its source package is downloaded, or lies in
the folder MPI4PY_SOURCE; where it cannot be had, the tests are skipped."""

import os
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.mpis import Mpi, mpi4py_variables

RANKS = 2
SECONDS = 1500
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("yielding"),
    pytest.mark.skipif("MPI4PY_SUITE" not in os.environ, reason="part of make mpi4py"),
]
SUMMARY = re.compile(r"^(?:Ran \d+ tests|OK.*|FAILED.*)", re.M)
LIBRARIES = {
    "trace": ["trace", "-q", "-o", "app.npz"],
    "reorder": ["run", "--reorder", "pairs.mtx"],
    "collectives": ["run", "--no-collectives-cache", "--collectives", "auto"],
}
PAIRS = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 1000\n2 1 1000\n"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """main.py of the tests of the installed mpi4py's version."""
    mpi4py = pytest.importorskip("mpi4py")
    folder = Path(os.environ.get("MPI4PY_SOURCE", tmp_path_factory.mktemp("mpi4py")))
    found = folder / f"mpi4py-{mpi4py.__version__}"
    if not found.is_dir():
        words = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py", "-d", folder]
        words = [*map(str, words), "--disable-pip-version-check", f"mpi4py=={mpi4py.__version__}"]
        result = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
        if result.returncode != 0:
            pytest.skip(f"mpi4py's source package cannot be had: {result.stderr.strip().splitlines()[-1:]}")
        with tarfile.open(next(folder.glob("mpi4py-*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
    return found / "test" / "main.py"


def results(output: str) -> Counter:
    """How often each summary line of a rank occurs."""
    return Counter(re.sub(r" in [\d.]+s", "", line) for line in SUMMARY.findall(output))


@pytest.fixture(scope="module")
def bare() -> dict[str, Counter]:
    """What the suite gives without a library, by MPI."""
    return {}


@pytest.mark.parametrize("library", LIBRARIES)
def test_mpi4py_suite_has_the_same_results(
    mpi: Mpi, build_folder: Path, suite: Path, bare, ranktree: Callable, tmp_path: Path, monkeypatch, library
) -> None:
    for name, value in mpi4py_variables(mpi.name, build_folder).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "pairs.mtx").write_text(PAIRS, encoding="ascii")
    # Without processes that the program starts itself: test_strangers.py has some.
    modules = ["-e", "spawn", "-e", "dynproc", "-e", "util_pool"]
    launch = mpi.launch(RANKS, sys.executable, suite, "-q", *modules)
    if mpi.name not in bare:
        alone = subprocess.run(launch, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
        bare[mpi.name] = results(alone.stdout + alone.stderr)
        assert sum(bare[mpi.name].values()) == 2 * RANKS, alone.stderr
    found = ranktree(*LIBRARIES[library], "--", *launch, cwd=tmp_path, timeout=SECONDS)
    assert results(found.stdout + found.stderr) == bare[mpi.name], found.stderr
