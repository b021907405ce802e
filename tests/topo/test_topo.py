"""`ranktree topo`: text, JSON, marks of excluded leaves, machine files, errors."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent / "data"

CLUSTER_TEXT = """\
Cluster
  Switch0 x2 s0 .. s1
    Node x4 n0 .. n3
      Package x2 0 .. 1
        L3Cache
          Core x4 0 .. 3
            PU 0

64 places, 64 may be used
common ancestor Cluster  8 hops
common ancestor Switch0  6 hops
common ancestor Node     4 hops
common ancestor Package  2 hops
common ancestor L3Cache  2 hops
common ancestor Core     0 hops
"""


def leaves(tree: dict) -> Iterator[dict]:
    """The leaves of `topo --json`'s tree."""
    if "children" not in tree:
        yield tree
    for child in tree.get("children", []):
        yield from leaves(child)


def test_a_cluster_as_text(ranktree: Callable) -> None:
    """Equal siblings share a line; the cost of every level follows."""
    result = ranktree("topo", "switch:2 node:4 package:2 l3:1 core:4")
    assert (result.returncode, result.stdout) == (0, CLUSTER_TEXT)


def test_json_holds_every_leaf(ranktree: Callable) -> None:
    """The JSON tree has the levels, their costs and all leaves."""
    document = json.loads(ranktree("topo", DATA / "dual-socket-snc.xml", "--json").stdout)
    assert [level["kind"] for level in document["levels"]] == ["Node", "Package", "NUMANode", "L3Cache", "Core", "PU"]
    assert [level["cost"] for level in document["levels"]] == [8, 6, 4, 4, 2, 0]
    assert [leaf["pus"][0] for leaf in leaves(document["tree"])][:4] == [0, 16, 1, 17]


def test_an_affinity_mask_is_marked(command: str) -> None:
    """A process bound to one CPU sees the whole machine, and which part of it the binding allows."""
    cpu = min(os.sched_getaffinity(0))
    result = subprocess.run(
        ["taskset", "-c", str(cpu), command, "topo", "--json"], capture_output=True, text=True, timeout=60, check=True
    )
    allowed = [leaf["pus"][0] for leaf in leaves(json.loads(result.stdout)["tree"]) if leaf["allowed"]]
    assert allowed == [cpu]
    text = subprocess.run(
        ["taskset", "-c", str(cpu), command, "topo"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "1 may be used" in text
    if os.cpu_count() != 1:
        assert "[may not be used]" in text


def test_machine_files_round_trip(ranktree: Callable, tmp_path: Path) -> None:
    """What -o writes describes the same machine."""
    path = tmp_path / "m.json"
    description = "switch:2 node:3 package:2 core:2 pu:2"
    assert ranktree("topo", description, "-o", path).returncode == 0
    assert ranktree("topo", path, "--json").stdout == ranktree("topo", description, "--json").stdout
    assert len(json.loads(path.read_text(encoding="utf-8"))["shapes"]) == 1  # equal nodes are stored once


def test_several_xml_files_join(ranktree: Callable) -> None:
    """One file a node, joined by commas."""
    result = ranktree("topo", f"{DATA / 'epyc-2-cores.xml'},{DATA / 'dual-socket-snc.xml'}")
    assert "34 places" in result.stdout
    assert result.stdout.startswith("Cluster\n")


@pytest.mark.parametrize(("given", "name"), [("n7.cluster", "n7.cluster"), ("a b", "n0")])
def test_the_host_name_in_xml_counts_where_it_is_one(ranktree: Callable, tmp_path: Path, given: str, name: str) -> None:
    """`topo` reads what it writes."""
    xml = tmp_path / "node.xml"
    info = '<info name="LinuxCgroup" value="/"/>'
    text = (DATA / "epyc-2-cores.xml").read_text(encoding="utf-8")
    xml.write_text(text.replace(info, f'<info name="HostName" value="{given}"/>'), encoding="utf-8")
    machine = tmp_path / "machine.json"
    for source in (xml, machine):
        result = ranktree("topo", source, *(("-o", machine) if source == xml else ()))
        assert result.returncode == 0, result.stderr
        assert result.stdout.startswith(f"Node {name}\n")


def test_costs_that_are_not_known_are_refused(ranktree: Callable, tmp_path: Path) -> None:
    """Latency and bandwidth come from machine files only."""
    assert "latency is not known" in ranktree("topo", "node:2 core:2", "--cost", "latency").stderr
    machine = {
        "format": "ranktree-machine",
        "version": 1,
        "shapes": {"thin": "core:2"},
        "network": {"hosts": [{"names": "n[0-1]", "shape": "thin"}]},
        "costs": {"Cluster": {"latency_s": 2e-6}, "Node": {"latency_s": 5e-7}},
    }
    (tmp_path / "m.json").write_text(json.dumps(machine), encoding="utf-8")
    result = ranktree("topo", tmp_path / "m.json", "--cost", "latency")
    assert "common ancestor Cluster  2e-06 s" in result.stdout


def test_refusals_are_one_line(ranktree: Callable, tmp_path: Path) -> None:
    """Exit code 1 and the place; 2 for wrong usage; nothing half-written."""
    (tmp_path / "bad.json").write_text('{"format": "ranktree-machine"', encoding="utf-8")
    for machine, expected in (
        ("switch:0", "switch:0"),
        ("no/such/file.xml", "no/such/file.xml"),
        (tmp_path / "bad.json", "bad.json: line 1"),
        (tmp_path, "folder"),
        ("node:2147483647 core:1024", "at most"),
    ):
        result = ranktree("topo", machine, "-o", tmp_path / "out.json")
        assert result.returncode == 1
        assert expected in result.stderr
        assert result.stderr.count("\n") == 1
        assert not (tmp_path / "out.json").exists()
    assert ranktree("topo", "node:2 core:2", "--cost", "money").returncode == 2
    assert ranktree("topo", "node:2 core:2", "-o", tmp_path / "no" / "out.json").returncode == 1


NETWORK = """\
SwitchName=leaf0 Nodes=n[0-1]
SwitchName=leaf1 Nodes=n[2-3]
SwitchName=root Switches=leaf[0-1]
"""
NETWORK_TEXT = """\
Cluster
  Switch0 root
    Switch1 x2 leaf0 .. leaf1
      Node x2 n0 .. n1
        Core x2 0 .. 1
          PU 0

8 places, 8 may be used
common ancestor Cluster  6 hops
common ancestor Switch0  6 hops
common ancestor Switch1  4 hops
common ancestor Node     2 hops
common ancestor Core     0 hops
"""


def test_a_network_around_one_kind_of_node(ranktree: Callable, tmp_path: Path) -> None:
    """Slurm's switches, with the described node for every host; the output is a valid machine file."""
    network = tmp_path / "topology.conf"
    network.write_text(NETWORK, encoding="utf-8")
    kept = tmp_path / "cluster.json"
    result = ranktree("topo", "core:2", "--network", network, "-o", kept)
    assert (result.returncode, result.stdout) == (0, NETWORK_TEXT)
    assert ranktree("topo", kept).stdout == NETWORK_TEXT
    live, four = (
        json.loads(ranktree("topo", *options, "--json").stdout)["tree"] for options in ((), ("--network", network))
    )
    assert len(list(leaves(four))) == 4 * len(list(leaves(live)))


def test_a_network_that_does_not_fit_is_refused(ranktree: Callable, tmp_path: Path) -> None:
    """Several nodes for each host, no hosts, no network, too many leaves: one line and exit code 1."""
    network, flat = tmp_path / "topology.conf", tmp_path / "topology.yaml"
    network.write_text(NETWORK + "SwitchName=more Nodes=m[0-199999]\n", encoding="utf-8")
    flat.write_text("- topology: flat\n  flat: true\n", encoding="utf-8")
    for machine, file, expected in (
        ("node:2 core:2", network, "expected the description of one node"),
        ("core:2", flat, "expected at least one host"),
        ("core:2", tmp_path / "none", "none"),
        ("core:128", network, "at most 4194304 leaves"),
    ):
        result = ranktree("topo", machine, "--network", file)
        assert (result.returncode, result.stderr.count("\n")) == (1, 1)
        assert expected in result.stderr


def test_a_machine_too_large_for_memory_is_refused_at_once(command: str) -> None:
    """In 2 GB of address space, which its tree of 2^24 leaves would exceed eight times."""
    words = ["sh", "-c", f"ulimit -v 2000000 && exec {command} topo 'node:65536 core:256'"]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.endswith("expected at most 4194304 leaves, 4 GB in a tree, found more\n")


def test_map_knows_the_switches_of_a_network(ranktree: Callable, tmp_path: Path) -> None:
    """Pairs that communicate get one node, below the switches in the file."""
    network, pattern = tmp_path / "topology.conf", tmp_path / "pairs.csv"
    network.write_text(NETWORK, encoding="utf-8")
    pairs = "".join(f"{rank},{rank + 4},1,100,p2p\n" for rank in range(4))
    pattern.write_text("# ranktree pattern | ranks=8\nsrc,dst,messages,bytes,class\n" + pairs, encoding="ascii")
    result = ranktree("map", pattern, "--machine", "core:2", "--network", network, "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["levels"] == ["Cluster", "Switch0", "Switch1", "Node", "Core"]
    weights = {row["placement"]: row["weight"] for row in document["costs"]}
    assert weights["identity"] == [0, 400, 0, 0, 0]
    assert weights["plan"] == [0, 0, 0, 400, 0]


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("nod:4 core:2", "'nod' is no kind of level; the nearest is 'Node'"),
        ("node:4 pakage:2 core:2", "'pakage' is no kind of level; the nearest is 'Package'"),
        ("switches:2 node:2 core:2", "'switches' is no kind of level; the nearest is 'Switch'"),
        (
            "node:2 rack:2",
            "'rack' is no kind of level; the kinds are Cluster, Switch, Node, Group, Package, Die, NUMANode, L5Cache, "
            "L4Cache, L3Cache, L2Cache, L1Cache, Core, PU",
        ),
    ],
)
def test_unknown_words_are_refused_with_the_nearest_kind(ranktree: Callable, description: str, text: str) -> None:
    """hwloc alone would take `nod:4` for four NUMA nodes."""
    result = ranktree("topo", description)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"ranktree: machine '{description}': {text}\n"
