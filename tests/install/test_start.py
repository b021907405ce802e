"""The command starts fast, imports its own modules alone, and leaves the program's environment as it is."""

import importlib.util
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python/ranktree"
SECONDS = 0.15  # before the launcher starts
STARTS = 25  # of a bare interpreter, which take as long on a usual machine
RUNS = 7


def processor_seconds(*words: object) -> float:
    """Of a command and what it starts: the least of several runs, since others use the machine."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(list(map(str, words)), check=True, capture_output=True, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(RUNS))


def allowed() -> float:
    """Processor seconds; in proportion on a machine where an interpreter starts more slowly."""
    return max(SECONDS, STARTS * processor_seconds(sys.executable, "-I", "-S", "-c", ""))


def test_run_adds_little_before_the_launcher_starts(command: str, mpi) -> None:
    """Its own work, and the launcher's --version, by which it is identified."""
    launch = mpi.launch(1, "sleep", "0.1")  # MPICH's launcher may die of SIGPIPE where a program exits at once
    options = ("--collectives", "native", "--split")
    added = processor_seconds(command, "run", *options, "--", *launch) - processor_seconds(*launch)
    assert added <= allowed()


def test_help_and_version_are_there_at_once(command: str) -> None:
    """No verb is imported for them."""
    limit = allowed()
    assert processor_seconds(command, "--help") <= limit
    assert processor_seconds(command, "--version") <= limit


@pytest.mark.parametrize("name", ("re.py", "ranktree.py", "json.py", "typing.py"))
def test_a_module_in_the_current_folder_is_not_imported(name: str, ranktree: Callable, tmp_path: Path) -> None:
    """Nor one that PYTHONPATH names."""
    (tmp_path / name).write_text("raise SystemExit('imported')\n", encoding="utf-8")
    for words in ("--version", "--help"):
        result = ranktree(words, cwd=tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
    assert "2 places" in ranktree("topo", "core:2", cwd=tmp_path).stdout


@pytest.mark.parametrize("own", (None, "/a/folder:/another"))
def test_the_programs_pythonpath_is_its_own(own: str | None, ranktree: Callable, mpi, monkeypatch) -> None:
    """What we import is not seen by the program."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if own is not None:
        monkeypatch.setenv("PYTHONPATH", own)
    show = ("sh", "-c", 'echo "PYTHONPATH=${PYTHONPATH-unset}"')
    result = ranktree("run", "--split", "--", *mpi.launch(1, *show))
    assert (result.returncode, result.stdout) == (0, f"PYTHONPATH={own or 'unset'}\n"), result.stderr


def test_the_overview_has_every_verb_in_one_sentence() -> None:
    """It imports no verb, so that it starts fast."""
    specification = importlib.util.spec_from_file_location("cli", PACKAGE / "cli/__init__.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    files = {path.stem for path in (PACKAGE / "cli").glob("*.py") if "\ndef command(" in path.read_text()}
    assert set(module.VERBS) == files
    assert all(text.endswith(".") and len(text) < 100 for text in module.VERBS.values())
