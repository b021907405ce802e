"""A ranktree that was built without any MPI: what needs one says what was looked for, and how to build one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SEARCH = {"mpis": [], "names": ["mpicc.openmpi", "mpicc"], "folders": ["/opt/none/bin", "/usr/bin"]}
LOOKED_FOR = "it looked for mpicc.openmpi, mpicc in /opt/none/bin, /usr/bin"
HOW_TO_BUILD = "pip install . -C cmake.define.RANKTREE_MPIS=NAME=/path/of/mpicc"
LAUNCH = ["mpiexec", "-n", "1", "true"]


@pytest.fixture
def package(build_folder: Path, tmp_path: Path) -> Path:
    """The package of the build tree with another folder of libraries."""
    folder = tmp_path / "python/ranktree"
    folder.mkdir(parents=True)
    for entry in (build_folder / "python/ranktree").iterdir():
        if entry.name != "lib":
            (folder / entry.name).symlink_to(entry)
    (folder / "lib").mkdir()
    (folder / "lib/mpis.json").write_text(json.dumps(SEARCH), encoding="utf-8")
    return folder.parent


def refusal(package: Path, *words: str, **variables: str) -> str:
    """What a command that fails prints: one line."""
    code = f"import sys; sys.path.insert(0, {str(package)!r}); from ranktree.cli.main import main; main()"
    command = [sys.executable, "-I", "-c", code, *words]
    environment = {**os.environ, **variables}
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1), result.stderr
    return result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["trace", "-o", "app.npz", "--", *LAUNCH],
        ["run", "--split", "--", *LAUNCH],
        ["run", "--cart", "--", *LAUNCH],
        ["run", "--collectives", "auto", "--", *LAUNCH],
        ["bench", "bcast", "--np", "2"],
        ["calibrate", "--np", "2"],
        ["tune", "--np", "2"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_command_that_needs_an_mpi_says_what_was_looked_for(words: list[str], package: Path) -> None:
    """And not that something is missing somewhere."""
    text = refusal(package, *words)
    assert LOOKED_FOR in text
    assert HOW_TO_BUILD in text


def test_so_does_the_place_of_ranks(package: Path) -> None:
    """Under a launcher."""
    variables = {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
    text = refusal(package, "topo", "--ranks", **variables)
    assert LOOKED_FOR in text
    assert HOW_TO_BUILD in text
