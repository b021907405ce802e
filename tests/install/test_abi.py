"""The C library's binary interface is that of the last release (docs/how-to/install.md): functions may be added, and
nothing else may differ. It is described anew when the minor version changes, or when options grow at their end:

    .venv/bin/python tests/install/test_abi.py build/dev/lib/libranktree.so
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RELEASED = ROOT / "tests/install/abi/libranktree.xml"
HEADERS = ROOT / "include/ranktree"
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


@pytest.fixture(scope="module")
def described(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the build tree."""
    if shutil.which("abidw") is None:
        pytest.skip("abidw is not installed (Debian: abigail-tools; make setup)")
    output = tmp_path_factory.mktemp("abi") / "libranktree.xml"
    describe(build_folder / "lib/libranktree.so", output)
    return output


@pytest.mark.slow
def test_the_interface_is_that_of_the_last_release(described: Path) -> None:
    """Every function is there, and so is every member of each structure, at its offset."""
    assert difference(RELEASED, described) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("name='ranktree_pin' size-in-bits='192'", "name='ranktree_pin' size-in-bits='256'", "ranktree_pin"),
        ("name='ranktree_topo_load'", "name='ranktree_topo_gone'", "ranktree_topo_load"),
    ],
)
def test_a_change_is_reported(before: str, after: str, expected: str, described: Path, tmp_path: Path) -> None:
    """A larger structure; a function that is gone."""
    text = described.read_text(encoding="utf-8")
    assert before in text
    changed = tmp_path / "changed.xml"
    changed.write_text(text.replace(before, after), encoding="utf-8")
    code, report = difference(RELEASED, changed)
    assert code & CHANGED
    assert expected in report


if __name__ == "__main__":
    describe(Path(sys.argv[1]), RELEASED)
