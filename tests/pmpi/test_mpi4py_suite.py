"""mpi4py's own tests have the same results bare and under every library. Its source package is downloaded, or lies in
the folder MPI4PY_SOURCE; where it cannot be had, the tests are skipped. `make mpi4py` runs all of them."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.mpis import DEBIAN, Mpi, mpi4py_variables

# The whole suite: `make mpi4py`. Otherwise a part that takes 80 CPU seconds, bare and under the three libraries.
WHOLE = "MPI4PY_SUITE" in os.environ
SECONDS = 3000 if WHOLE else 500
RANKS = (1, 2, 3) if WHOLE else (2,)
STARTED = ["spawn", "dynproc", "util_pool"]  # processes that the program starts itself: test_strangers.py has some
# Thousands of combinations of datatypes, which take minutes; the longest of the others that no library serves.
LONG = ["datatype", "util_dtlib", "io", "pack", "msgspec"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("mpi", DEBIAN if WHOLE else DEBIAN[:1], indirect=True),
]
# Ranks write a line by several calls, and into those of others.
SUMMARY = re.compile(r"Ran \d+ tests?|OK|FAILED|\([a-z ]+=\d[^)]*\)")
LIBRARIES = {
    "trace": ["trace", "-q", "-o", "app.npz"],
    "reorder": ["run", "--reorder", "pairs.mtx"],
    "collectives": ["run", "--no-collectives-cache", "--collectives", "auto"],
}
PAIRS = "%%MatrixMarket matrix coordinate integer general\n{0} {0} 1\n{0} 1 1000\n"


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
        # tarfile's filters came after Debian 12's Python 3.11.2.
        subprocess.run(["tar", "-xf", next(folder.glob("mpi4py-*.tar.gz")), "-C", folder], timeout=60, check=True)
    return found / "test" / "main.py"


def results(output: str) -> Counter:
    """How often each part of the ranks' summaries occurs."""
    return Counter(SUMMARY.findall(output))


@pytest.fixture(scope="module")
def bare() -> dict[tuple[str, int], tuple[int, Counter]]:
    """Exit code and results of the suite without a library, by MPI and ranks."""
    return {}


@pytest.fixture
def launch(mpi: Mpi, ranks: int, build_folder: Path, suite: Path, tmp_path: Path, monkeypatch) -> list[str]:
    """The words that start the suite, in a folder with a pattern for so many ranks."""
    for name, value in mpi4py_variables(mpi.name, build_folder).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.mtx").write_text(PAIRS.format(ranks), encoding="ascii")
    excluded = STARTED if WHOLE else STARTED + LONG
    excluded = [*excluded, "util_sync"] if known_bugs.has(mpi, "mutex-by-rma-hangs") else excluded
    words = [word for module in excluded for word in ("-e", rf"test_{module}\.py")]
    return mpi.launch(ranks, sys.executable, suite, "-q", *words)


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_mpi4py_suite_has_the_same_results(mpi: Mpi, launch, bare, ranktree: Callable, library, ranks) -> None:
    if (mpi.name, ranks) not in bare:
        alone = subprocess.run(launch, capture_output=True, text=True, timeout=SECONDS, check=False)
        expected = results(alone.stdout + alone.stderr)
        assert expected["OK"] + expected["FAILED"] == ranks, alone.stderr
        bare[mpi.name, ranks] = (alone.returncode, expected)
    found = ranktree(*LIBRARIES[library], "--", *launch, timeout=SECONDS)
    assert (found.returncode, results(found.stdout + found.stderr)) == bare[mpi.name, ranks], found.stderr
