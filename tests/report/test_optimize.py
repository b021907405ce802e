"""`ranktree optimize`: candidates and sentences by themselves; then launches on one node and on an emulated cluster."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import packages
from tests.helpers.reports import left_of, save_stencil, script

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree import _core
from ranktree.launcher import LaunchCommand, Option
from ranktree.optimize.candidates import (
    candidates,
    gain_of,
    reorderings,
    used_slots,
    worth_measuring,
)
from ranktree.optimize.steps import Result, Wishes, all_candidates, conclude, write_report
from ranktree.rewrite import without_placement
from ranktree.runs.document import Series, document
from ranktree.where.hosts import hosts_in
from ranktree.where.machine import cores_a_rank, machine_of

from tests.helpers.emulated_cluster import OPENMPI, MiniCluster, cluster_up
from tests.helpers.reports import PUS, TEXT

FILES = {"pattern.npz", "report.html", "plan.size.json", "plan.msg.json"}


def pattern_of(sizes: np.ndarray, messages: np.ndarray) -> "_core.Pattern":
    """A pattern of two matrices."""
    senders, receivers = np.nonzero(messages)
    pairs = senders.astype(np.int64), receivers.astype(np.int64)
    return _core.Pattern.from_pairs(len(sizes), *pairs, messages[pairs].astype(float), sizes[pairs].astype(float))


def rings(distance: int, weight: int) -> np.ndarray:
    """16 ranks, each with the one at a distance."""
    matrix = np.zeros((16, 16))
    matrix[np.arange(16), (np.arange(16) + distance) % 16] = weight
    return matrix


def test_candidates_are_ranked_by_the_model_and_measured_once(tmp_path: Path) -> None:
    """Bytes go far, messages stay near: the plan for bytes gains, the one for messages cannot."""
    tree = _core.load_machine("node:4 core:4").cut_at("Core")
    recorded = pattern_of(rings(4, 10**6) + rings(1, 1), rings(4, 1) + rings(1, 1000))
    found = candidates(tree, recorded, tmp_path, 1)
    by_name = {each.name: each for each in found}
    assert set(by_name) == {"plan for time", "plan for bytes", "plan for messages"}
    assert [each.gain for each in found] == sorted((each.gain for each in found), reverse=True)
    best = by_name["plan for bytes"]
    assert best.gain > 0.3
    assert by_name["plan for time"].gain < 0.02, "a thousand messages take longer than a megabyte"
    assert by_name["plan for messages"].gain < 0.02
    assert worth_measuring(found, 0.02) == [best]
    assert worth_measuring([*found, replace(best, goal="time")], 0.02)[0].goal == "time"
    assert worth_measuring([best, best], 0.02) == [best]
    assert worth_measuring(found, 0.99) == []
    rows = {row.placement: row.total for row in best.plan.costs}
    assert gain_of(best.plan) == 1 - rows["plan"] / rows["identity"]


def test_a_pattern_without_messages_has_no_plan_for_them(tmp_path: Path) -> None:
    tree = _core.load_machine("node:4 core:4").cut_at("Core")
    senders = np.arange(16, dtype=np.int64)
    pattern = _core.Pattern.from_pairs(16, senders, senders[::-1].copy(), np.zeros(16), np.full(16, 8.0))
    assert {each.name for each in candidates(tree, pattern, tmp_path, 1)} == {"plan for time", "plan for bytes"}


def test_ranks_that_exchange_nothing_have_nothing_to_gain(tmp_path: Path) -> None:
    """More ranks than cores, too."""
    tree = _core.load_machine("core:4").cut_at("Core")
    pattern = pattern_of(np.zeros((16, 16)), np.zeros((16, 16)))
    _core.save_pattern(str(tmp_path / "app.npz"), pattern)
    assert candidates(tree, pattern, tmp_path, 1) == []
    found = Result()
    write_report(Wishes(["true"], tmp_path), found, ["true"], tmp_path / "app.npz", "core:4", None)
    assert found.files == [tmp_path / "report.html"]
    conclude(Wishes(["true"], tmp_path), found, ["true"], None, measured_any=False)
    assert (found.result, found.sentence, found.gained) == (
        "no gain",
        "Nothing to gain: the ranks exchange nothing.",
        False,
    )


def test_a_trace_of_other_hosts_is_compared_with_what_ran(tmp_path: Path) -> None:
    """Neighbours dealt round robin on other nodes: beside rank order, which did not run, a plan saves nothing."""
    tree = _core.load_machine("node:4 core:4").cut_at("Core")
    pattern = pattern_of(rings(1, 1000), rings(1, 1))
    pattern.metadata = {"hosts": [f"m{rank % 4}" for rank in range(16)]}
    _core.save_pattern(str(tmp_path / "app.npz"), pattern)
    notes: list[str] = []
    found = all_candidates(Wishes(["true"], tmp_path), tree, tmp_path / "app.npz", notes.append)
    assert all(each.gain > 0.3 for each in found)
    assert len(notes) == 1
    assert "m0" in notes[0]


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([("n0", [0, 8, 1, 9]), ("n0", [2, 10, 3, 11]), ("n1", [0, 1])], 2),
        ([("n0", [0, 8, 1, 9, 2]), ("n1", [0, 1])], 2),
        ([("n0", [0, 8]), ("n1", [0, 1])], 1),
        ([("n0", [0, 8, 1, 9]), ("n0", [1, 9, 2, 10])], 1),
        ([("n0", [*range(16)]), ("n0", [*range(16)])], 1),
        ([("n1", []), ("n0", [0, 1])], 1),
    ],
)
def test_ranks_of_several_threads_keep_the_cores_that_each_has_for_itself(places: list, expected: int) -> None:
    assert cores_a_rank(places, hosts_in(TEXT)) == expected


def test_options_that_place_ranks_are_replaced_and_named() -> None:
    options = [
        Option("np", ("4",), ("-np", "4")),
        Option("map-by", ("node",), ("--map-by", "node")),
        Option("x", ("A=1 2",), ("-x", "A=1 2")),
    ]
    command = LaunchCommand(["env", "B=2"], "mpirun", "openmpi", (4, 1, 4), options, ["./app", "--map-by", "me"])
    words, dropped = without_placement(command)
    assert words == ["env", "B=2", "mpirun", "-np", "4", "-x", "A=1 2", "./app", "--map-by", "me"]
    assert dropped == ["--map-by node"]


@pytest.mark.parametrize(
    ("before", "after", "result", "start"),
    [
        ([2.0, 2.1, 1.9, 2.0, 2.05], [1.0, 1.05, 0.95, 1.0, 1.02], "faster", "2.00x faster (95 % interval "),
        ([1.010, 1.011, 1.009, 1.010, 1.010], [1.0] * 5, "not worthwhile", "Nothing worth changing: 1.01x faster"),
        ([1.0, 1.1, 0.9, 1.0, 1.05], [1.05, 0.95, 1.0, 1.02, 1.1], "no difference", "No difference between "),
        (
            [1.0, 1.01, 0.99, 1.0, 1.0],
            [1.5, 1.51, 1.49, 1.5, 1.5],
            "slower",
            "Nothing to gain: by the plan for bytes it is slower",
        ),
    ],
)
def test_closing_sentences(tmp_path: Path, before: list, after: list, result: str, start: str) -> None:
    tree = _core.load_machine("node:4 core:4").cut_at("Core")
    found = candidates(tree, pattern_of(rings(4, 100), rings(4, 1)), tmp_path, 1)
    best = next(each for each in found if each.goal == "size")
    best.plan.described = False  # its hosts are named by the launch
    _core.save_plan(str(best.path), best.plan)
    program = script(tmp_path / "mpirun", "echo 'mpirun (Open MPI) 4.1.4'")
    words = [str(program), "-x", "A=1", "-np", "16", "true"]
    found = Result(runs=document([Series("before", [], before), Series("plan", [], after)], "s", "wall time", True))
    conclude(Wishes(words, tmp_path), found, words, best, measured_any=True)
    assert found.result == result
    assert found.sentence.startswith(start)
    assert found.gained == (result == "faster")
    assert (tmp_path / "plan.json").exists() == found.gained
    if found.gained:
        assert found.command == ["ranktree", "run", "--plan", str(tmp_path / "plan.json"), "--", *words]
        assert (tmp_path / "launcher" / "rankfile").exists()
        assert "-x A=1" in found.emitted and "--rankfile" in found.emitted, "the user's options and the plan's"


def test_the_machine_of_a_launch_has_the_cores_of_its_hosts(tmp_path: Path) -> None:
    hosts = hosts_in(TEXT)
    for host in hosts.values():
        host.usable = host.cores
    hosts["n0"].usable = [[0, 8], [1, 9], [4]]  # what a cgroup leaves
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine_of(hosts)), encoding="utf-8")
    tree = _core.load_machine(str(path)).cut_at("Core")
    places = [(tree.host(leaf), tree.pus(leaf)) for leaf in range(tree.leaf_count)]
    assert places == [("n0", [0, 8]), ("n0", [1, 9]), ("n0", [4]), ("n1", [0]), ("n1", [1])]
    assert tree.levels[tree.common_level(0, 1)] == "NUMANode"
    assert tree.levels[tree.common_level(1, 2)] == "Node"


def test_the_machine_of_a_launch_has_numa_nodes_inside_packages(tmp_path: Path) -> None:
    text = "ranktree-host n packages 0-7\nranktree-host n cores 0 1 2 3 4 5 6 7\nranktree-host n numa 0=0-3 1=4-7\n"
    hosts = hosts_in(text)
    hosts["n"].usable = hosts["n"].cores
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine_of(hosts)), encoding="utf-8")
    tree = _core.load_machine(str(path)).cut_at("Core")
    assert tree.levels[tree.common_level(0, 3)] == "NUMANode"
    assert tree.levels[tree.common_level(3, 4)] == "Package"


def test_the_machine_of_a_launch_has_shared_caches_and_numa_nodes_of_several_packages(tmp_path: Path) -> None:
    """Four packages, two to a NUMA node; two caches in the first; one that crosses packages, which no tree has."""
    lines = (
        "packages 0-3 4-7 8-11 12-15",
        "cores " + " ".join(map(str, range(16))),
        "numa 0=0-7 1=8-15",
        "caches 1=0 2=1 3=2-3 3=0-1 3=4-7 4=8-9 4=6-9",
    )
    hosts = hosts_in("".join(f"ranktree-host n {line}\n" for line in lines))
    hosts["n"].usable = [core for core in hosts["n"].cores if core != [15]]
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine_of(hosts)), encoding="utf-8")
    tree = _core.load_machine(str(path)).cut_at("Core")
    assert tree.levels == ["Node", "NUMANode", "Package", "L4Cache", "L3Cache", "Core"]
    assert [tree.pus(leaf) for leaf in range(tree.leaf_count)] == [[pu] for pu in range(15)]
    common = {pair: tree.levels[tree.common_level(*pair)] for pair in [(0, 1), (1, 2), (3, 4), (7, 8), (8, 9), (8, 10)]}
    assert common == {
        (0, 1): "L3Cache",
        (1, 2): "Package",
        (3, 4): "NUMANode",
        (7, 8): "Node",
        (8, 9): "L4Cache",
        (8, 10): "Package",
    }


def program_of(mpi: Any, name: str) -> Path:
    """An example of the build tree."""
    return mpi.program(name)


@pytest.mark.skipif(PUS != [0, 1], reason="plans are made for a machine with PUs 0 and 1")
def test_two_ranks_of_one_node_have_nothing_to_gain(ranktree: Callable, mpi: Any, tmp_path: Path) -> None:
    bound = {"openmpi": ["--bind-to", "core"], "mpich": ["-bind-to", "core"]}[mpi.name]
    words = ["--", f"mpiexec.{mpi.name}", "-n", 2, *bound, program_of(mpi, "stencil"), "--cells", 8]
    result = ranktree("optimize", "--fail-if-no-gain", *words, cwd=tmp_path)
    assert result.returncode == 4, result.stderr
    assert result.stdout.splitlines()[-1].startswith("Nothing to gain: ")
    folder = tmp_path / f"ranktree-stencil_{mpi.name}"
    assert {*FILES, "machine.json"} <= {path.name for path in folder.iterdir()}
    assert not (folder / "plan.json").exists()
    again = ranktree("optimize", "--pattern", folder / "pattern.npz", "--json", *words, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    found = json.loads(again.stdout)
    assert (found["format"], found["version"], found["result"]) == ("ranktree-optimize", 1, "no gain")
    assert found["command"] is None
    assert found["folder"] == f"ranktree-stencil_{mpi.name}-2"


@pytest.mark.skipif(PUS != [0, 1], reason="plans are made for a machine with PUs 0 and 1")
def test_runs_take_turns_with_the_plan(ranktree: Callable, mpi: Any, tmp_path: Path) -> None:
    """--worthwhile 0 measures a plan that only equals the present placement."""
    words = ["--", f"mpiexec.{mpi.name}", "-n", 2, program_of(mpi, "stencil"), "--cells", 8]
    options = ["--worthwhile", 0, "--runs", 2, "--metric-regex", r"([0-9.]+) s an exchange", "-o", tmp_path / "out"]
    result = ranktree("optimize", *options, *words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith("Too few runs for a verdict: ")
    runs = json.loads((tmp_path / "out" / "runs.json").read_text())
    assert [len(series["values"]) for series in runs["series"]] == [2, 2]
    assert runs["series"][0]["command"] == list(map(str, words[1:]))
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Measured: Too few runs for a verdict" in page


def test_it_finds_itself_when_python_runs_isolated(command: str, mpi: Any, tmp_path: Path) -> None:
    """Without PYTHONPATH, and with a module of the program's in the current folder that hides one of Python's."""
    (tmp_path / "re.py").write_text("raise ImportError", encoding="utf-8")
    package = Path(command).resolve().parents[1] / "python"
    words = ["optimize", "-o", "out", "--", f"mpiexec.{mpi.name}", "-n", "2", str(program_of(mpi, "stencil"))]
    result = packages.run(package, *words, cwd=tmp_path, timeout=120)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out" / "report.html").exists()


def test_refusals(ranktree: Callable, mpi: Any, tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (2, 1))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    start = ["--", f"mpiexec.{mpi.name}", "-n", 2]
    bad = script(tmp_path / "bad", "echo wrong >&2; exit 5")
    cases = (
        ((*start, bad), "failed with exit code 5: "),
        (("--metric-regex", "x", *start, bad), "one group"),
        (("-o", tmp_path / "full", *start, bad), "not an empty folder"),
        (("--pattern", tmp_path / "none.npz", *start, "true"), "none.npz"),
        (("--pattern", tmp_path / "app.npz", "--machine", "cor:1", *start, "true"), "the nearest is 'Core'"),
    )
    for arguments, text in cases:
        result = ranktree("optimize", *arguments, cwd=tmp_path)
        assert result.returncode == 1, (arguments, result.stderr)
        assert text in result.stderr
        assert "Traceback" not in result.stderr


def test_ranks_that_share_the_only_core_have_nothing_to_gain(ranktree: Callable, mpi: Any, tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (2, 1))
    words = ["--pattern", tmp_path / "app.npz", "--machine", "core:1", "--", f"mpiexec.{mpi.name}", "-n", 2, "true"]
    result = ranktree("optimize", *words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Nothing to gain: no placement found costs less than the present one" in result.stdout


@pytest.mark.skipif(PUS != [0, 1], reason="plans are made for a machine with PUs 0 and 1")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_no_run_behind(command: str, mpi: Any, tmp_path: Path, number: int) -> None:
    """The ranks, which launchers start in groups of their own, end too; the complete round is kept."""
    save_stencil(tmp_path / "app.npz", (2, 1))
    seconds = f"8{os.getpid()}{int(number)}"
    log = tmp_path / "log"
    program = script(tmp_path / "program", f"echo run >>{log}\n[ $(wc -l <{log}) -le 4 ] || sleep {seconds}")
    arguments = [command, "optimize", "--pattern", str(tmp_path / "app.npz"), "--worthwhile", "0", "--no-verify", "-o",
                 str(tmp_path / "out"), "--", f"mpiexec.{mpi.name}", "-n", "2", str(program)]  # fmt: skip
    with subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 60
        while len(left_of(f"sleep {seconds}")) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        running.send_signal(number)
        error = running.communicate(timeout=60)[1]
    assert running.returncode == -number, error
    assert left_of(seconds) == []
    assert "holds what was done so far" in error
    runs = json.loads((tmp_path / "out" / "runs.json").read_text())
    assert [len(series["values"]) for series in runs["series"]] == [1, 1]


@pytest.fixture(scope="module")
def cluster(build_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniCluster]:
    """Four nodes with four emulated cores each."""
    options = ("--nodes", 4, "--rate", 200, "--latency", 200, "--cpus", 4)
    with cluster_up(build_folder, tmp_path_factory.mktemp("cluster"), *options) as made:
        yield made


@pytest.fixture
def rings_command(
    cluster: MiniCluster, build_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], list[Any]]:
    """The command that starts rings with messages of so many bytes, ranks dealt round robin."""
    for name, value in {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **OPENMPI}.items():
        monkeypatch.setenv(name, value)
    program = build_folder / "bin" / "rings_openmpi"
    if not program.exists():
        pytest.skip("the build has no Open MPI")
    launch = [cluster.state / "mpirun", "-np", 16, "--hostfile", cluster.state / "hostfile", "--map-by", "node"]
    return lambda size: [*launch, program, "--bytes", size, "--iterations", 2]


@pytest.mark.timeout(600)
def test_on_a_cluster_the_plan_is_verified_and_measured(
    rings_command: Callable[[int], list[Any]], ranktree: Callable, tmp_path: Path
) -> None:
    """Ranks dealt round robin: both plans save on the model, are verified, and run in turn with the command."""
    options = [
        "--machine",
        "node:4 core:4",
        "--verify-hosts",
        "--metric-regex",
        "([0-9.]+) s an iteration",
        "--runs",
        2,
    ]
    result = ranktree(
        "optimize", *options, "-o", tmp_path / "out", "--json", "--", *rings_command(131072), cwd=tmp_path, timeout=550
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    whats = {f"{kind} for {what}" for kind in ("plan", "reordering") for what in ("time", "bytes", "messages")}
    assert set(found["model_gains"]) == whats
    assert min(found["model_gains"].values()) > 0.02
    assert [len(series["values"]) for series in found["runs"]["series"]] == [2, 2, 2]
    measured = [series["name"] for series in found["runs"]["series"]]
    assert {"plan for time", "reordering for time"} < set(measured)
    best = measured[-1]  # the fastest, which the verdict is about
    assert found["replaced_options"] == ([] if best.startswith("reordering") else ["--map-by node"])
    assert found["result"] == "too few runs"


MIB = 1048576
LEAST_GAIN = 1.15  # 1.44 was measured on a busy machine


@pytest.mark.timeout(900)
def test_on_a_cluster_the_recommended_command_is_measured_faster(
    rings_command: Callable[[int], list[Any]], ranktree: Callable, tmp_path: Path
) -> None:
    """Rings of neighbours dealt round robin: every token crosses nodes until a plan, or another order, prevents it."""
    options = ["--machine", "node:4 core:4", "--hosts", "n[0-3]", "--verify-hosts", "--runs", 5]
    options += ["--metric-regex", "([0-9.]+) s an iteration", "-o", tmp_path / "out", "--json"]
    result = ranktree("optimize", *options, "--", *rings_command(MIB), cwd=tmp_path, timeout=850)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["result"] == "faster", found["sentence"]
    comparison = found["runs"]["comparison"]
    assert comparison["ratio"] > LEAST_GAIN
    assert comparison["low"] > 1
    assert found["sentence"].startswith(f"{comparison['ratio']:.2f}x faster (95 % interval ")
    assert found["command"][:2] == ["ranktree", "run"]
    again = ranktree(*found["command"][1:], cwd=tmp_path, timeout=100)
    assert again.returncode == 0, again.stderr
    assert "s an iteration" in again.stdout


def test_other_orders_of_ranks_are_candidates(tmp_path: Path) -> None:
    """Ranks dealt round robin that talk to their neighbours: an order without a relaunch saves as much as a plan."""
    tree = _core.load_machine("node:4 core:4").cut_at("Core")
    recorded = pattern_of(rings(1, 1000), rings(1, 1))
    recorded.metadata = {"hosts": [f"n{rank % 4}" for rank in range(16)]}
    plans = candidates(tree, recorded, tmp_path, 1)
    orders = reorderings(tree, recorded, tmp_path, 1)
    goals = ("time", "bytes", "messages")
    assert {each.name for each in orders} == {f"reordering for {goal}" for goal in goals}
    assert all(each.reorders for each in orders)
    assert {each.goal: each.gain for each in orders} == pytest.approx({each.goal: each.gain for each in plans})
    measured = ["plan for time", "reordering for time"]
    assert [each.name for each in worth_measuring([*plans, *orders], 0.02)] == measured


def test_orders_keep_the_slots_of_the_launch(tmp_path: Path) -> None:
    """Six ranks on two of four nodes: a plan may use all nodes, an order only the slots that are used."""
    tree = _core.load_machine("node:4 core:4").cut_at("Core")
    ring = np.roll(np.eye(6), 3, axis=1)
    recorded = pattern_of(ring * 1000, ring)
    recorded.metadata = {"hosts": ["n1", "n1", "n1", "n3", "n3", "n3"]}
    for each in reorderings(tree, recorded, tmp_path, 1):
        assert {host for host, _ in each.slots} == {"n1", "n3"}
        assert each.gain > 0.3
    assert used_slots(tree, ["n1"] * 5) is None
    assert used_slots(tree, ["elsewhere"]) is None
    assert used_slots(tree, []) is None
