"""The hosts of a launch: from the user, the launcher's command or the job; what `map` and `run` make of them."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree import _core
from ranktree.allocation import Allocation, allocation, of_job, other_hosts
from ranktree.launcher import LaunchCommand
from ranktree.placed_run import Placing, found_slots
from ranktree.placed_run import make_plan as plan_of_run
from ranktree.usable_machine import nodes_of, usable_machine
from ranktree.where.hosts import Host
from ranktree.where.launch import Found

from tests.helpers.launches import HERE, PUS, environment, places

RING = np.roll(np.eye(4), 1, axis=1) * 1000


def silent(_: str) -> None:
    """Drops the text."""


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """The pattern of a ring of four ranks."""
    np.save(tmp_path / "ring.npy", RING)
    return tmp_path / "ring.npy"


@pytest.fixture
def cluster_file(ranktree, tmp_path: Path) -> Path:
    """A machine file of the hosts c0 to c3 with two cores each."""
    path = tmp_path / "cluster.json"
    assert ranktree("topo", "node:4 core:2", "-o", path).returncode == 0
    path.write_text(re.sub(r'"n(\d)"', r'"c\1"', path.read_text(encoding="utf-8")), encoding="utf-8")
    assert list(nodes_of(_core.load_machine(str(path)))) == ["c0", "c1", "c2", "c3"]
    return path


def test_localhost_is_this_node(tmp_path: Path) -> None:
    """A plan names its hosts as the nodes name themselves."""
    own = os.uname().nodename
    hostfile = tmp_path / "hosts"
    hostfile.write_text("localhost slots=4\nother slots=4\n127.0.0.1\n", encoding="ascii")
    for found in (
        allocation(hostfile=hostfile),
        allocation(hosts="localhost,other"),
        of_job({"PBS_NODEFILE": str(hostfile)}),
    ):
        assert found is not None
        assert found.hosts == (own, "other")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SLURM_JOB_NODELIST": "n[08-10],big"}, ("n08", "n09", "n10", "big")),
        ({"PBS_NODEFILE": "{file}"}, ("a", "b")),
        ({"LSB_DJOB_HOSTFILE": "{file}"}, ("a", "b")),
        ({"PE_HOSTFILE": "{file}"}, ("a", "b")),
        ({"LSB_MCPU_HOSTS": "a 4 b 8 "}, ("a", "b")),
    ],
)
def test_hosts_are_those_of_the_job(tmp_path: Path, variables: dict[str, str], expected: tuple[str, ...]) -> None:
    (tmp_path / "nodes").write_text("a\na\nb 4 queue\na\n", encoding="ascii")
    found = of_job({name: value.format(file=tmp_path / "nodes") for name, value in variables.items()})
    assert found is not None
    assert (found.hosts, found.named) == (expected, False)
    assert of_job({}) is None


def test_flux_lists_its_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flux = tmp_path / "flux"
    flux.write_text('#!/bin/sh\n[ "$*" = "getattr hostlist" ] && echo "f[1-2]"\n', encoding="ascii")
    flux.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert of_job({"FLUX_URI": "local:///x"}) == Allocation(("f1", "f2"), "Flux")
    flux.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    assert of_job({"FLUX_URI": "local:///x"}) is None


def test_the_user_overrides_the_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n1")
    assert allocation("m[1-2]").hosts == ("m1", "m2")
    assert allocation("all") is None
    assert allocation().hosts == ("n1",)
    (tmp_path / "empty").write_text("# none\n", encoding="ascii")
    with pytest.raises(ValueError, match="expected a host a line, found none"):
        allocation(None, tmp_path / "empty")
    with pytest.raises(ValueError, match="found both"):
        allocation("a", tmp_path / "empty")


def test_hosts_of_two_domains_with_one_first_part_are_kept_apart(tmp_path: Path) -> None:
    document = {"format": "ranktree-machine", "version": 1, "shapes": {"s": "core:2"}}
    document["network"] = {"hosts": [{"names": name, "shape": "s"} for name in ("c0.a.org", "c0.b.org")]}
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(document), encoding="ascii")
    for number, name in enumerate(("c0.a.org", "c0.b.org")):
        tree, _ = usable_machine(str(path), None, Allocation((name,), "--hosts", True), silent)
        assert [leaf for leaf in range(tree.leaf_count) if tree.allowed(leaf)] == [2 * number, 2 * number + 1]


def test_only_hosts_of_the_allocation_are_used(cluster_file: Path) -> None:
    tree, described = usable_machine(str(cluster_file), None, Allocation(("c3.domain", "c1"), "--hosts", True), silent)
    assert not described
    assert [leaf for leaf in range(tree.leaf_count) if tree.allowed(leaf)] == [2, 3, 6, 7]
    with pytest.raises(ValueError, match=r"--hosts: the machine \(c0, c1, c2, c3\) has no host x"):
        usable_machine(str(cluster_file), None, Allocation(("c1", "x"), "--hosts", True), silent)
    logged: list[str] = []
    tree, _ = usable_machine(str(cluster_file), None, Allocation(("x",), "SLURM_JOB_NODELIST"), logged.append)
    assert all(tree.allowed(leaf) for leaf in range(tree.leaf_count))
    assert logged == ["SLURM_JOB_NODELIST: x are not in the machine: all of its hosts are used"]


def test_described_hosts_take_the_names_that_are_given() -> None:
    tree, described = usable_machine(
        "switch:2 node:2 core:2", None, Allocation(("a", "b", "c", "d"), "--hosts", True), silent
    )
    assert (list(nodes_of(tree)), described) == (["a", "b", "c", "d"], False)
    tree, described = usable_machine("package:2 core:2", None, Allocation(("a", "b"), "--hosts", True), silent)
    assert (list(nodes_of(tree)), described, tree.leaf_count) == (["a", "b"], False, 8)
    with pytest.raises(ValueError, match="expected 4 hosts, as many as described, found 1"):
        usable_machine("node:4 core:2", None, Allocation(("a",), "--hosts", True), silent)
    assert usable_machine("node:4 core:2", None, Allocation(("a",), "SLURM_JOB_NODELIST"), silent)[1]


def test_map_places_on_the_hosts_of_the_job(ranktree, cluster_file: Path, ring: Path, tmp_path: Path) -> None:
    words = ("map", ring, "--machine", cluster_file, "-o", tmp_path / "plan.json")
    assert ranktree(*words, env=os.environ | {"SLURM_JOB_NODELIST": "c[2-3]"}).returncode == 0
    assert {host for host, _ in _core.plan_slots(_core.load_plan(str(tmp_path / "plan.json")))} == {"c2", "c3"}
    assert ranktree(*words, "--hosts", "c0,c3").returncode == 0
    assert {host for host, _ in _core.plan_slots(_core.load_plan(str(tmp_path / "plan.json")))} == {"c0", "c3"}
    result = ranktree("map", ring, "--hosts", "a,b,c,d", "-o", tmp_path / "plan.json")
    assert result.returncode == 0
    assert "each of a, b, c, d is taken to be like this node" in result.stderr
    assert json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["hosts"][3]["name"] == "d"


def test_a_plan_of_other_hosts_is_known(make_plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan([("n1", [0]), ("n2", [0])])
    words = ["srun", "-n", "2", "true"]
    (tmp_path / "srun").write_text("#!/bin/sh\n", encoding="ascii")
    (tmp_path / "srun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert other_hosts(plan, words, None, None) is None
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-3]")
    assert other_hosts(plan, words, None, None) is None
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[2-3]")
    assert other_hosts(plan, words, None, None) == f"{plan} is for n1, n2; SLURM_JOB_NODELIST has n2, n3"


@pytest.mark.parametrize("objective", [None, "time"])
def test_run_makes_the_plan_of_map(ranktree, cluster_file: Path, tmp_path: Path, objective: str | None) -> None:
    """Compared with the hosts of the trace as well, which the machine lacks."""
    ranks = np.arange(8, dtype=np.int64)
    pattern = _core.Pattern.from_pairs(8, ranks, (ranks + 3) % 8, np.ones(8), 1000.0 * (1 + ranks))
    pattern.metadata = {"hosts": [f"x{rank % 4}" for rank in ranks]}
    _core.save_pattern(str(tmp_path / "app.npz"), pattern)
    words = ("--machine", cluster_file, "--hosts", "c[0-3]", "-o", tmp_path / "map.json")
    minimised = ["--objective", objective] if objective else ["--metric", "size"]
    mapped = ranktree("map", tmp_path / "app.npz", *minimised, *words)
    notes: list[str] = []
    wanted = Placing(tmp_path / "app.npz", objective=objective, machine=str(cluster_file), hosts="c[0-3]")
    path = plan_of_run(wanted, [], tmp_path, notes.append)
    assert path.read_text(encoding="utf-8") == (tmp_path / "map.json").read_text(encoding="utf-8")
    assert [f"ranktree: {note}" for note in notes] == mapped.stderr.splitlines()
    assert notes[0].endswith("the traced placement is that on its nodes in order (c0, c1, c2, c3)")


@pytest.mark.skipif(len(PUS) < 2, reason="two PUs are needed")
@pytest.mark.parametrize("folder", [[], ["--folder", "new/files"]], ids=["none", "folder"])
def test_run_places_a_pattern_and_runs_in_one_step(ranktree, where, mpiexec, tmp_path: Path, folder) -> None:
    np.save(tmp_path / "two.npy", np.ones((2, 2)))
    words = ["run", "--pattern", tmp_path / "two.npy", "--verify", *folder, "--", mpiexec, "-n", 2, where]
    result = ranktree(*words, env=environment(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = places(result.stdout)
    assert {host for host, _ in found.values()} == {HERE}
    assert len({pus for _, pus in found.values()}) == 2, "each rank has a core of its own"
    assert not list(tmp_path.glob(".ranktree-*"))
    assert (tmp_path / "new/files/plan.json").exists() == bool(folder)


@pytest.mark.skipif(len(PUS) < 2, reason="two PUs are needed")
def test_a_pattern_replaces_options_that_place(ranktree, where, mpiexec, tmp_path: Path) -> None:
    """The launch with them shows what each rank has; the plan has it in their place."""
    np.save(tmp_path / "two.npy", np.ones((2, 2)))
    bound = ["-bind-to", "core"] if mpiexec.endswith("mpich") else ["--bind-to", "core"]
    words = ["run", "--pattern", tmp_path / "two.npy", "--verify", "--", mpiexec, "-n", 2, *bound, where]
    result = ranktree(*words, env=environment(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert f"ranktree: the plan replaces: {' '.join(bound)}" in result.stderr
    assert len({pus for _, pus in places(result.stdout).values()}) == 2
    refused = ranktree("run", "--threads-per-rank", 2, "--collectives", "auto", "--", mpiexec, "-n", 2, where)
    assert (refused.returncode, "--threads-per-rank need" in refused.stderr) == (2, True)


TWO_BY_TEN = Host("n0", [[*range(10)], [*range(10, 20)]], cores=[[pu] for pu in range(20)])


def found_on(monkeypatch: pytest.MonkeyPatch, places: list, hosts: list[Host]) -> None:
    """What a launch shows from now on."""
    for host in hosts:
        host.usable = host.cores
    found = Found("mpich", "4.0.2", "", places, {host.name: host for host in hosts})
    monkeypatch.setattr("ranktree.where.launch.found_by_launch", lambda _: found)


@pytest.mark.parametrize(
    ("ranks", "each", "threads", "slots", "noted"),
    [
        (4, 5, None, 5, "each rank gets 5 of its 5 cores"),
        (5, 4, None, 3, "each rank gets 3 of its 4 cores"),  # no slot of four in what a package leaves over
        (5, 4, 2, 2, None),
        (5, 1, None, 1, None),
    ],
)
def test_slots_of_a_launch_fit_its_ranks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ranks: int, each: int, threads: int | None, slots: int, noted: str
) -> None:
    found_on(monkeypatch, [("n0", [*range(each * rank, each * rank + each)]) for rank in range(ranks)], [TWO_BY_TEN])
    notes: list[str] = []
    tree = found_slots(LaunchCommand([], "mpiexec", "mpich", (4,)), tmp_path / "machine.json", threads, notes.append)
    assert {len(tree.pus(leaf)) for leaf in range(tree.leaf_count)} == {slots}
    assert [note.partition(" (")[0] for note in notes] == ([noted] if noted else [])


def test_hosts_without_a_common_order_of_levels_have_no_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Several L3 to a NUMA node on one, several NUMA nodes to an L3 on the other."""
    cores, one, two = [[pu] for pu in range(8)], [*range(4)], [*range(4, 8)]
    halves = [[0, 1], [2, 3], [4, 5], [6, 7]]
    epyc = Host("a", [one, two], {0: one, 1: two}, cores, [(3, half) for half in halves])
    xeon = Host("b", [one, two], dict(enumerate(halves)), cores, [(3, one), (3, two)])
    found_on(monkeypatch, [("a", [0]), ("b", [0])], [epyc, xeon])
    notes: list[str] = []
    tree = found_slots(LaunchCommand([], "mpiexec", "mpich", (4,)), tmp_path / "machine.json", None, notes.append)
    assert tree.levels == ["Cluster", "Node", "Package", "NUMANode", "Core"]
    assert [note.endswith("caches do not count") for note in notes] == [True]


def test_a_refused_run_makes_no_folder(ranktree, where, mpiexec, tmp_path: Path) -> None:
    words = ["run", "--pattern", tmp_path / "absent.npz", "--folder", "new", "--", mpiexec, "-n", 2, where]
    assert ranktree(*words, env=environment(), cwd=tmp_path).returncode == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(len(PUS) < 2, reason="two PUs are needed")
def test_run_places_anew_on_other_hosts_or_refuses(ranktree, make_plan, where, mpiexec, tmp_path: Path) -> None:
    np.save(tmp_path / "two.npy", np.ones((2, 2)))
    plan = make_plan([("elsewhere", [0]), ("elsewhere", [1])])
    launch = [mpiexec, "-host" if "mpich" in mpiexec else "--host", f"{HERE}:2", "-n", 2, where]
    result = ranktree("run", "--plan", plan, "--", *launch, env=environment(), cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"{plan} is for elsewhere; the launcher's command has {HERE}: --pattern" in result.stderr
    words = ["run", "--plan", plan, "--pattern", tmp_path / "two.npy", "--", *launch]
    result = ranktree(*words, env=environment(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "placing the ranks anew" in result.stderr
    assert set(places(result.stdout)) == {0, 1}


def test_a_described_machine_has_no_hosts_to_launch_on(ranktree, ring: Path, tmp_path: Path, mpiexec) -> None:
    plan = tmp_path / "plan.json"
    assert ranktree("map", ring, "--machine", "node:2 core:2", "-o", plan).returncode == 0
    for words in (["emit", plan, "-l", "mpich"], ["run", "--plan", plan, "--", mpiexec, "-n", 4, "true"]):
        result = ranktree(*words, env=environment(), cwd=tmp_path)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == (
            f"ranktree: {plan}: the machine was described in words and has no real hosts: give `ranktree map` --hosts, "
            "or the machine file of `ranktree topo -o` there\n"
        )


@pytest.mark.skipif(len(PUS) < 2, reason="two PUs are needed")
def test_a_single_described_node_is_this_node(ranktree, where, mpiexec, tmp_path: Path) -> None:
    np.save(tmp_path / "two.npy", np.ones((2, 2)))
    plan = tmp_path / "plan.json"
    assert ranktree("map", tmp_path / "two.npy", "--machine", "core:2", "-o", plan).returncode == 0
    launch = ["--", mpiexec, "-n", 2, where]
    for check in [], ["--verify"], ["--verify-hosts"]:
        result = ranktree("run", "--plan", plan, *check, *launch, env=environment(), cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        assert {host for host, _ in places(result.stdout).values()} == {HERE}


@pytest.mark.skipif(len(PUS) < 2, reason="two PUs are needed")
def test_a_single_described_node_is_the_one_that_the_launcher_names(ranktree, where, mpiexec, tmp_path: Path) -> None:
    """The made-up name is not compared with the launcher's hosts either."""
    np.save(tmp_path / "two.npy", np.ones((2, 2)))
    plan = tmp_path / "plan.json"
    assert ranktree("map", tmp_path / "two.npy", "--machine", "core:2", "-o", plan).returncode == 0
    launch = [mpiexec, "-host" if "mpich" in mpiexec else "--host", f"{HERE}:2", "-n", 2, where]
    result = ranktree("run", "--plan", plan, "--verify", "--", *launch, env=environment(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert {host for host, _ in places(result.stdout).values()} == {HERE}
