"""The C libraries' binary interfaces are those of the last release (docs/how-to/install.md): functions may be added,
and nothing else may differ. Those with MPI's types are described for Debian's MPIs. They are described anew when the
minor version changes, or when options grow at their end:

    .venv/bin/python tests/install/test_abi.py build/dev/lib
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.mpis import read_builds

ROOT = Path(__file__).resolve().parents[2]
RELEASED = ROOT / "tests/install/abi"
LIBRARIES = ["libranktree", *(f"libranktree_{kind}_{mpi}" for kind in ("mpi", "paper") for mpi in ("openmpi", "mpich"))]
HEADERS = ROOT / "include/ranktree"
PIN = "name='ranktree_pin' size-in-bits"
# Bits of abidiff's exit code: 4 for a change, 8 for an incompatible one beside it.
CHANGED = 4


def describe(library: Path, output: Path) -> None:
    """Writes the functions of a library and the types of their parameters as the headers show them."""
    options = ["--exported-interfaces-only", "--drop-private-types", "--drop-undefined-syms", "--type-id-style", "hash"]
    options += ["--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--headers-dir", HEADERS]
    words = ["abidw", *options, library, "--out-file", output]
    subprocess.run(list(map(str, words)), check=True, timeout=300)
    output.write_text(output.read_text(encoding="utf-8").replace(f"{ROOT}/", ""), encoding="utf-8")


def difference(released: Path, library: Path) -> tuple[int, str]:
    """What abidiff reports of two descriptions, but for added functions."""
    words = ["abidiff", "--no-added-syms", released, library]
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120, check=False)
    return result.returncode, result.stdout + result.stderr


def described(build_folder: Path, name: str, folder: Path) -> Path:
    """The description of a library of the build tree."""
    if shutil.which("abidw") is None:
        pytest.skip("abidw is not installed (Debian: abigail-tools; make setup)")
    library = build_folder / "lib" / f"{name}.so"
    mpi = name.rpartition("_")[2]
    if mpi in ("openmpi", "mpich") and mpi not in read_builds(build_folder):
        pytest.skip(f"nothing is built for {mpi}")
    output = folder / f"{name}.xml"
    describe(library, output)
    return output


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_interface_is_that_of_the_last_release(name: str, build_folder: Path, tmp_path: Path) -> None:
    """Every function is there, and so is every member of each structure, at its offset."""
    assert difference(RELEASED / f"{name}.xml", described(build_folder, name, tmp_path)) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after", "expected"),
    [
        ("libranktree", f"{PIN}='192'", f"{PIN}='256'", "ranktree_pin"),
        ("libranktree", "name='ranktree_topo_load'", "name='ranktree_topo_gone'", "ranktree_topo_load"),
        ("libranktree_mpi_openmpi", "name='ranktree_Bcast'", "name='ranktree_gone'", "ranktree_Bcast"),
    ],
)
def test_a_change_is_reported(
    name: str, before: str, after: str, expected: str, build_folder: Path, tmp_path: Path
) -> None:
    """A larger structure; functions that are gone."""
    text = described(build_folder, name, tmp_path).read_text(encoding="utf-8")
    assert before in text
    changed = tmp_path / "changed.xml"
    changed.write_text(text.replace(before, after), encoding="utf-8")
    code, report = difference(RELEASED / f"{name}.xml", changed)
    assert code & CHANGED
    assert expected in report


if __name__ == "__main__":
    for each in LIBRARIES:
        describe(Path(sys.argv[1]) / f"{each}.so", RELEASED / f"{each}.xml")
