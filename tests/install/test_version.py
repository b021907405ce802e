"""One version: CMake's, Python's, C's, and the newest heading of CHANGELOG.md."""

import ctypes
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("MAJOR", "MINOR", "PATCH")


def only(pattern: str, path: str) -> str:
    """What the first match of a file's text has in parentheses."""
    found = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.M)
    assert found, f"{path}: no {pattern}"
    return found[1]


@pytest.fixture(scope="module")
def version() -> str:
    """CMake's, which the others take theirs from or have to equal."""
    return only(r"^project\(ranktree VERSION (\d+\.\d+\.\d+) ", "CMakeLists.txt")


def test_the_header_has_it(version: str) -> None:
    """As three numbers."""
    parts = (only(rf"^#define RANKTREE_VERSION_{part} (\d+)$", "include/ranktree/base.h") for part in PARTS)
    assert ".".join(parts) == version


def test_the_library_has_it(version: str, build_folder: Path) -> None:
    """At run time."""
    function = ctypes.CDLL(str(build_folder / "lib/libranktree.so")).ranktree_version
    function.restype = ctypes.c_char_p
    assert function().decode() == version


def test_the_library_has_the_version_of_its_interface(version: str, build_folder: Path) -> None:
    """The number that RANKTREE_API_VERSION is in a program."""
    major, minor, _ = map(int, version.split("."))
    found = ctypes.CDLL(str(build_folder / "lib/libranktree.so")).ranktree_api_version()
    assert found == (major << 16 | minor << 8)


def test_the_newest_heading_of_the_changelog_has_it(version: str) -> None:
    """Released or not."""
    assert only(r"^## (\S+)", "CHANGELOG.md") == version


def test_python_has_it(version: str, build_folder: Path) -> None:
    """Without numpy or anything else."""
    code = f"import sys; sys.path.insert(0, '{build_folder / 'python'}'); import ranktree; print(ranktree.__version__)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == f"{version}\n"


def test_the_command_prints_it(version: str, ranktree: Callable) -> None:
    """And nothing else."""
    result = ranktree("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"ranktree {version}\n", "")


def test_the_wheel_takes_it_from_cmake() -> None:
    """pyproject.toml has none of its own, which could differ."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in text
    pattern = only(r"^regex = '(.*)'$", "pyproject.toml")
    assert re.search(pattern, (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
