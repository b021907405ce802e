"""A package with other libraries: without any, a command prints what was looked for and how to build one; an MPI whose
library has an unknown name is served by what was built for it; programs whose library is not here are not chosen."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.helpers.mpis import Mpi
from tests.helpers.packages import package_with, refusal, run

# Cray's MPI library has a name of its own, which only the build knows.
CRAY = {"name": "craympich8", "family": "mpich", "version": "8.1.29", "abi": "mpich"}
SRUN = """#!/bin/sh
# Stands in for Slurm's: prints the libraries that the ranks would load.
echo "$@" | tr ' ,' '\\n\\n' | grep LD_PRELOAD
"""
SEARCH = {"mpis": [], "names": ["mpicc.openmpi", "mpicc"], "folders": ["/opt/none/bin", "/usr/bin"]}
LOOKED_FOR = "it looked for mpicc.openmpi, mpicc in /opt/none/bin, /usr/bin"
HOW_TO_BUILD = "pip install . --config-settings cmake.define.RANKTREE_MPIS=NAME=/path/of/mpicc"
LAUNCH = ["mpiexec", "-n", "1", "true"]


@pytest.fixture
def package(build_folder: Path, tmp_path: Path) -> Path:
    """The package of the build tree with another folder of libraries."""
    return package_with(SEARCH, build_folder, tmp_path)


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
def test_a_command_that_needs_an_mpi_prints_what_was_looked_for(words: list[str], package: Path) -> None:
    """And not that something is missing somewhere."""
    text = refusal(package, *words)
    assert LOOKED_FOR in text
    assert HOW_TO_BUILD in text


def test_so_does_the_place_of_ranks(package: Path) -> None:
    """Under a launcher."""
    variables = {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
    text = refusal(package, "where", **variables)
    assert LOOKED_FOR in text
    assert HOW_TO_BUILD in text


def shared_library(path: Path, *options: object) -> Path:
    """An empty library with its file's name."""
    words = ["cc", "-shared", "-o", path, f"-Wl,-soname,{path.name}", *options, "-x", "c", "/dev/null"]
    subprocess.run(list(map(str, words)), check=True, timeout=60)
    return path


def test_an_mpi_that_only_the_build_knows_is_served(package: Path, tmp_path: Path) -> None:
    """By the name of the library that the program is linked with."""
    lib = package / "ranktree/lib"
    mpi = shared_library(tmp_path / "libmpi_cray.so.12")
    needed = ("-Wl,--no-as-needed", mpi, f"-Wl,-rpath,{tmp_path}")
    shared_library(lib / "libranktree_preload_craympich8.so", *needed)
    program = tmp_path / "app"
    source = "int main(void) { return 0; }"
    subprocess.run(["cc", "-o", program, *needed, "-x", "c", "-"], input=source, text=True, check=True, timeout=60)
    srun = tmp_path / "bin/srun"
    srun.parent.mkdir()
    srun.write_text(SRUN, encoding="ascii")
    srun.chmod(0o755)
    words = ("run", "--split", "--", srun, "-n", "1", program)
    assert "unknown MPI: linked with libmpi_cray.so.12" in run(package, *words).stderr
    (lib / "mpis.json").write_text(json.dumps(SEARCH | {"mpis": [CRAY]}), encoding="utf-8")
    assert run(package, *words).stdout == f"LD_PRELOAD={lib}/libranktree_preload_craympich8.so\n"


@pytest.fixture
def libraries_absent(package: Path, mpi: Mpi, tmp_path: Path) -> Path:
    """As a wheel is: programs with the name of the MPI need a library that is not here, others find theirs."""
    lib = package / "ranktree/lib"
    absent = shared_library(tmp_path / "libmpi_absent.so")
    for program in ("ranks", "bench"):
        words = ["cc", "-o", lib / f"ranktree-{program}-{mpi.name}", "-Wl,--no-as-needed", absent, "-x", "c", "-"]
        subprocess.run(words, input="int main(void) { return 0; }", text=True, check=True, timeout=60)
        (lib / f"ranktree-{program}-other").symlink_to(mpi.build / f"lib/ranktree-{program}-{mpi.name}")
    absent.unlink()
    return package


def test_programs_are_started_that_find_their_library(libraries_absent: Path, mpi: Mpi) -> None:
    result = run(libraries_absent, "bench", "barrier", "--seconds", "0.01", "--", *mpi.launch(2))
    assert result.stdout.startswith("barrier, 2 ranks"), result.stderr


def test_so_is_the_helper_of_a_job(libraries_absent: Path, mpi: Mpi) -> None:
    """Here a job of one rank, which needs no launcher: with its variables alone."""
    of_job = {"openmpi": "OMPI_COMM_WORLD_", "mpich": "PMI_"}[mpi.family]
    variables = {of_job + "SIZE": "1", of_job + "RANK": "0"}
    result = run(libraries_absent, "where", "--json", **variables)
    assert '"rank": 0' in result.stdout, result.stderr


def test_an_mpi_whose_library_is_not_here_is_named(libraries_absent: Path, mpi: Mpi) -> None:
    (libraries_absent / "ranktree/lib/ranktree-ranks-other").unlink()
    text = refusal(libraries_absent, "bench", "barrier", "--", *mpi.launch(2))
    assert f"none of the programs built ({mpi.name}, other) loads " in text
    assert "LD_LIBRARY_PATH" in text
