"""Programs compiled for simulations, and machines to simulate."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parent / "programs"
INSIDE = {
    "Node": {"latency_s": 4e-7, "bandwidth_bytes_per_s": 4e9},
    "Package": {"latency_s": 1e-7, "bandwidth_bytes_per_s": 5e9},
}


@pytest.fixture(scope="session")
def simulated_program(simgrid: None, command: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a source by `ranktree simulate --compile`, once for all tests."""
    folder = tmp_path_factory.mktemp("simulated")
    known: dict[Path, Path] = {}

    def compile_(source: Path, *options: object) -> Path:
        if source not in known:
            program = folder / f"{source.stem}_{len(known)}"
            language = {".c": "cc", ".cpp": "c++"}.get(source.suffix, "f90")
            words = [command, "simulate", "--compile", "--", language, "-O1", source, "-o", program, *options]
            environment = {**os.environ, "TMPDIR": str(folder)}
            subprocess.run(list(map(str, words)), check=True, timeout=120, env=environment, cwd=folder)
            known[source] = program
        return known[source]

    return compile_


@pytest.fixture
def machine_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a machine whose nodes are `package:2 core:2`, or as given."""

    def write(network: dict, costs: dict, shapes: dict[str, str] | None = None) -> Path:
        document = {
            "format": "ranktree-machine",
            "version": 1,
            "shapes": shapes or {"node": "package:2 core:2"},
            "network": network,
            "costs": {**INSIDE, **costs},
        }
        path = tmp_path / "machine.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    return write
