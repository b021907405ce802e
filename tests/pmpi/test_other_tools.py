"""eztrace, another tool that wraps MPI calls (Debian), in front of the tracing library and behind it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.mpis import Mpi
from tests.helpers.trace_files import read_trace

RANKS = 3
HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("EZTRACE_LIBRARIES", "/usr/lib/x86_64-linux-gnu"))
pytestmark = [
    pytest.mark.usefixtures("yielding"),
    pytest.mark.skipif(
        not (FOLDER / "libeztrace-lib.so").exists(), reason="eztrace is not installed (Debian: eztrace)"
    ),
]


@pytest.fixture
def traced(mpi: Mpi, compiled, ranktree: Callable, tmp_path: Path, monkeypatch) -> Callable:
    """Traces the program with a preload that eztrace takes part in; what the ranks of a pattern exchange, by class."""
    settings = {"TRACE": mpi.name, "LIBRARY_PATH": FOLDER, "TRACE_DIR": tmp_path}
    for name, value in settings.items():
        monkeypatch.setenv(f"EZTRACE_{name}", str(value))
    if Path("/usr/lib/x86_64-linux-gnu") != FOLDER:
        monkeypatch.setenv("LD_LIBRARY_PATH", str(FOLDER))
    program = compiled(mpi.name, HERE / "program.c")
    tool = f"{FOLDER}/libeztrace-lib.so:{FOLDER}/libeztrace-{mpi.name}.so"

    def run(order: str) -> list:
        before, after = (f"{tool}:", "") if order == "front" else ("", f":{tool}" if order == "behind" else "")
        script = tmp_path / "start.sh"
        script.write_text(f'#!/bin/sh\nLD_PRELOAD="{before}$LD_PRELOAD{after}" exec {program}\n', encoding="ascii")
        script.chmod(0o755)
        path = tmp_path / f"{order}.npz"
        result = ranktree("trace", "-o", path, "--mpi", mpi.name, "--", *mpi.launch(RANKS, script))
        assert result.returncode == 0, result.stderr
        assert read_trace(path).metadata["complete"] is True
        csv = path.with_suffix(".csv")
        assert ranktree("convert", path, "-o", csv).returncode == 0
        return csv.read_text(encoding="utf-8").splitlines()[2:]

    return run


def test_behind_us_it_changes_nothing(traced) -> None:
    assert traced("behind") == traced("alone")


def test_in_front_of_us_its_own_messages_are_counted_too(traced) -> None:
    """It synchronises clocks by messages in MPI_Init; what the program sends is there as without it."""
    alone, front = traced("alone"), traced("front")
    assert len(alone) > 0
    collective = [line for line in alone if line.endswith("collective")]
    assert collective
    assert {line.rsplit(",", 3)[0] for line in alone} <= {line.rsplit(",", 3)[0] for line in front}
