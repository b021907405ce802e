"""The packages are made, installed in clean Debian roots and used there: the scripts of packaging, by the Makefile's
targets. They need root, the network, and the packages of Debian that docs/how-to/install.md names.
"""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAST_LINES = {"wheel": "ok: all", "sdist": "ok: all", "deb": "ok: all", "recipes": "ok: recipes"}


@pytest.mark.packages
@pytest.mark.timeout(7200)  # without a compiler cache, beside other work
@pytest.mark.parametrize("package", LAST_LINES)
def test_package(package: str) -> None:
    words = ["make", "--no-print-directory", f"test-{package}"]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=7100, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1] == LAST_LINES[package]
