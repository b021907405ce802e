"""The point-to-point part of every recorded pattern, planned in one interpreter, its cost recomputed here."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

REAL = Path(__file__).resolve().parent.parent / "pattern/data/real"
CASES = sorted(path.name.removesuffix(".p2p.txt.gz") for path in REAL.glob("*.p2p.txt.gz"))
HOPS = np.array([6, 4, 2, 2, 0])  # a single L3 a package adds none

# Reads one JSON line a case: ranks and rows; prints the plan's slots and totals by placement.
PROGRAM = """
import json
import sys
import numpy as np
from ranktree import _core

tree = _core.load_machine("node:64 package:2 l3:1 core:4").cut_at("Core")
for line in sys.stdin:
    ranks, rows = json.loads(line)
    rows = np.array(rows, dtype=np.int64).reshape(-1, 4)
    traffic = rows[:, 2:].T.astype(float).copy()
    pattern = _core.Pattern.from_pairs(ranks, rows[:, 0], rows[:, 1], *traffic)
    plan = _core.make_plan(tree, pattern)
    totals = {row.placement: row.total for row in plan.costs}
    totals["greedy"] = _core.evaluate(tree, pattern, _core.compute_placement(tree, pattern, "greedy"))[1]
    cores = [int(slot.host[1:]) * 8 + slot.pus[0] for slot in plan.slots]
    print(json.dumps({"cores": cores, "totals": totals, "gain": plan.gain}))
"""


def rows_of(case: str) -> tuple[int, np.ndarray]:
    """Ranks, and rows (from, to, messages, bytes); some programs send nothing point to point."""
    with gzip.open(REAL / f"{case}.p2p.txt.gz", "rt", encoding="utf-8") as file:
        ranks = int(file.readline().split("ranks=")[1].split()[0])
        rows = [list(map(int, line.split())) for line in file if not line.startswith("#")]
    return ranks, np.array(rows, dtype=np.int64).reshape(-1, 4)


def hop_bytes(rows: np.ndarray, core_of: np.ndarray) -> float:
    """By the definition: bytes times hops, eight cores a node, four a package."""
    first, second = core_of[rows[:, 0]], core_of[rows[:, 1]]
    level = np.zeros(len(rows), dtype=int)
    level[first // 8 == second // 8] = 1
    level[first // 4 == second // 4] = 3
    level[first == second] = 4
    return float(rows[:, 3] @ HOPS[level])


@pytest.fixture(scope="module")
def planned(build_folder: Path) -> dict[str, dict]:
    """The answer for every case."""
    cases = "\n".join(json.dumps([ranks, rows.tolist()]) for ranks, rows in map(rows_of, CASES))
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=cases,
        env={**os.environ, "PYTHONPATH": str(build_folder / "python")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return dict(zip(CASES, map(json.loads, result.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_the_plan_has_its_stated_cost_and_no_more_than_the_baselines(case: str, planned: dict[str, dict]) -> None:
    """Identity, round robin and greedy."""
    ranks, rows = rows_of(case)
    cores, totals = np.array(planned[case]["cores"]), planned[case]["totals"]
    assert len(set(cores)) == ranks
    dealt = np.array([(rank % 64) * 8 + rank // 64 for rank in range(ranks)])
    assert totals["plan"] == hop_bytes(rows, cores)
    assert totals["identity"] == hop_bytes(rows, np.arange(ranks))
    assert totals["round-robin"] == hop_bytes(rows, dealt)
    assert totals["plan"] <= min(totals.values())
    assert planned[case]["gain"] == (totals["plan"] < totals["identity"])
