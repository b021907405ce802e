"""The site builds without a warning, and the generated pages are those of today's sources."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Runs Python with both streams captured."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")),
    reason="Sphinx, MyST or Furo is not installed (make docs)",
)
def test_every_page_builds_without_a_warning(tmp_path: Path) -> None:
    result = run("-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html", "docs", tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "reference" / "cli.html").exists()


def test_generated_pages_are_up_to_date() -> None:
    result = run("tools/docs/generate.py", "--check")
    assert result.returncode == 0, result.stdout + result.stderr
