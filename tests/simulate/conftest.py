"""Programs compiled for simulations, and machines to simulate."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parent / "programs"
INSIDE = {
    "Node": {"latency_s": 4e-7, "bandwidth_bytes_per_s": 4e9},
    "Package": {"latency_s": 1e-7, "bandwidth_bytes_per_s": 5e9},
}


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
