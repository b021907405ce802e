"""Schedules on a simulated MPI, which also checks the data they move."""

import csv
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SIMULATE = Path(__file__).resolve().parents[2] / "bench" / "collect" / "simulate.py"


def test_simulation_agrees_with_the_papers(build_folder: Path, tmp_path: Path) -> None:
    """16 ranks: chains gain as in the papers; the nodes' schedules have right results (simulate.cpp checks)."""
    if shutil.which("smpirun") is None or shutil.which("smpicxx") is None:
        pytest.skip("no SimGrid")
    rows_file = tmp_path / "rows.csv"
    command = [sys.executable, SIMULATE, "--build", build_folder, "--quick", "--csv", rows_file]
    subprocess.run(command, check=True, timeout=280, capture_output=True)
    with rows_file.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    chains = [
        row
        for row in rows
        if row["choice"].startswith("messages:chain:")
        and row["bytes"] == str(16 << 20)
        and row["platform"][0] == "G"
        and row["by"] == "turn"
    ]
    seconds = {(row["collective"], row["choice"].rpartition("=")[2]): float(row["simulated"]) for row in chains}
    for collective in ("broadcast", "reduce"):
        # hier-bcast-2014 (2) and (10), hier-reduce-2016 §3.1.1: (p-1)c against (G+q-2)c, latencies being small
        gain = seconds[collective, "1"] / seconds[collective, "4"]
        assert gain == pytest.approx(15 / 6, rel=0.02)
    assert {"broadcast", "reduce", "allreduce", "alltoall"} <= {row["collective"] for row in rows}


def test_simulated_platforms_have_every_rank_once() -> None:
    """Packed or round robin: each host belongs to one rank."""
    spec = importlib.util.spec_from_file_location("simulate", SIMULATE)
    assert spec is not None
    assert spec.loader is not None
    simulate = importlib.util.module_from_spec(spec)
    sys.modules["simulate"] = simulate
    spec.loader.exec_module(simulate)
    platform = simulate.cluster(4, 3)
    packed = simulate.hosts(platform, simulate.PACKED)
    turns = simulate.hosts(platform, simulate.ROUND_ROBIN)
    assert packed[:4] == ["n0-0", "n0-1", "n0-2", "n1-0"]
    assert turns[:5] == ["n0-0", "n1-0", "n2-0", "n3-0", "n0-1"]
    assert sorted(packed) == sorted(turns) == sorted(set(turns))
