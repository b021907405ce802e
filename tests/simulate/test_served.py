"""`ranktree simulate --collectives`: unmodified programs whose collectives Ranktree serves, by messages."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parent / "programs" / "served.c"
ROOT = Path(__file__).resolve().parents[2]
# Settings, and what each must serve.
CALLS = {
    "messages:binomial": {"broadcast", "reduce", "allreduce", "allgather", "barrier"},
    "messages:flat:form=leaders": {"broadcast", "reduce", "allgather"},
    "messages:binomial:form=lanes": {"broadcast", "allreduce"},
}
FIRST_SERVED = 5  # by rules: a communicator's earlier calls are SMPI's


def report(ranktree: Callable, program: Path, machine: str, ranks: int, *words: object) -> dict:
    """The report of a simulation, with options before and the program's arguments behind `--`."""
    at = words.index("--")
    options, arguments = words[:at], words[at + 1 :]
    result = ranktree("simulate", "--machine", machine, "--np", ranks, "--json", *options, "--", program, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("machine", "ranks"), [("node:3 core:4", 11), ("switch:2 node:3 core:2", 7), ("node:5 core:3", 13)]
)
@pytest.mark.parametrize("setting", CALLS)
def test_results_are_right_and_decisions_are_reported(
    ranktree: Callable, simulated_program: Callable, machine: str, ranks: int, setting: str
) -> None:
    """The program checks every result; the halves of odd numbers of ranks differ in size."""
    found = report(
        ranktree, simulated_program(PROGRAM), machine, ranks, "--collectives", setting, "--", 33, FIRST_SERVED + 3
    )["collectives"]
    assert found["setting"] == setting
    communicators = {each["communicator"].partition(" ")[0] for each in found["decisions"]}
    assert communicators == {str(ranks), str((ranks + 1) // 2), str(ranks // 2)}
    world = [each for each in found["decisions"] if each["communicator"].startswith(f"{ranks} ")]
    calls = {each["call"].partition(" ")[0] for each in world}
    served = {each["call"].partition(" ")[0] for each in world if each["reason"] == "by rule"}
    assert calls >= served >= CALLS[setting]
    assert all(each["variant"].startswith("messages:") for each in world if each["reason"] == "by rule")
    assert len(found["calls"]) == 3


@pytest.mark.parametrize("machine", ["node:3 core:4", "switch:1 node:3 package:1 numa:2 core:2"])
def test_what_predict_proposes_is_carried_out(ranktree: Callable, simulated_program: Callable, machine: str) -> None:
    """Levels on which ranks do not part need no algorithm of their own, whatever the library calls them."""
    ranks, bytes_ = 12, 33 * 8
    settings = []
    for collective in ("bcast", "reduce", "allreduce", "allgather"):
        words = ["--machine", machine, "--np", ranks, "--sizes", bytes_, "--no-shared", "--json"]
        row = json.loads(ranktree("predict", collective, *words).stdout)["rows"][0]
        settings.append(f"{collective}={row['hierarchical']['choice']}")
        assert "/" in settings[-1]
    words = ["--collectives", ";".join(settings), "--", 33, FIRST_SERVED + 3]
    found = report(ranktree, simulated_program(PROGRAM), machine, ranks, *words)["collectives"]
    served = {each["variant"] for each in found["decisions"] if each["communicator"].startswith("12 ")}
    assert served >= {setting.partition("=")[2] for setting in settings}


def test_auto_decides_by_simulated_times(ranktree: Callable, simulated_program: Callable) -> None:
    """Trials read the simulated clock: their choice is the same every time."""
    words = ["--overhead", 5e-6, "--collectives", "auto", "--", 33, 700]
    first, second = (report(ranktree, simulated_program(PROGRAM), "node:3 core:2", 5, *words) for _ in range(2))
    assert first["collectives"] == second["collectives"]
    assert first["simulated_s"] == second["simulated_s"]
    decided = first["collectives"]["decisions"]
    assert any(each["variant"].startswith("messages:") for each in decided)
    assert all("native" in each["reason"] and " us" in each["reason"] for each in decided)


def test_a_broadcast_by_levels_sends_its_bytes_to_each_node_once(
    ranktree: Callable, simulated_program: Callable
) -> None:
    nodes, cores, rounds, count = 4, 4, 10, 4000

    def across(setting: str, calls: int) -> float:
        words = ["--order", "round-robin", "--collectives", setting, "--", count, calls, "broadcasts"]
        machine = f"node:{nodes} core:{cores}"
        levels = report(ranktree, simulated_program(PROGRAM), machine, nodes * cores - 1, *words)["levels"]
        return next(level["bytes"] for level in levels if level["level"] == "Cluster")

    def of_a_call(setting: str) -> float:
        return (across(setting, 2 * rounds) - across(setting, rounds)) / rounds

    least = (nodes - 1) * count * 8
    served = of_a_call("bcast=messages:binomial:form=leaders")
    assert least <= served <= 1.02 * least
    assert of_a_call("native") > 2 * least


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("shared:flat", "simulated ranks have no shared variants"),
        ("bcast=messages:ring;reduce=shared:binomial", "'reduce=shared:binomial'"),
        ("ompi", "--selector ompi is for SMPI's own algorithms"),
        ("missing.rules", "missing.rules: no such file"),
        ("bcast=odd", "found 'odd'"),
    ],
)
def test_refusals(ranktree: Callable, simgrid: None, setting: str, text: str) -> None:
    result = ranktree("simulate", "--machine", "core:2", "--np", 2, "--collectives", setting, "--", "./missing")
    assert result.returncode == 2
    assert text in " ".join(result.stderr.replace("│", " ").split())


def test_text_reports_decisions_and_nonblocking_calls_stay_native(
    ranktree: Callable, simulated_program: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKTREE_COLL_NONBLOCKING", "thread")
    program = simulated_program(PROGRAM)
    words = ["simulate", "--machine", "node:3 core:4", "--np", 11, "--collectives", "messages:binomial"]
    result = ranktree(*words, "--", program, 5, FIRST_SERVED + 3)
    assert result.returncode == 0, result.stderr
    assert "Collectives (messages:binomial):" in result.stdout
    assert "11 ranks on 3 nodes: broadcast 32-64: messages:binomial:form=leaders | by rule" in result.stdout
    assert "a simulated rank has one thread; nonblocking collectives stay native" in result.stdout


@pytest.mark.parametrize("count", [1, 20000])
def test_a_binomial_broadcast_takes_the_simulated_time_of_smpis_own(
    ranktree: Callable, simulated_program: Callable, count: int
) -> None:
    """No poll takes simulated time, and messages that share a core's link leave one after the other."""

    def of_a_call(*options: str) -> float:
        seconds = [
            report(
                ranktree, simulated_program(PROGRAM), "node:3 core:8", 24, *options, "--", count, rounds, "broadcasts"
            )["simulated_s"]
            for rounds in (10, 20)
        ]
        return (seconds[1] - seconds[0]) / 10

    smpi = of_a_call("--algorithm", "bcast:binomial_tree")
    ours = of_a_call("--collectives", "bcast=messages:binomial:groups=1")
    assert ours == pytest.approx(smpi, rel=0.02)


@pytest.mark.parametrize("selector", ["ompi", "mpich"])
def test_auto_is_never_slower_than_the_selector(ranktree: Callable, simulated_program: Callable, selector: str) -> None:
    """128 ranks on the fat tree, after the decision. Ours takes half of ompi's time for 8 bytes. An agreement, at each
    of the 12 calls before, is two passes of a tree: with a message from each rank to the root they took 5 times as
    long as native ones."""
    program = simulated_program(ROOT / "bench/scale/collectives.c")
    cells = ["bcast:8", "allreduce:8"]

    def seconds(setting: str, *calls: int) -> dict[str, dict[str, float]]:
        words = ["--machine", ROOT / "machines/fat-tree-128x64.json", "--np", 128, "--share-globals", "--json"]
        words += ["--selector", selector, "--collectives", setting]
        result = ranktree("simulate", *words, "--", program, *calls, *cells, timeout=300)
        assert result.returncode == 0, result.stderr
        lines = [json.loads(line) for line in result.stdout.splitlines()[: len(cells)]]
        return {field: {each["operation"]: each[field] for each in lines} for field in ("seconds", "untimed_s")}

    timed = seconds("auto", 90, 12)
    native, auto = seconds("native", 0, 1)["seconds"], timed["seconds"]
    assert all(auto[each] <= 1.02 * native[each] for each in auto)
    assert auto["allreduce"] < 9e-6
    if selector == "ompi":
        assert auto["allreduce"] < 0.6 * native["allreduce"]
    assert all(timed["untimed_s"][each] / 12 < 3 * native[each] for each in auto)


def test_auto_takes_a_ring_that_fills_the_busiest_link(
    ranktree: Callable, simulated_program: Callable, machine_file: Callable
) -> None:
    """Nodes of 5, 3 and 1 ranks: all blocks but one leave the last node, one after the other. MPICH halves."""
    block, bytes_per_s, latency = 262144, 25e6, 2e-4
    shapes = {"five": "core:5", "three": "core:3", "one": "core:1"}
    hosts = [{"names": f"n{at}", "shape": shape} for at, shape in enumerate(shapes)]
    costs = {"Cluster": {"latency_s": latency, "bandwidth_bytes_per_s": bytes_per_s}}
    machine = machine_file({"hosts": hosts}, costs, shapes)

    def times(setting: str) -> dict[str, float]:
        words = ["--machine", machine, "--np", 9, "--selector", "mpich", "--collectives", setting, "--json"]
        calls = ["--", simulated_program(ROOT / "bench/scale/collectives.c"), 4, 60]
        result = ranktree("simulate", *words, *calls, f"reduce_scatter:{block}", f"allgather:{block}")
        assert result.returncode == 0, result.stderr
        lines = map(json.loads, result.stdout.splitlines()[:2])
        return {each["operation"]: each["seconds"] for each in lines}

    native, auto = times("native"), times("auto")
    least = 8 * (block / bytes_per_s + latency)
    assert least <= auto["reduce_scatter"] < 1.05 * least
    assert native["reduce_scatter"] > 2 * auto["reduce_scatter"]
    assert least <= auto["allgather"] < 1.05 * least
    assert native["allgather"] > 1.5 * auto["allgather"]
