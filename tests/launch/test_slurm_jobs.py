"""Parts of a Slurm cluster: scattered allocations below a tree of switches, and heterogeneous jobs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.emulated_cluster import MiniCluster, cluster_up
from tests.helpers.launches import places, planned
from tests.helpers.trace_files import read_trace

SCATTERED = ("-w", "n0,n2,n5", "-N", 3, "-n", 6)  # of the switches leaf0, leaf1, leaf2
HETEROGENEOUS = ("-w", "n1", "-n", 2, ":", "-w", "n6", "-n", 2)


@pytest.fixture(scope="module")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Eight nodes of two cores under Slurm, two on each leaf switch."""
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), "--nodes", 8, "--per-switch", 2) as made:
        made.start_slurm("--cpus", 2)
        yield made


@pytest.fixture
def topology(cluster) -> Path:
    """Slurm's own file of its switches."""
    return cluster.state / "slurm" / "topology.conf"


@pytest.fixture
def traced(batch, command, rings, tmp_path: Path) -> Path:
    """The trace of six ranks on the scattered nodes."""
    path = tmp_path / "app.npz"
    batch(command, "trace", "-o", path, "--", "srun", "--mpi=pmix", *rings, job=SCATTERED)
    return path


def test_a_trace_has_the_hosts_of_a_scattered_allocation(traced) -> None:
    trace = read_trace(traced)
    assert trace.metadata["complete"] is True
    assert trace.metadata["hosts"] == ["n0", "n0", "n2", "n2", "n5", "n5"]


def test_a_pattern_is_placed_below_the_switches(batch, command, rings, traced, topology) -> None:
    """--verify compares every rank with the plan before the program starts."""
    launch = ["srun", "--mpi=pmix", "-n", 6, *rings]
    words = ["run", "--pattern", traced, "--machine", "core:2", "--network", topology, "--verify", "--", *launch]
    assert "rings: 6 ranks" in batch(command, *words, job=SCATTERED)


def test_optimize_uses_the_scattered_nodes_only(batch, command, rings, topology, tmp_path) -> None:
    launch = ["srun", "--mpi=pmix", "-n", 6, *rings]
    words = ["optimize", "-o", tmp_path / "opt", "--runs", 1, "--machine", "core:2", "--network", topology]
    text = batch(command, *words, "--", *launch, job=SCATTERED)
    plans = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "opt").glob("plan.*.json")]
    assert plans, text
    for plan in plans:
        assert {slot["host"] for slot in plan["slots"]} == {"n0", "n2", "n5"}


def test_a_plan_for_one_component_of_a_heterogeneous_job(batch, command, make_plan, where) -> None:
    """srun's --het-group names it; its hosts are those of its own variable."""
    slots = [("n6", [1]), ("n6", [0])]
    launch = ["srun", "--het-group=1", "-n", 2, where]
    text = batch(command, "run", "--plan", make_plan(slots), "--", *launch, job=HETEROGENEOUS)
    assert places(text) == planned(slots)


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        ("0", "plan.json is for n6; SLURM_JOB_NODELIST_HET_GROUP_0 has n1"),
        ("0,1", "srun: several components of a job (--het-group=0,1) are not supported"),
    ],
)
def test_other_components_are_refused(batch, command, make_plan, where, group, reason) -> None:
    plan = make_plan([("n6", [1]), ("n6", [0])])
    launch = ["srun", f"--het-group={group}", "-n", 2, where]
    text = batch(command, "run", "--plan", plan, "--", *launch, "2>&1 ||", "echo refused", job=HETEROGENEOUS)
    assert reason in text
    assert text.endswith("refused\n")
    assert places(text) == {}


def test_a_trace_of_a_step_over_several_components(batch, command, rings, tmp_path) -> None:
    """Both components are one MPI_COMM_WORLD; ranks are numbered component by component."""
    launch = ["srun", "--mpi=pmix", "--het-group=0,1", *rings]
    batch(command, "trace", "-o", tmp_path / "app.npz", "--", *launch, job=HETEROGENEOUS)
    trace = read_trace(tmp_path / "app.npz")
    assert trace.metadata["complete"] is True
    assert trace.metadata["hosts"] == ["n1", "n1", "n6", "n6"]
