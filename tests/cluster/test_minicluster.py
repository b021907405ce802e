"""The emulated cluster: separate nodes, a network that counts exactly, real Open MPI, and no remains after it."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.emulated_cluster import MiniCluster

NAMES = ["n0", "n1", "n2", "n3"]
LATENCY = 200e-6  # seconds, in one direction over one link
SENDER = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[2])):
    s.sendto(bytes(int(sys.argv[3])), (sys.argv[1], 5000))
"""
# A round trip of one byte in seconds, then a stream of argv[2] bytes: the time until the other side has read all of it.
CLIENT = """
import socket, sys, time
s = socket.create_connection((sys.argv[1], 5001))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
start = time.monotonic(); s.sendall(b"x"); s.recv(1); print(time.monotonic() - start)
start = time.monotonic(); s.sendall(bytes(int(sys.argv[2]))); s.shutdown(socket.SHUT_WR); s.recv(1)
print(time.monotonic() - start)
"""
SERVER = """
import socket
listener = socket.create_server(("0.0.0.0", 5001)); print("ready", flush=True)
s, _ = listener.accept()
s.sendall(s.recv(1))
while s.recv(1 << 20): pass
s.sendall(b"y")
"""
SHARED = """
from mpi4py import MPI
shared = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
places = MPI.COMM_WORLD.gather((MPI.Get_processor_name(), shared.allgather(MPI.COMM_WORLD.rank)))
if places:
    print(places)
"""


@contextmanager
def running(cluster: MiniCluster, *arguments: object) -> Iterator[subprocess.Popen]:
    """A command of the cluster in the background, stopped when the block is left."""
    verb, *rest = map(str, arguments)
    command = [str(cluster.program), verb, str(cluster.state), *rest]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def rankfile(path: Path, nodes: list[int]) -> Path:
    """Open MPI's file that puts rank i on the next free core of the node nodes[i]."""
    lines = [f"rank {rank}=n{node} slot={nodes[:rank].count(node)}\n" for rank, node in enumerate(nodes)]
    path.write_text("".join(lines), encoding="ascii")
    return path


def processes_naming(text: str) -> list[str]:
    """Command lines of running processes that contain the text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line:
            found.append(line)
    return found


def network_namespaces() -> set[str]:
    """Network namespaces that some process is in."""
    spaces = set()
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            spaces.add(str(path.readlink()))
        except OSError:
            continue
    return spaces


def test_every_node_has_its_own_name(cluster: MiniCluster) -> None:
    assert [cluster.in_node(name, "hostname") for name in NAMES] == NAMES


def test_every_node_has_its_own_processes_and_tmp(cluster: MiniCluster) -> None:
    cluster.in_node("n1", "touch", "/tmp/only_here", "/dev/shm/only_here")
    assert cluster.call("exec", "n2", "test", "-e", "/tmp/only_here").returncode == 1
    assert cluster.call("exec", "n2", "test", "-e", "/dev/shm/only_here").returncode == 1
    numbers = cluster.in_node("n1", "sh", "-c", "ls /proc | grep -c '^[0-9]'")
    assert int(numbers) < 10


def test_nodes_see_the_state_folder_and_the_current_one(cluster: MiniCluster, tmp_path: Path) -> None:
    assert str(tmp_path).startswith(str(cluster.state.parents[1])), "both are below pytest's base folder"
    (tmp_path / "here").touch()
    assert cluster.need("exec", "n0", "ls", cwd=tmp_path).split() == ["here"]
    assert cluster.in_node("n0", "cat", cluster.state / "hosts").splitlines()[1].endswith("n0")


def test_datagrams_are_counted_to_the_byte(cluster: MiniCluster) -> None:
    cluster.counters(reset=True)
    cluster.in_node("n0", "python3", "-c", SENDER, "n3", 10, 1000)
    deadline = time.monotonic() + 10
    while (counters := cluster.counters())["frames"][0][3] < 10 and time.monotonic() < deadline:
        time.sleep(0.02)
    # Ethernet 14, IP 20, UDP 8, then preamble 8, checksum 4 and gap 12 on the cable. The answers are ICMP "port
    # unreachable", limited in number: they alone go back.
    assert counters["bytes"][0][3] == 10 * (1000 + 14 + 20 + 8 + 24)
    assert counters["frames"][0][3] == 10
    elsewhere = [counters["bytes"][i][j] for i in range(4) for j in range(4) if {i, j} != {0, 3}]
    assert not any(elsewhere)


def test_a_stream_crosses_two_switches_no_faster_than_its_links(cluster: MiniCluster) -> None:
    payload = 2_000_000
    with running(cluster, "exec", "n1", "python3", "-c", SERVER) as process:
        assert process.stdout.readline().strip() == "ready"
        cluster.counters(reset=True)
        round_trip, stream = map(float, cluster.in_node("n2", "python3", "-c", CLIENT, "n1", payload).split())
    counters = cluster.counters()
    # Segments of 1448 bytes cost 1538 on the cable (headers 66, cable 24); a little more for short segments.
    assert payload * 1538 / 1448 <= counters["bytes"][2][1] <= 1.05 * payload * 1538 / 1448
    # Lower bounds only: a busy machine can make it slower, nothing can make it faster. Four links per direction, each
    # 400 Mbit/s.
    assert round_trip >= 8 * LATENCY
    assert stream >= payload * 8 / 400e6


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")
@pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="Debian's Open MPI is not installed")
def test_shared_communicators_are_the_nodes(cluster: MiniCluster) -> None:
    output = cluster.need(
        "mpirun", "-np", 7, "--host", "n0:2,n1:2,n2:2,n3:1", "-x", "MPI4PY_MPIABI=openmpi", sys.executable, "-c", SHARED
    )
    expected = [("n0", [0, 1])] * 2 + [("n1", [2, 3])] * 2 + [("n2", [4, 5])] * 2 + [("n3", [6])]
    assert output.strip() == str(expected)


@pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="Debian's Open MPI is not installed")
def test_ranks_are_where_a_rankfile_puts_them(cluster: MiniCluster, tmp_path: Path) -> None:
    nodes = [3, 0, 2, 1, 0, 3, 1]
    file = rankfile(tmp_path / "ranks", nodes)
    script = "echo $OMPI_COMM_WORLD_RANK $(hostname)"
    output = cluster.need("mpirun", "-np", 7, "--hostfile", cluster.state / "hostfile", "-rf", file, "sh", "-c", script)
    assert sorted(output.splitlines()) == [f"{rank} n{node}" for rank, node in enumerate(nodes)]


@pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="Debian's Open MPI is not installed")
@pytest.mark.parametrize(
    ("spread", "inter_node_tokens"),
    # 2 rings of 4: round robin, 4 hops of a ring cross nodes and both leaders are on n0; packed by node, each ring is
    # on
    # one node and the two leaders exchange their tokens.
    [([0, 1, 2, 3, 0, 1, 2, 3], 8), ([0, 0, 0, 0, 1, 1, 1, 1], 2)],
    ids=["round-robin", "packed"],
)
def test_inter_node_bytes_of_rings(
    cluster: MiniCluster, build_folder: Path, tmp_path: Path, spread: list[int], inter_node_tokens: int
) -> None:
    size, iterations = 65536, 20
    cluster.counters(reset=True)
    command = [build_folder / "bin" / "rings_openmpi", "--rings", 2, "--bytes", size, "--iterations", iterations]
    hosts = ["--hostfile", cluster.state / "hostfile", "-rf", rankfile(tmp_path / "ranks", spread)]
    cluster.need("mpirun", "-np", 8, *hosts, *command)
    payload = inter_node_tokens * size * iterations
    # Headers, acknowledgements and the start of the run: 5 to 15 percent.
    assert 1.0 * payload < cluster.counters()["inter_node_bytes"] < 1.2 * payload


def test_the_exit_code_is_that_of_the_command(cluster: MiniCluster) -> None:
    assert cluster.call("exec", "n0", "sh", "-c", "exit 7").returncode == 7
    assert cluster.call("mpirun", "-np", 1, "--host", "n1", "sh", "-c", "exit 7").returncode == 7


@pytest.mark.skipif(shutil.which("mpiexec.mpich") is None, reason="Debian's MPICH is not installed")
def test_hydra_reaches_every_node(cluster: MiniCluster) -> None:
    hosts = ["-hosts", ",".join(NAMES), "-ppn", 2]
    output = cluster.need("mpirun", "--launcher", "mpich", "-n", 8, *hosts, "hostname")
    assert sorted(output.split()) == sorted(NAMES * 2)


def test_an_unknown_launcher_is_refused(cluster: MiniCluster) -> None:
    result = cluster.call("mpirun", "--launcher", "lam", "-n", 1, "true")
    assert result.returncode == 1
    assert result.stderr == "minicluster: mpirun: --launcher is one of openmpi, mpich, not lam\n"


def test_an_unknown_node_is_named(cluster: MiniCluster) -> None:
    result = cluster.call("exec", "n9", "true")
    assert (result.returncode, result.stderr) == (1, f"minicluster: {cluster.state}: no node 'n9'\n")


def test_hwloc_sees_the_emulated_cores(cluster: MiniCluster) -> None:
    if shutil.which("lstopo-no-graphics") is None:
        pytest.skip("hwloc's tools are not installed")
    lines = cluster.in_node("n0", "lstopo-no-graphics", "--of", "console", "--only", "core").splitlines()
    assert len(lines) == 4


def test_two_clusters_are_separate(cluster: MiniCluster, make_cluster: Callable[..., MiniCluster]) -> None:
    cluster.counters(reset=True)
    other = make_cluster("--nodes", 2)
    other.in_node("n0", "python3", "-c", SENDER, "n1", 5, 100)
    deadline = time.monotonic() + 10
    while (counters := other.counters())["frames"][0][1] < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert cluster.counters()["inter_node_bytes"] == 0
    assert counters["bytes"][0][1] == 5 * (100 + 14 + 20 + 8 + 24)
    other.need("down")
    assert cluster.in_node("n1", "hostname") == "n1"


def test_down_leaves_nothing(make_cluster: Callable[..., MiniCluster]) -> None:
    cluster = make_cluster("--nodes", 3)
    processes = [(cluster.state / f"{name}.pid").read_text(encoding="ascii").strip() for name in NAMES[:3]]
    spaces = {str(Path(f"/proc/{process}/ns/net").readlink()) for process in processes}
    assert len(spaces) == 3
    assert spaces <= network_namespaces()
    assert processes_naming(str(cluster.state))
    cluster.in_node("n0", "sh", "-c", "sleep 1000 >/dev/null 2>&1 &")
    cluster.need("down")
    assert not cluster.state.exists()
    assert not processes_naming(str(cluster.state))
    assert not spaces & network_namespaces()
    cluster.need("down")


def test_a_second_up_is_refused(cluster: MiniCluster) -> None:
    result = cluster.call("up")
    assert result.returncode == 1
    assert result.stderr == f"minicluster: {cluster.state}: a cluster is already up there\n"
    assert cluster.in_node("n0", "hostname") == "n0"


def test_a_failed_up_leaves_nothing(minicluster: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    broken = programs / "minicluster_switch"
    broken.write_text("#!/bin/sh\necho the switch is broken; exit 1\n", encoding="ascii")
    broken.chmod(0o755)
    cluster = MiniCluster(minicluster, tmp_path / "state")
    result = cluster.call("up", env={**os.environ, "MINICLUSTER_BIN": str(programs)})
    assert result.returncode == 1
    assert "a process of the cluster ended before switch.ready: the switch is broken" in result.stderr
    assert not cluster.state.exists()
    assert not processes_naming(str(cluster.state))


@pytest.mark.parametrize("options", [["--nodes", "0"], ["--nodes", "201"], ["--rate", "-1"], ["--latency", "nan"]])
def test_up_refuses_senseless_numbers(minicluster: Path, tmp_path: Path, options: list[str]) -> None:
    result = MiniCluster(minicluster, tmp_path / "state").call("up", *options)
    assert result.returncode == 2
    assert not (tmp_path / "state").exists()


def test_slurm_runs_a_task_on_every_node(make_cluster: Callable[..., MiniCluster]) -> None:
    cluster = make_cluster("--nodes", 4, "--per-switch", 2)
    cluster.start_slurm()
    output = cluster.need("slurm", "srun", "-N", 4, "sh", "-c", "hostname; echo $SLURM_TOPOLOGY_ADDR")
    places = [f"root.leaf{node // 2}.n{node}" for node in range(4)]
    assert sorted(output.split()) == sorted([*NAMES, *places])
    cluster.need("down")
    assert not processes_naming(str(cluster.state))
