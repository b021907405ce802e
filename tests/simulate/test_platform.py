"""What SimGrid makes of a machine: latency and bandwidth of pairs, links that messages share."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parent / "programs"
NODE = 4e-7  # seconds, in and out of a node of a network with distances
SMPI = 6e-8  # seconds of SMPI's own at most: 16 bytes of a header at 400 MB/s, and 10 ns for MPI_Wtime


def hosts(name: str, count: int) -> list[dict]:
    """So many nodes."""
    return [{"names": f"{name}[0-{count - 1}]", "shape": "node"}]


TREE = {"switches": [{"hosts": hosts("a", 2)}, {"hosts": hosts("b", 2)}]}
TREE_COSTS = {
    "Cluster": {"latency_s": 3e-6, "bandwidth_bytes_per_s": 1e9},
    "Switch": {"latency_s": 2e-6, "bandwidth_bytes_per_s": 2e9},
}
TORUS = {
    "kind": "torus",
    "dims": [4, 3],
    "latency_s": {"hop": 1e-7},
    "bandwidth_bytes_per_s": {"hop": [5e8, 4e8]},
    "hosts": hosts("t", 12),
}
DRAGONFLY = {
    "kind": "dragonfly",
    "groups": 3,
    "routers_per_group": 2,
    "nodes_per_router": 2,
    "latency_s": {"local": 1e-7, "global": 1e-6, "node_link": 2e-7},
    "bandwidth_bytes_per_s": {"local": 2e9, "global": 5e8, "node_link": 1e9},
    "hosts": hosts("d", 12),
}
TABLE = {
    "kind": "matrix",
    "unit": "s",
    "distances": [[0, 1e-6, 5e-6], [1e-6, 0, 2e-6], [5e-6, 2e-6, 0]],
    "bandwidth_bytes_per_s": {"node_link": 6e8},
    "hosts": hosts("m", 3),
}
# Network, its costs, the ranks, and for some peers of rank 0: latency and bandwidth. Nodes have four ranks.
CASES = {
    "tree": (
        TREE,
        TREE_COSTS,
        16,
        {1: (1e-7, 5e9), 2: (4e-7, 4e9), 4: (2e-6, 2e9), 8: (3e-6, 1e9), 15: (3e-6, 1e9)},
    ),
    "fat tree": (
        {"kind": "fat-tree", "arities": [2, 2, 2], "uplinks": {"oversubscription": 2}, "hosts": hosts("f", 8)},
        {"Cluster": {"latency_s": 3e-6, "bandwidth_bytes_per_s": 1e9}, "Switch": {"latency_s": 1e-6}},
        32,
        {1: (1e-7, 5e9), 16: (3e-6, 1e9)},
    ),
    "torus": (
        TORUS,
        {},
        48,
        {1: (1e-7, 5e9), 4: (1e-7 + NODE, 4e8), 12: (1e-7 + NODE, 5e8), 24: (2e-7 + NODE, 5e8), 47: (2e-7 + NODE, 4e8)},
    ),
    "mesh": ({**TORUS, "wrap": False}, {}, 48, {47: (5e-7 + NODE, 4e8)}),
    "dragonfly": (
        DRAGONFLY,
        {},
        48,
        {4: (4e-7 + NODE, 1e9), 8: (5e-7 + NODE, 1e9), 16: (4e-7 + 1e-6 + NODE, 5e8), 44: (6e-7 + 1e-6 + NODE, 5e8)},
    ),
    "table": (TABLE, {}, 12, {2: (4e-7, 4e9), 4: (1e-6 + NODE, 6e8), 8: (5e-6 + NODE, 6e8)}),
}


@pytest.mark.parametrize("name", CASES)
def test_pairs_have_the_latency_and_bandwidth_of_the_machine_file(
    name: str, ranktree: Callable, machine_file: Callable, simulated_program: Callable
) -> None:
    network, costs, ranks, expected = CASES[name]
    program = simulated_program(PROGRAMS / "pingpong.c")
    machine = machine_file(network, costs)
    result = ranktree(
        "simulate", "--machine", machine, "--np", ranks, "--overhead", 0, "--quiet", "--", program, *expected
    )
    assert result.returncode == 0, result.stderr
    found = {
        int(peer): (float(a), float(b)) for peer, a, b in map(str.split, result.stdout.splitlines()[: len(expected)])
    }
    for peer, (latency, bandwidth) in expected.items():
        assert found[peer][0] == pytest.approx(latency, abs=SMPI), peer
        assert found[peer][1] == pytest.approx(bandwidth, rel=1e-5), peer


def test_nodes_may_differ(ranktree: Callable, machine_file: Callable, simulated_program: Callable) -> None:
    network = {
        "hosts": [{"names": "a", "shape": "thin"}, {"names": "b", "shape": "odd"}, {"names": "c", "shape": "thin"}]
    }
    machine = machine_file(network, TREE_COSTS, {"thin": "core:1", "odd": "package:2 core:3"})
    program = simulated_program(PROGRAMS / "pingpong.c")
    result = ranktree("simulate", "--machine", machine, "--np", 8, "--overhead", 0, "--json", "--", program, 1, 6, 7)
    assert result.returncode == 0, result.stderr
    assert [float(line.split()[1]) for line in result.stdout.splitlines()[:3]] == pytest.approx([3e-6] * 3, abs=SMPI)


@pytest.mark.parametrize(("oversubscription", "seconds"), [(1, 1e-3), (2, 2e-3), (4, 4e-3)])
def test_messages_share_an_oversubscribed_link(
    oversubscription: int,
    seconds: float,
    ranktree: Callable,
    machine_file: Callable,
    simulated_program: Callable,
) -> None:
    network = {
        "kind": "fat-tree",
        "arities": [2, 4],
        "uplinks": {"oversubscription": oversubscription},
        "hosts": hosts("f", 8),
    }
    costs = {kind: {"latency_s": 0, "bandwidth_bytes_per_s": 1e9} for kind in ("Cluster", "Switch")}
    machine = machine_file(network, costs, {"node": "core:1"})
    program = simulated_program(PROGRAMS / "crossing.c")
    words = ["simulate", "--machine", machine, "--np", 8, "--overhead", 0, "--json", "--", program, 1_000_000]
    result = ranktree(*words)
    assert result.returncode == 0, result.stderr
    first, _, report = result.stdout.partition("\n")
    assert float(first) == pytest.approx(seconds, rel=1e-4)
    found = json.loads(report)
    if oversubscription > 1:
        assert found["most_loaded_link"]["name"] in {"switch s0 up", "switch s1 down"}
    assert found["levels"][0]["bytes"] >= 4_000_000
    again = json.loads(ranktree(*words).stdout.partition("\n")[2])
    for key in ("simulated_s", "levels", "most_loaded_link"):
        assert again[key] == found[key]
