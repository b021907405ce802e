"""`ranktree simulate --replay`: time and bytes of a pattern under a plan."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ranktree.pattern import read
from ranktree.simulate.replay import most_rounds, rounds_of

CLUSTER = {
    "hosts": [{"names": "n[0-3]", "shape": "node"}],
}
COSTS = {"Cluster": {"latency_s": 1e-5, "bandwidth_bytes_per_s": 1e8}}


def write_pattern(path: Path, ranks: int, pairs: dict[tuple[int, int], tuple[int, int]]) -> None:
    """Messages and bytes of each pair."""
    rows = [[(to, *pairs[a, to]) for a, to in sorted(pairs) if a == rank] for rank in range(ranks)]
    flat = [entry for row in rows for entry in row]
    np.savez(
        path,
        indptr=np.cumsum([0, *map(len, rows)]),
        indices=np.array([to for to, _, _ in flat], np.int32),
        messages=np.array([count for _, count, _ in flat], np.int64),
        bytes=np.array([size for _, _, size in flat], np.int64),
    )


def replay(ranktree: Callable, machine: Path, pattern: Path, *options: object) -> dict:
    """The report."""
    result = ranktree("simulate", "--machine", machine, "--replay", pattern, "--overhead", 0, "--json", *options)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_bytes_and_time_are_those_of_all_messages(
    simgrid: None, ranktree: Callable, machine_file: Callable, tmp_path: Path
) -> None:
    machine, pattern = machine_file(CLUSTER, COSTS), tmp_path / "app.npz"
    # Rank 0 sends 40 messages of 1 MB to the next node, and one to its neighbour.
    write_pattern(pattern, 16, {(0, 4): (40, 40_000_000), (0, 1): (1, 1000)})
    report = replay(ranktree, machine, pattern)
    assert report["replay"] == [{"pairs": 1, "rounds": 4, "weight": 10}, {"pairs": 1, "rounds": 1, "weight": 1}]
    assert report["levels"][0]["bytes"] == 40_000_000
    assert report["levels"][2]["bytes"] == 1000
    assert report["most_loaded_link"]["name"] == "node n0 up"
    assert report["simulated_s"] == pytest.approx(40 * (1e-5 + 1e6 / 1e8), rel=1e-4)


def test_amounts_beyond_an_int_are_several_messages(
    simgrid: None, ranktree: Callable, machine_file: Callable, tmp_path: Path
) -> None:
    """A format of one number a pair has no messages: 8 GiB were 2^32 bytes of one round in an int, 0."""
    machine, pattern = machine_file(CLUSTER, COSTS), tmp_path / "app.mtx"
    header = "%%MatrixMarket matrix coordinate integer general"
    pattern.write_text(f"{header}\n16 16 1\n1 5 {8 << 30}\n", encoding="ascii")
    report = replay(ranktree, machine, pattern)
    assert report["levels"][0]["bytes"] == 8 << 30
    assert report["simulated_s"] == pytest.approx((8 << 30) / 1e8, rel=1e-2)


def test_pairs_that_send_once_are_sent_once(
    simgrid: None, ranktree: Callable, machine_file: Callable, tmp_path: Path
) -> None:
    """Each message alone on its link: one pair sends a million, 14 others send one, four some thousand."""
    machine, pattern = machine_file(CLUSTER, COSTS), tmp_path / "app.npz"
    pairs = {(0, 4): (10**6, 8 * 10**6)} | {(rank, 0): (1, 8) for rank in range(1, 16) if rank != 4}
    pairs |= {(rank, rank + 4): (1000 * rank, 10**6 * rank) for rank in (5, 6, 7, 8)}
    write_pattern(pattern, 16, pairs)
    report = replay(ranktree, machine, pattern)
    assert [each["pairs"] for each in report["replay"]] == [1, 4, 14]
    whole = sum(level["bytes"] for level in report["levels"])
    assert whole == pytest.approx(sum(size for _, size in pairs.values()), rel=1e-3)  # a message has whole bytes
    total = sum(level["messages"] for level in report["levels"])
    assert total == pytest.approx(sum(count for count, _ in pairs.values()), rel=0.05)
    assert report["most_loaded_link"]["name"] == "node n1 up"
    assert report["most_loaded_link"]["bytes"] == pytest.approx(18e6 + 3 * 8, rel=1e-3)
    latency, often, seldom = 1e-5, 10**6 * (1e-5 + 24 / 1e8), 27e6 / 1e8  # SMPI adds 16 bytes to each message
    assert often < report["simulated_s"] < often + seldom + 8001 * latency + 14 * latency


def test_many_long_messages_share_one_buffer(
    simgrid: None, ranktree: Callable, machine_file: Callable, tmp_path: Path
) -> None:
    """A buffer for each of 128 ranks, in maps of 1 MiB, would need more of them than Linux gives a process."""
    machine = machine_file(CLUSTER, COSTS, {"node": "package:4 core:8"})
    pattern = tmp_path / "app.npz"
    write_pattern(pattern, 128, {(0, 127): (1, 10**9)})
    report = replay(ranktree, machine, pattern)
    assert sum(level["bytes"] for level in report["levels"]) == pytest.approx(1e9, rel=1e-3)


def test_rounds_are_as_many_as_the_messages_in_them_allow(tmp_path: Path) -> None:
    """6,000 pairs of 100 messages are no part of the rounds of one pair that sends a million."""
    pairs = [(i, j) for i in range(100) for j in range(100) if i != j][:6001]
    write_pattern(tmp_path / "app.npz", 100, {pair: (100, 800) for pair in pairs} | {pairs[0]: (10**6, 8 * 10**6)})
    found = rounds_of(read(str(tmp_path / "app.npz"))[0], 1000)
    assert [(len(each.pattern), each.count) for each in found] == [(1, 1000), (6000, 100)]
    assert most_rounds(np.array([100] + [20] * 2_000_000), 100, 4) == 2, "of 3 rounds all pairs would be a part"


def test_a_time_limit_is_of_all_rounds(
    simgrid: None, ranktree: Callable, machine_file: Callable, tmp_path: Path
) -> None:
    machine, pattern = machine_file(CLUSTER, COSTS), tmp_path / "app.npz"
    write_pattern(pattern, 16, {(0, 4): (10**6, 8 * 10**6)} | {(rank, 0): (1, 8) for rank in range(1, 4)})
    words = ["simulate", "--machine", machine, "--replay", pattern, "--time-limit", 0.000001]
    result = ranktree(*words)
    assert result.returncode == 1
    assert "stopped: the simulation is not done after 1e-06 s (--time-limit)" in result.stderr


def test_a_plan_moves_ranks(simgrid: None, ranktree: Callable, machine_file: Callable, tmp_path: Path) -> None:
    machine, pattern, plan = machine_file(CLUSTER, COSTS), tmp_path / "app.npz", tmp_path / "plan.json"
    pairs = {(rank, (rank + 8) % 16): (10, 1_000_000) for rank in range(16)}
    write_pattern(pattern, 16, pairs)
    assert ranktree("map", pattern, "--machine", machine, "-o", plan).returncode == 0
    before = replay(ranktree, machine, pattern)
    after = replay(ranktree, machine, pattern, "--plan", plan)
    assert before["levels"][0]["bytes"] == 16_000_000
    assert after["levels"][0]["bytes"] == 0
    assert after["simulated_s"] < before["simulated_s"] / 10


def test_rounds_bound_the_messages_of_a_pair(
    simgrid: None, ranktree: Callable, machine_file: Callable, tmp_path: Path
) -> None:
    machine, pattern = machine_file(CLUSTER, COSTS), tmp_path / "app.npz"
    write_pattern(pattern, 16, {(0, 4): (1000, 10_000_000), (4, 8): (7, 7000)})
    times = [replay(ranktree, machine, pattern, "--rounds", rounds)["simulated_s"] for rounds in (1, 5, 100)]
    behind = 7 * (1e-5 + (1000 + 16) / 1e8)  # the second pair's messages, in rounds of their own unless there are many
    assert times == pytest.approx([times[2] + behind] * 2 + [times[2]], rel=1e-3)
    assert times[0] == pytest.approx(times[1], rel=1e-3)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--np", 5], "expected 2, the pattern's ranks"),
        (["--machine", "node:1 core:1"], "the machine has 1 cores"),
        (["--order", "odd"], "--order: expected packed, round-robin"),
        (["--", "./app"], "or --replay"),
    ],
)
def test_refusals_of_a_replay(options: list, text: str, simgrid: None, ranktree: Callable, tmp_path: Path) -> None:
    pattern = tmp_path / "app.npz"
    write_pattern(pattern, 2, {(0, 1): (1, 1)})
    result = ranktree("simulate", "--machine", "node:2 core:1", "--replay", pattern, *options)
    assert result.returncode in {1, 2}
    assert text in " ".join(result.stderr.replace("│", " ").split())
