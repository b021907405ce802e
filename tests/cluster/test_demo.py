"""The demo by its JSON: the bytes between nodes before and after equal those of the rings; no time is asserted."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOKEN = 131072
RINGS = 4
MEMBERS = 4
# 1448 bytes of payload cost 1538 on the cable; acknowledgements and the start of the run come on top.
CABLE = 1538 / 1448

pytestmark = pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="Debian's Open MPI is not installed")


def demo(build_folder: Path, *options: str) -> dict:
    """The figures of a short demo with one token size."""
    command = [sys.executable, str(ROOT / "tools" / "demo.py"), "--build", str(build_folder), "--json", *options]
    result = subprocess.run(
        [*command, "--runs", "1", "--sizes", str(TOKEN)], capture_output=True, text=True, timeout=150, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)


def tokens_between_nodes(hosts: list[str]) -> tuple[int, int]:
    """Tokens that cross nodes in one iteration when rank i is on hosts[i]: in the rings, and among the leaders.

    A ring passes its token over each of its edges once. Whatever the algorithm, in an Allgather of 4 leaders on 4 nodes
    each node takes in 3 tokens; of 4 leaders on one node none crosses. Other spreads depend on the algorithm.
    """
    ranks = [[ring * MEMBERS + member for member in range(MEMBERS)] for ring in range(RINGS)]
    hops = [(ring[i], ring[(i + 1) % MEMBERS]) for ring in ranks for i in range(MEMBERS)]
    leaders = {hosts[ring[0]] for ring in ranks}
    assert len(leaders) in (1, RINGS), "the expected traffic of this spread is not known"
    return sum(hosts[a] != hosts[b] for a, b in hops), RINGS * (RINGS - 1) if len(leaders) == RINGS else 0


def hop_bytes(hosts: list[str]) -> float:
    """Two hops within a node, four between nodes, for every token that moves: 16 in the rings, 12 among the leaders."""
    in_rings, among_leaders = tokens_between_nodes(hosts)
    moved = RINGS * MEMBERS + RINGS * (RINGS - 1)
    between = in_rings + among_leaders
    return TOKEN * (4 * between + 2 * (moved - between))


PLACEMENTS = ["round-robin", "size", "msg"]
PLANS = PLACEMENTS[1:]


@pytest.fixture(scope="module")
def on_cluster(minicluster: Path, build_folder: Path) -> dict:
    """The demo on an emulated cluster."""
    result = demo(build_folder)
    assert result["emulated"], result["reason"]
    return result["sizes"][0]


@pytest.fixture(scope="module")
def on_one_node(build_folder: Path) -> dict:
    """The demo on a machine where no cluster can be made."""
    result = demo(build_folder, "--one-node")
    assert not result["emulated"]
    return result["sizes"][0]


def test_every_placement_fills_every_node(on_cluster: dict) -> None:
    assert on_cluster["hosts"]["round-robin"] == [f"n{rank % RINGS}" for rank in range(RINGS * MEMBERS)]
    for hosts in on_cluster["hosts"].values():
        assert sorted(hosts) == sorted(on_cluster["hosts"]["round-robin"])


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_bytes_between_nodes_are_those_of_the_tokens(on_cluster: dict, placement: str) -> None:
    expected = sum(tokens_between_nodes(on_cluster["hosts"][placement])) * TOKEN * CABLE
    assert expected <= on_cluster["figures"][placement]["inter_node_bytes"] <= 1.06 * expected


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_hop_bytes_are_those_of_the_tokens(on_cluster: dict, placement: str) -> None:
    expected = hop_bytes(on_cluster["hosts"][placement])
    assert on_cluster["figures"][placement]["hop_bytes"] == pytest.approx(expected, rel=0.001)


@pytest.mark.parametrize("plan", PLANS)
def test_bytes_between_nodes_decrease_as_the_plan_predicts(on_cluster: dict, plan: str) -> None:
    hosts = on_cluster["hosts"]
    promised = sum(tokens_between_nodes(hosts["round-robin"])) / sum(tokens_between_nodes(hosts[plan]))
    assert promised >= 16 / 12  # one ring a node: 12 tokens among the leaders in place of 16 in the rings
    assert on_cluster["ratios"][plan]["inter_node_bytes"] == pytest.approx(promised, rel=0.04)
    assert on_cluster["ratios"][plan]["modelled_inter_node_bytes"] == pytest.approx(promised, rel=0.001)


def test_the_plan_by_size_has_no_more_hop_bytes_than_any_other(on_cluster: dict) -> None:
    found = {name: hop_bytes(hosts) for name, hosts in on_cluster["hosts"].items()}
    assert found["size"] == min(found.values()) < found["round-robin"]


def test_one_node_shows_the_same_prediction(on_one_node: dict) -> None:
    for name, figures in on_one_node["figures"].items():
        assert "seconds" not in figures
        assert figures["hop_bytes"] == pytest.approx(hop_bytes(on_one_node["hosts"][name]), rel=0.001)
    assert on_one_node["ratios"]["size"]["hop_bytes"] > 1


def test_a_tree_that_is_not_built_is_named(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "demo.py"), "--build", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ))
    assert result.returncode == 1
    assert result.stderr.startswith(f"demo: {tmp_path}/bin/ranktree: not built")


def test_the_report_page_is_there(on_one_node: dict) -> None:
    assert Path(on_one_node["report"]).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
