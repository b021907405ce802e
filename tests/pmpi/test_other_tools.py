"""Other tools that wrap MPI calls, in front of the tracing library and behind it: eztrace (Debian), and Darshan, which
Debian 12 lacks: DARSHAN_LIBRARY names its library, with {mpi} for openmpi and mpich."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.mpis import Mpi
from tests.helpers.trace_files import read_trace

RANKS = 3
HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("EZTRACE_LIBRARIES", "/usr/lib/x86_64-linux-gnu"))


def start_script(folder: Path, program: Path, order: str, tool: str) -> Path:
    """Starts the program with a tool in front of what is preloaded already, behind it, or without."""
    before, after = (f"{tool}:", "") if order == "front" else ("", f":{tool}" if order == "behind" else "")
    script = folder / "start.sh"
    script.write_text(f'#!/bin/sh\nLD_PRELOAD="{before}$LD_PRELOAD{after}" exec {program}\n', encoding="ascii")
    script.chmod(0o755)
    return script


@pytest.fixture
def traced(mpi: Mpi, compiled, ranktree: Callable, tmp_path: Path) -> Callable:
    """Traces the program with a preload that a tool takes part in; what the ranks of a pattern exchange, by class."""
    program = compiled(mpi.name, HERE / "program.c")

    def run(order: str, tool: str = "") -> list:
        script = start_script(tmp_path, program, order, tool)
        path = tmp_path / f"{order}.npz"
        result = ranktree("trace", "-o", path, "--mpi", mpi.name, "--", *mpi.launch(RANKS, script))
        assert result.returncode == 0, result.stderr
        assert read_trace(path).metadata["complete"] is True
        csv = path.with_suffix(".csv")
        assert ranktree("convert", path, "-o", csv).returncode == 0
        return csv.read_text(encoding="utf-8").splitlines()[2:]

    return run


@pytest.fixture
def eztrace(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its libraries, and the settings that it is started with."""
    if not (FOLDER / "libeztrace-lib.so").exists():
        pytest.skip("eztrace is not installed (Debian: eztrace)")
    settings = {"TRACE": mpi.name, "LIBRARY_PATH": FOLDER, "TRACE_DIR": tmp_path}
    for name, value in settings.items():
        monkeypatch.setenv(f"EZTRACE_{name}", str(value))
    if Path("/usr/lib/x86_64-linux-gnu") != FOLDER:
        monkeypatch.setenv("LD_LIBRARY_PATH", str(FOLDER))
    return f"{FOLDER}/libeztrace-lib.so:{FOLDER}/libeztrace-{mpi.name}.so"


def test_eztrace_behind_us_changes_nothing(traced, eztrace) -> None:
    assert traced("behind", eztrace) == traced("alone")


def test_messages_of_eztrace_in_front_of_us_are_counted_too(traced, eztrace) -> None:
    """It synchronises clocks by messages in MPI_Init."""
    has_all(traced("front", eztrace), traced("alone"))


@pytest.mark.parametrize("order", ["front", "behind"])
@pytest.mark.parametrize("what", ["--reorder", "--collectives"])
def test_results_are_right_with_eztrace(mpi, compiled, ranktree, eztrace, what, order, tmp_path) -> None:
    """The program checks them itself."""
    pairs = tmp_path / "pairs.mtx"
    pairs.write_text("%%MatrixMarket matrix coordinate integer general\n3 3 1\n3 1 1000\n", encoding="ascii")
    script = start_script(tmp_path, compiled(mpi.name, HERE / "program.c"), order, eztrace)
    setting = {"--reorder": pairs, "--collectives": "messages:binomial"}[what]
    result = ranktree("run", "--mpi", mpi.name, what, setting, "--", *mpi.launch(RANKS, script))
    assert result.returncode == 0, result.stderr
    assert list(tmp_path.rglob("*.otf2"))


@pytest.mark.parametrize("order", ["front", "behind"])
def test_messages_of_darshan_are_counted_too(mpi: Mpi, traced, order, tmp_path, monkeypatch) -> None:
    """It merges its records by PMPI_ calls, which are traced as well, and writes its log as without us."""
    library = Path(os.environ.get("DARSHAN_LIBRARY", "").format(mpi=mpi.name))
    if not library.is_file():
        pytest.skip("Darshan is not installed (DARSHAN_LIBRARY names its libdarshan.so)")
    logs = tmp_path / "logs"
    logs.mkdir()
    monkeypatch.setenv("DARSHAN_LOG_DIR", str(logs))
    has_all(traced(order, str(library)), traced("alone"))
    assert len(list(logs.rglob("*.darshan"))) == 1


def has_all(found: list[str], alone: list[str]) -> None:
    """What the program exchanges is there, and more."""
    assert any(line.endswith("collective") for line in alone)
    counts = {tuple(line.split(",")[i] for i in (0, 1, 4)): int(line.split(",")[3]) for line in found}
    for line in alone:
        source, target, _, size, kind = line.split(",")
        assert counts[source, target, kind] >= int(size)
    assert sum(counts.values()) > sum(int(line.split(",")[3]) for line in alone)
