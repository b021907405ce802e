"""The package is typed: it carries py.typed, and a stub of its extension that nanobind writes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python/ranktree"


def test_the_package_is_marked_as_typed() -> None:
    """Checkers of types look for this file."""
    assert (PACKAGE / "py.typed").exists()


def test_the_stub_is_that_of_the_extension(build_folder: Path, tmp_path: Path) -> None:
    """python -m nanobind.stubgen -m ranktree._core -o python/ranktree/_core.pyi writes it anew."""
    pytest.importorskip("nanobind")
    words = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "ranktree._core", "-o", tmp_path / "stub.pyi"]
    variables = {**os.environ, "PYTHONPATH": str(build_folder / "python")}
    subprocess.run(list(map(str, words)), check=True, timeout=120, env=variables)
    assert (tmp_path / "stub.pyi").read_text(encoding="utf-8") == (PACKAGE / "_core.pyi").read_text(encoding="utf-8")
