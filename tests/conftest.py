"""What every command-line test shares."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

RunResult = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def command() -> str:
    """The `ranktree` command under test: RANKTREE_COMMAND, or the one on PATH."""
    return os.environ.get("RANKTREE_COMMAND", "ranktree")


@pytest.fixture(scope="session")
def build_folder(command: str) -> Path:
    """The build tree the command belongs to (test programs are in its bin/)."""
    return Path(command).resolve().parent.parent


@pytest.fixture
def ranktree(command: str) -> Callable[..., RunResult]:
    """Runs `ranktree ARGS...` with a time limit and returns its exit code, stdout and stderr."""

    def run(*arguments: object, timeout: float = 120, **options: object) -> RunResult:
        return subprocess.run(
            [command, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, check=False, **options
        )

    return run
