"""A package that was built elsewhere knows no paths of MPI libraries: of those for one library name, the calls that the
program's MPI library has decide."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.helpers.packages import package_with, run

NAME = "libmpi.so.40"
CALLS = {"openmpi": ("MPI_Init", "MPI_Send"), "openmpi5": ("MPI_Init", "MPI_Send", "MPI_Session_init")}
TABLE = [{"name": name, "family": "openmpi", "version": "0", "abi": "openmpi"} for name in CALLS]
SRUN = """#!/bin/sh
# Stands in for Slurm's: prints the libraries that the ranks would load.
echo "$@" | tr ' ,' '\\n\\n' | grep LD_PRELOAD
"""


def compiled(path: Path, source: str, *options: object) -> Path:
    """A file made from a C source."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["cc", "-o", path, "-x", "c", "-", "-x", "none", *options]
    subprocess.run(list(map(str, words)), input=source, text=True, check=True, timeout=60)
    return path


def defining(calls: tuple[str, ...]) -> str:
    """The source of a library with these calls."""
    return "".join(f"int {call}(void) {{ return 0; }}\n" for call in calls)


@pytest.fixture
def package(build_folder: Path, tmp_path: Path) -> Path:
    """Preload libraries for both releases, which know the name of the MPI library and no folder."""
    folder = package_with({"mpis": TABLE, "names": [], "folders": []}, build_folder, tmp_path)
    mpi = compiled(tmp_path / "link" / NAME, defining(CALLS["openmpi5"]), "-shared", f"-Wl,-soname,{NAME}")
    for name, calls in CALLS.items():
        library = folder / f"ranktree/lib/libranktree_preload_{name}.so"
        compiled(library, defining(calls), "-shared", "-fPIC", "-Wl,--no-as-needed", mpi)
    return folder


@pytest.mark.parametrize("release", CALLS)
@pytest.mark.parametrize("names", (("openmpi", "openmpi5"), ("openmpi5", "openmpi")), ids=" ".join)
def test_the_library_of_the_programs_release_is_chosen(
    release: str, names: tuple[str, str], package: Path, tmp_path: Path
) -> None:
    """Whatever the libraries are called: the second time each has the other's name."""
    lib = package / "ranktree/lib"
    if names[0] == "openmpi5":
        files = [lib / f"libranktree_preload_{name}.so" for name in names]
        contents = [file.read_bytes() for file in files]
        for file, content in zip(files, reversed(contents), strict=True):
            file.unlink()
            file.write_bytes(content)
    assert json.loads((lib / "mpis.json").read_text(encoding="utf-8"))["mpis"] == TABLE
    mpi = compiled(tmp_path / release / NAME, defining(CALLS[release]), "-shared", f"-Wl,-soname,{NAME}")
    needed = ("-Wl,--no-as-needed", mpi, f"-Wl,-rpath,{mpi.parent}")
    program = compiled(tmp_path / "app", "int main(void) { return 0; }", *needed)
    srun = tmp_path / "bin/srun"
    srun.parent.mkdir()
    srun.write_text(SRUN, encoding="ascii")
    srun.chmod(0o755)
    expected = dict(zip(CALLS, names, strict=True))[release]
    result = run(package, "run", "--split", "--", srun, "-n", "1", program)
    assert result.stdout == f"LD_PRELOAD={lib}/libranktree_preload_{expected}.so\n", result.stderr
