"""The demo, by its JSON: what moves between nodes before and after is what rings must move; no time is asserted."""

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


ROUND_ROBIN = [f"n{rank % RINGS}" for rank in range(RINGS * MEMBERS)]


@pytest.fixture(scope="module")
def on_cluster(minicluster: Path, build_folder: Path) -> dict:
    """The demo on an emulated cluster."""
    result = demo(build_folder)
    assert result["emulated"], result["reason"]
    return result["sizes"][0]


@pytest.fixture(scope="module")
def on_one_node(build_folder: Path) -> dict:
    """The demo as where no cluster can be made."""
    result = demo(build_folder, "--one-node")
    assert not result["emulated"]
    return result["sizes"][0]


def test_the_plan_fills_every_node(on_cluster: dict) -> None:
    assert sorted(on_cluster["hosts"]) == sorted(ROUND_ROBIN)


@pytest.mark.parametrize("when", ["before", "after"])
def test_bytes_between_nodes_are_those_of_the_tokens(on_cluster: dict, when: str) -> None:
    hosts = ROUND_ROBIN if when == "before" else on_cluster["hosts"]
    expected = sum(tokens_between_nodes(hosts)) * TOKEN * CABLE
    assert expected <= on_cluster[when]["inter_node_bytes"] <= 1.06 * expected


def test_bytes_between_nodes_fall_as_the_plan_promises(on_cluster: dict) -> None:
    promised = sum(tokens_between_nodes(ROUND_ROBIN)) / sum(tokens_between_nodes(on_cluster["hosts"]))
    assert promised >= 16 / 12
    assert on_cluster["ratio"]["inter_node_bytes"] == pytest.approx(promised, rel=0.04)
    assert on_cluster["ratio"]["modelled_inter_node_bytes"] == pytest.approx(promised, rel=0.001)


def test_hop_bytes_are_those_of_the_tokens(on_cluster: dict) -> None:
    after = hop_bytes(on_cluster["hosts"])
    assert on_cluster["before"]["hop_bytes"] == pytest.approx(hop_bytes(ROUND_ROBIN), rel=0.001)
    assert on_cluster["after"]["hop_bytes"] == pytest.approx(after, rel=0.001)
    assert after < hop_bytes(ROUND_ROBIN)


def test_one_node_shows_the_same_promise(on_one_node: dict) -> None:
    assert "seconds" not in on_one_node["before"]
    assert on_one_node["before"]["hop_bytes"] == pytest.approx(hop_bytes(ROUND_ROBIN), rel=0.001)
    assert on_one_node["after"]["hop_bytes"] == pytest.approx(hop_bytes(on_one_node["hosts"]), rel=0.001)


def test_a_tree_that_is_not_built_is_named(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "demo.py"), "--build", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ))
    assert result.returncode == 1
    assert result.stderr.startswith(f"demo: {tmp_path}/bin/ranktree: not built")
