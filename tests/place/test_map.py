"""`ranktree map`: its table recomputed by an independent evaluator, on the recorded patterns of real programs."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

REAL = Path(__file__).resolve().parent.parent / "pattern/data/real"
PLAFRIM = "node:64 package:2 l3:1 core:4"  # treematch-2013 §5.1
CASES = sorted(path.name.removesuffix(".all.txt.gz") for path in REAL.glob("*.all.txt.gz"))


def traffic(case: str) -> tuple[int, np.ndarray]:
    """Ranks, and rows (from, to, messages, bytes) of everything the messaging layer sent."""
    with gzip.open(REAL / f"{case}.all.txt.gz", "rt", encoding="utf-8") as file:
        ranks = int(file.readline().split("ranks=")[1].split()[0])
        return ranks, np.loadtxt(file, dtype=np.int64, ndmin=2)


def levels_of_plafrim(core: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Level of the lowest common ancestor: 0 cluster, 1 node, 3 the one L3 of a package, 4 the same core."""
    level = np.zeros(len(core), dtype=int)
    level[core // 8 == other // 8] = 1
    level[core // 4 == other // 4] = 3
    level[core == other] = 4
    return level


def cost_by_level(rows: np.ndarray, core_of: np.ndarray) -> np.ndarray:
    """Bytes by level, messages to oneself left out, as docs/explanation/placement-engine.md defines the cost."""
    between = rows[rows[:, 0] != rows[:, 1]]
    levels = levels_of_plafrim(core_of[between[:, 0]], core_of[between[:, 1]])
    return np.bincount(levels, weights=between[:, 3], minlength=5)


def hop_bytes(weights: np.ndarray) -> float:
    """Three branching levels: 6, 4 and 2 hops; a single L3 a package adds none."""
    return float(weights @ np.array([6, 4, 2, 2, 0]))


@pytest.mark.parametrize("case", CASES)
def test_real_patterns_on_plafrim(case: str, ranktree: Callable, tmp_path: Path) -> None:
    """The plan costs what its table states, and no more than identity, round robin and greedy."""
    ranks, rows = traffic(case)
    text = gzip.decompress((REAL / f"{case}.all.txt.gz").read_bytes()).decode()
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    result = ranktree(
        "map", "--metric", "size", tmp_path / "p.csv", "--machine", PLAFRIM, "-o", tmp_path / "plan.json", "--json"
    )
    assert result.returncode == 0, result.stderr
    plan = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    slots = plan["slots"]
    core_of = np.array([int(slot["host"][1:]) * 8 + slot["pus"][0] for slot in slots])
    assert len(set(core_of)) == ranks

    table = {row["placement"]: np.array(row["weight"]) for row in json.loads(result.stdout)["costs"]}
    ours = cost_by_level(rows, core_of)
    np.testing.assert_array_equal(table["plan"], ours)
    np.testing.assert_array_equal(table["identity"], cost_by_level(rows, np.arange(ranks)))
    dealt = np.array([(rank % 64) * 8 + rank // 64 for rank in range(ranks)])
    np.testing.assert_array_equal(table["round-robin"], cost_by_level(rows, dealt))

    greedy = ranktree("map", tmp_path / "p.csv", "--machine", PLAFRIM, "--algorithm", "greedy", "--json")
    greedy_costs = {row["placement"]: row["total"] for row in json.loads(greedy.stdout)["costs"]}
    for name, total in (
        ("identity", hop_bytes(table["identity"])),
        ("round-robin", hop_bytes(table["round-robin"])),
        ("greedy", greedy_costs["plan"]),
    ):
        assert hop_bytes(ours) <= total, name


def write_pairs(path: Path, pairs: list[tuple[int, int, int, int]], ranks: int) -> Path:
    """A CSV pattern."""
    lines = [f"# ranks={ranks}", "src,dst,messages,bytes", *(",".join(map(str, pair)) for pair in pairs)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_verdict_is_a_sentence(ranktree: Callable, tmp_path: Path) -> None:
    """The output states a gain in words, and also its absence."""
    crossed = write_pairs(tmp_path / "crossed.csv", [(0, 2, 1, 100), (1, 3, 1, 50)], 4)
    result = ranktree("map", "--metric", "size", crossed, "--machine", "node:2 core:2")
    assert "By the plan nothing crosses between nodes: it costs 50 % less than the current rank order." in result.stdout
    assert "50 % less" in next(line for line in result.stdout.splitlines() if "against identity" in line)
    straight = write_pairs(tmp_path / "straight.csv", [(0, 1, 1, 100)], 4)
    result = ranktree("map", "--metric", "size", straight, "--machine", "node:2 core:2")
    assert result.returncode == 0
    assert "Nothing to gain: no placement found costs less than the current rank order" in result.stdout


def test_refusals(ranktree: Callable, tmp_path: Path) -> None:
    """Wrong usage is exit code 2, the rest 1; no plan is left behind."""
    pattern = write_pairs(tmp_path / "p.csv", [(0, 4, 1, 100)], 5)
    plan = tmp_path / "plan.json"
    for code, arguments, expected in (
        (1, (pattern, "--machine", "node:2 core:2"), "5 slots"),
        (1, (tmp_path / "none.npz", "--machine", "node:2 core:2"), "none.npz"),
        (1, (pattern, "--machine", "node:2 core"), "machine"),
        (1, (pattern, "--machine", "node:4 core:2", "--cost", "latency"), "latency is not known"),
        (2, (pattern, "--machine", "node:4 core:2", "--metric", "volume"), "--metric"),
        (2, (pattern, "--machine", "node:4 core:2", "--algorithm", "magic"), "--algorithm"),
        (2, (), "missing argument"),
    ):
        result = ranktree("map", "--metric", "size", *arguments, "-o", plan)
        assert (result.returncode, expected in result.stderr) == (code, True), result.stderr
        assert not plan.exists()
    assert (
        ranktree(
            "map", "--metric", "size", pattern, "--machine", "node:2 core:2", "--oversubscribe", "-o", plan
        ).returncode
        == 0
    )
    assert len(json.loads(plan.read_text(encoding="utf-8"))["slots"]) == 5


def test_same_seed_same_plan(ranktree: Callable, tmp_path: Path) -> None:
    """The plan file is the same, byte for byte."""
    pairs = [(i, (7 * i + 3) % 60, 1, 10 + i) for i in range(60)]
    pattern = write_pairs(tmp_path / "p.csv", pairs, 60)
    for name in ("a.json", "b.json"):
        assert (
            ranktree(
                "map", "--metric", "size", pattern, "--machine", PLAFRIM, "--seed", 3, "-o", tmp_path / name
            ).returncode
            == 0
        )
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_forbidden_cores_are_not_used(ranktree: Callable, tmp_path: Path) -> None:
    """A machine file may forbid places."""
    core = [{"kind": "Core", "os_index": i, "allowed": i != 1} for i in range(3)]
    machine = {
        "format": "ranktree-machine",
        "version": 1,
        "shapes": {"node": {"children": core}},
        "network": {"hosts": [{"names": "n[0-1]", "shape": "node"}]},
    }
    (tmp_path / "m.json").write_text(json.dumps(machine), encoding="utf-8")
    pattern = write_pairs(tmp_path / "p.csv", [(0, 2, 1, 5), (1, 3, 1, 7)], 4)
    result = ranktree(
        "map", "--metric", "size", pattern, "--machine", tmp_path / "m.json", "-o", tmp_path / "plan.json"
    )
    assert result.returncode == 0, result.stderr
    slots = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["slots"]
    assert {slot["pus"][0] for slot in slots} == {0, 2}
