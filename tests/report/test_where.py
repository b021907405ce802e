"""`ranktree where`: places of real launches against the kernel, machines from text, and what is wrong with them."""

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.reports import PUS, TEXT

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree.where.findings import findings
from ranktree.where.hosts import Host, binding, hosts_in
from ranktree.where.launch import Found, add_usable, as_text, described


@pytest.fixture
def hosts() -> dict[str, Host]:
    """The hosts of TEXT, all of whose cores may be used."""
    found = hosts_in(TEXT)
    for host in found.values():
        host.usable = host.cores
    return found


def test_hosts_are_read_from_what_the_ranks_print(hosts: dict[str, Host]) -> None:
    assert list(hosts) == ["n0", "n1"]
    assert hosts["n0"].packages == [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]]
    assert hosts["n0"].cores[4] == [4, 12]
    assert hosts["n0"].numa == {0: [0, 1, 2, 3, 8, 9, 10, 11], 1: [4, 5, 6, 7, 12, 13, 14, 15]}
    assert hosts["n1"].cores == [[0], [1]]


def test_cores_are_numbered_by_numa_node_in_each_package() -> None:
    """As hwloc does: here the nodes of one package have PUs in turn."""
    host = Host("n0", [[0, 1, 2, 3]], {0: [0, 2], 1: [1, 3], 2: []}, [[0], [1], [2], [3]])
    host.order_cores()
    assert host.cores == [[0], [2], [1], [3]]
    assert binding([1, 3], host) == "NUMANode P#1"
    assert binding([0, 1], host) == "Core L#0,2"


@pytest.mark.parametrize(
    ("pus", "expected"),
    [
        (range(16), "Node"),
        ([0, 1, 2, 3, 8, 9, 10, 11], "Package L#0"),
        ([4, 12], "Core L#4"),
        ([1, 2, 9, 10], "Core L#1-2"),
        ([3], "PU P#3"),
        ([3, 4], "PU P#3-4"),
        ([0, 1, 8], "PU P#0-1,8"),
    ],
)
def test_bindings_are_named_by_the_largest_objects(hosts: dict[str, Host], pus: Any, expected: str) -> None:
    assert binding(list(pus), hosts["n0"]) == expected


def test_a_host_of_which_nothing_is_known_has_pus() -> None:
    assert binding([2, 3], Host("x")) == "PU P#2-3"


@pytest.mark.parametrize(
    ("launcher", "flag"),
    [
        ("openmpi4", "--map-by socket --bind-to core"),
        ("openmpi5", "--map-by package --bind-to core"),
        ("mpich", "-bind-to core -map-by socket"),
        ("slurm", "--cpu-bind=cores --distribution=block:cyclic"),
    ],
)
def test_an_idle_package_is_named_with_the_flag_of_the_launcher(
    hosts: dict[str, Host], launcher: str, flag: str
) -> None:
    places = [("n0", [0, 8]), ("n0", [1, 9])]
    assert findings(places, hosts, launcher) == [
        {"trouble": "idle package", "host": "n0", "ranks": [0, 1], "pus": [4, 5, 6, 7, 12, 13, 14, 15], "flag": flag}
    ]
    assert findings([("n0", [0, 8]), ("n0", [4, 12])], hosts, launcher) == []


def test_one_overloaded_node_beside_a_free_one(hosts: dict[str, Host]) -> None:
    places = [("n1", [0]), ("n1", [1]), ("n1", [0]), ("n0", [0, 8])]
    found = findings(places, hosts, "openmpi5")
    assert [(each["trouble"], each["host"]) for each in found] == [("oversubscribed", "n1"), ("overloaded", "n1")]
    assert found[1]["flag"] == "--map-by ppr:2:node --bind-to core"
    everywhere = [("n1", [0]), ("n1", [1]), ("n1", [0])]
    assert [each["trouble"] for each in findings(everywhere, hosts, "mpich")] == ["oversubscribed"]


def test_sound_bindings_have_no_findings(hosts: dict[str, Host]) -> None:
    places = [("n0", [core, core + 8]) for core in range(8)] + [("n1", [0]), ("n1", [1])]
    assert findings(places, hosts, "mpich") == []


def test_a_rank_of_a_job_without_cgroup_is_bound_unless_it_has_all_cpus_of_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The job has 4 of 8 cores; which, only its ranks show."""
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n0")
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "4")
    for pus, expected in (([0], "Core L#0"), ([0, 1, 2, 3], "Node")):
        found = Found("slurm", "22.05", "", [("n0", pus)], {"n0": Host("n0", cores=[[pu] for pu in range(8)])})
        add_usable(found, None)
        assert found.hosts["n0"].usable == [[pu] for pu in pus], "never cores beside the job's"
        assert binding(pus, found.hosts["n0"]) == expected
        troubles = [each["trouble"] for each in described(found)["findings"]]
        assert troubles == (["unbound"] if expected == "Node" else [])


def test_findings_that_one_flag_corrects_share_a_line(hosts: dict[str, Host]) -> None:
    """The advice is printed once."""
    found = Found("mpich", "4.0.2", "MPICH Version: 4.0.2", [("n1", [0, 1])] * 3, hosts)
    first, *_, last = as_text(described(found)).splitlines()
    assert first == "3 ranks, MPICH 4.0.2"
    finding = "unbound, oversubscribed: ranks 0-2 on n1, PUs 0-1: use -ppn 2 -bind-to core (at most 2 ranks"
    assert last.startswith(finding)


BOUND = {"openmpi": ["--bind-to", "core"], "mpich": ["-bind-to", "core"]}
UNBOUND = {"openmpi": ["--bind-to", "none"], "mpich": ["-bind-to", "none"]}


def starter(mpi: Any) -> str:
    """The launcher of an MPI."""
    return f"mpiexec.{mpi.name}"


@pytest.mark.skipif(PUS != [0, 1], reason="expected places are for a machine with PUs 0 and 1")
def test_bound_ranks_of_a_launch(ranktree: Callable, mpi: Any) -> None:
    result = ranktree("where", "--json", "--", starter(mpi), "-n", 2, *BOUND[mpi.name], "true")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert (document["format"], document["version"]) == ("ranktree-where", 1)
    assert [row["pus"] for row in document["ranks"]] == [[0], [1]]
    assert [row["binding"] for row in document["ranks"]] == ["Core L#0", "Core L#1"]
    assert {row["host"] for row in document["ranks"]} == {os.uname().nodename}
    assert [row["shares_with"] for row in document["ranks"]] == [[], []]
    assert document["launcher_version"].startswith(("4.", "5."))


@pytest.mark.skipif(PUS != [0, 1], reason="expected places are for a machine with PUs 0 and 1")
def test_unbound_ranks_end_with_code_3_and_the_flag(ranktree: Callable, mpi: Any) -> None:
    result = ranktree("where", "--", starter(mpi), "-n", 2, *UNBOUND[mpi.name], "true")
    assert result.returncode == 3, result.stderr
    lines = result.stdout.splitlines()
    assert lines[2].split() == ["0", os.uname().nodename, "Node", "0-1", "0", "1"]
    assert lines[-1].startswith("unbound: ranks 0-1 on ")
    assert lines[-1].endswith(f"use {' '.join(BOUND[mpi.name])}")


@pytest.mark.skipif(PUS != [0, 1], reason="expected places are for a machine with PUs 0 and 1")
def test_inside_a_job_rank_0_prints(command: str, mpi: Any) -> None:
    words = [starter(mpi), "-n", "2", *BOUND[mpi.name], command, "where", "--json"]
    result = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert [row["pus"] for row in document["ranks"]] == [[0], [1]]
    assert [row["numa"] for row in document["ranks"]] == [[0], [0]]


def test_refusals(ranktree: Callable, mpi: Any) -> None:
    cases = (
        ((), "no launcher started this process"),
        (("--", "true"), "no launcher"),
        (("--", starter(mpi), "-n", 2), "names no program"),
        (("--", starter(mpi), "-n", 2, "/no/such/program"), "no program here"),
    )
    for arguments, text in cases:
        result = ranktree("where", *arguments)
        assert result.returncode == 1
        assert text in result.stderr
        assert "Traceback" not in result.stderr
