"""A Python package with a folder of libraries of its own, and its command."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def package_with(table: dict[str, Any], build: Path, folder: Path) -> Path:
    """The package of a build tree whose folder of libraries holds a table of MPIs only; for sys.path."""
    package = folder / "python/ranktree"
    package.mkdir(parents=True)
    for entry in (build / "python/ranktree").iterdir():
        if entry.name != "lib":
            (package / entry.name).symlink_to(entry)
    (package / "lib").mkdir()
    (package / "lib/mpis.json").write_text(json.dumps(table), encoding="utf-8")
    return package.parent


def run(  # noqa: PLR0913  what it runs, and how
    package: Path,
    *words: object,
    first: str = "",
    cwd: Path | None = None,
    timeout: float = 60,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """A command of that package, behind Python's statements `first`."""
    code = f"import sys; sys.path.insert(0, {str(package)!r}); {first}\nfrom ranktree.cli.main import main; main()"
    command = [sys.executable, "-I", "-c", code, *map(str, words)]
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False, env=environment
    )


def refusal(package: Path, *words: str, **variables: str) -> str:
    """What a command that fails prints: one line."""
    result = run(package, *words, **variables)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1), result.stderr
    return result.stderr
