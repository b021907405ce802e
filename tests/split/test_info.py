"""What the info keys change: who is on one node, and which switches are above it."""

import socket
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.emulated_cluster import MiniCluster
from tests.helpers.faked_mpis import FakedMpi, Machine, cluster_launch

NODE = "pack:2 core:2 pu:1"
CORES = [[0], [1], [2], [3]]
AGREED = "message: "
TOPOLOGY = "SwitchName=root Switches=left,right\nSwitchName=left Nodes=a,b\nSwitchName=right Nodes=c,d\n"


def lines(mpi: FakedMpi, *keys: str) -> list[str]:
    """What split_info prints for each rank."""
    result = mpi.run(Machine(NODE, CORES), "info", *keys)
    assert result.returncode == 0, f"exit {result.returncode}: {result.stdout}{result.stderr}"
    return result.stdout.splitlines()


@pytest.mark.parametrize("node_id", ["shared", "hostname", "boot_id"])
def test_ranks_of_this_machine_are_on_one_node(mpi: FakedMpi, node_id: str) -> None:
    expected = [
        f"Package {rank // 2}/2 2, Core {rank % 2}/2 1, with 0: {shared}, at: Node Package Core, {AGREED}"
        for rank, shared in enumerate(["Core", "Package", "Node", "Node"])
    ]
    assert lines(mpi, f"ranktree_node_id={node_id}") == expected


def test_nodes_by_a_variable_split_before_packages(mpi: FakedMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_PER_RANK", "RANKTREE_NODE_ID=x;y;y;x")
    printed = lines(mpi, "ranktree_node_id=env")
    found = [line.split(", with 0")[0] for line in printed]
    # Queries follow the rules of the split: rank 1 is on another node than rank 0.
    assert [line.split("with 0: ")[1].split(",")[0] for line in printed] == ["Core", "Cluster", "Cluster", "Node"]
    assert found == [
        "Node 0/2 2, Package 0/2 1",
        "Node 1/2 2, Package 0/2 1",
        "Node 1/2 2, Package 1/2 1",
        "Node 0/2 2, Package 1/2 1",
    ]


def test_nodes_by_the_first_line_of_a_file(mpi: FakedMpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("x", "y"):
        (tmp_path / name).write_text(f"node {name}\nmore\n", encoding="ascii")
    files = ";".join(str(tmp_path / name) for name in "xxxy")
    monkeypatch.setenv("SPLIT_PER_RANK", f"RANKTREE_NODE_ID_FILE={files}")
    assert [line.split(", ")[0] for line in lines(mpi, "ranktree_node_id=file")] == ["Node 0/2 3"] * 3 + ["Node 1/2 1"]


def test_switches_of_slurm_come_before_nodes(mpi: FakedMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node")
    host = socket.gethostname().partition(".")[0]
    addresses = ";".join(f"root.{switch}.{host}" for switch in ("left", "left", "right", "left"))
    monkeypatch.setenv("SPLIT_PER_RANK", f"SLURM_TOPOLOGY_ADDR={addresses}")
    found = lines(mpi, "ranktree_leftover=group")
    assert [line.split(", ")[0] for line in found] == [
        f"Switch1 {i}/2 {n}" for i, n in [(0, 3), (0, 3), (1, 1), (0, 3)]
    ]
    assert [line.split("with 0: ")[1].split(",")[0] for line in found] == ["Core", "Package", "Switch0", "Node"]
    assert all("at: Switch0 Switch1 Node Package Core" in line for line in found)
    # Without switches packages come first.
    assert lines(mpi, "ranktree_network=none")[0].startswith("Package 0/2 2")


def test_an_address_of_another_host_is_not_believed(mpi: FakedMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.node")
    here = f"s.{socket.gethostname().partition('.')[0]}"
    monkeypatch.setenv("SPLIT_PER_RANK", f"SLURM_TOPOLOGY_ADDR={here};s.elsewhere;{here};{here}")
    found = lines(mpi)
    assert [line.split(", ")[0] for line in found] == ["Switch0 0/2 3", "Node 1/2 1"] + ["Switch0 0/2 3"] * 2
    assert "with 0: Cluster" in found[1]


def test_hosts_that_mpi_and_names_disagree_about_are_reported(mpi: FakedMpi) -> None:
    known_bugs.skip(mpi, "one-name-per-host")
    hosts = ["a", "b"]
    machine = Machine(NODE, CORES)
    result = mpi.run(machine, "info", hosts=hosts)
    assert result.returncode == 0, result.stderr
    found = result.stdout.splitlines()
    assert [line.split(", ")[0] for line in found] == [f"Node {i}/2 2" for i in (0, 0, 1, 1)]
    assert all("MPI_COMM_TYPE_SHARED and the host names disagree" in line for line in found)
    assert all("with 0: Cluster" in line for line in found[2:])


def test_a_switch_may_part_what_mpi_has_on_one_node(
    mpi: FakedMpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_bugs.skip(mpi, "one-name-per-host")
    path = tmp_path / "hosts"
    path.write_text(f"{socket.gethostname()} s0\n", encoding="ascii")
    monkeypatch.setenv("SPLIT_PER_RANK", f"RANKTREE_NETWORK={path};;{path};{path}")
    result = mpi.run(Machine(NODE, CORES), "info", hosts=["a", "b"])
    assert result.returncode == 0, result.stderr
    assert [line.split(", with 0: ")[0] for line in result.stdout.splitlines()] == [
        "Switch0 0/2 3, Node 0/2 1",
        "Node 1/2 1",
        "Switch0 0/2 3, Node 1/2 2, Core 0/2 1",
        "Switch0 0/2 3, Node 1/2 2, Core 1/2 1",
    ]


def test_a_network_file_that_is_not_there_fails_on_all_ranks_alike(mpi: FakedMpi, tmp_path: Path) -> None:
    for _ in range(3):  # on a busy machine Open MPI 4 may lose its own message, and prints where
        result = mpi.run(Machine(NODE, CORES), "info", f"ranktree_network={tmp_path / 'none.conf'}")
        assert result.returncode != 0
        if "show_help.c at line" not in result.stderr:
            break
    # Debian's MPICH prints no text of an error class that was added.
    assert ("MPI_Comm_call_errhandler" if mpi.name == "mpich" else "none.conf") in result.stderr


def test_a_host_below_no_switch_of_the_file_has_none(mpi: FakedMpi, tmp_path: Path) -> None:
    path = tmp_path / "topology.conf"
    path.write_text(TOPOLOGY, encoding="ascii")
    assert all("at: Node Package Core" in line for line in lines(mpi, f"ranktree_network={path}"))


def test_switches_of_a_file_above_real_nodes(mpi: FakedMpi, cluster: MiniCluster, tmp_path: Path) -> None:
    known_bugs.skip(mpi, "finalize-hangs-across-nodes")
    path = tmp_path / "hosts"
    path.write_text("n0 root.left\nn1 root.left\nn2 root.right\nn3 root.right\n", encoding="ascii")
    words, variables = cluster_launch(mpi, Machine(NODE, [[0], [3]] * 4), {f"n{i}": 2 for i in range(4)})
    program = [mpi.program("info"), f"ranktree_network={path}"]
    result = cluster.call("mpirun", *words, *program, env=variables, cwd=program[0].parent, timeout=120)
    assert result.returncode == 0, result.stderr
    assert [line.split(", with 0: ")[0] for line in result.stdout.splitlines()] == [
        f"Switch1 {rank // 4}/2 4, Node {rank // 2 % 2}/2 2, Package {rank % 2}/2 1" for rank in range(8)
    ]
    assert "disagree" not in result.stdout


def test_switches_and_nodes_under_slurm(build_folder: Path, cluster: MiniCluster) -> None:
    program = build_folder / "bin" / "split_info_openmpi"
    if not program.exists():
        pytest.skip(f"{build_folder} is built without openmpi")
    cluster.start_slurm("--cpus", 2)
    try:
        words = ["srun", "--mpi=pmix", "-N", 4, "-n", 8, "--cpu-bind=none", program]
        result = cluster.call("slurm", *words, cwd=program.parent, timeout=120)
    finally:
        cluster.call("slurm-down")
    assert result.returncode == 0, result.stderr
    found = [line.split(", with 0: ") for line in result.stdout.splitlines()]
    assert [levels for levels, _ in found] == [
        f"Switch1 {rank // 4}/2 4, Node {rank // 2 % 2}/2 2" for rank in range(8)
    ]
    assert [shared.split(",")[0] for _, shared in found] == ["Node"] * 2 + ["Switch1"] * 2 + ["Switch0"] * 4
