"""The report's document: every figure against a computation of its own on the pairs."""

import json
import os
import re
import shlex
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.helpers.reports import save_stencil

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree import _core
from ranktree.mapping import bound_line
from ranktree.report.arrays import packed, unpacked
from ranktree.report.cells import BUDGET
from ranktree.report.decisions import read_log
from ranktree.report.document import as_json, build
from ranktree.report.html import as_html
from ranktree.report.inputs import Request
from ranktree.report.launch import shell_text
from ranktree.report.places import known_gap
from ranktree.report.text import as_text
from ranktree.report.verdict import percent

MACHINE = "node:4 package:2 core:4"


def report(path: Path, **options: Any) -> dict[str, Any]:
    """The document of a pattern file."""
    return build(Request(str(path), **options))


def save_random(path: Path, ranks: int, seed: int = 3) -> dict[tuple[int, int], tuple[int, int]]:
    """A third of all pairs, one to itself among them; returns {(from, to): (messages, bytes)}."""
    random = np.random.default_rng(seed)
    pairs = {(a, b): (int(random.integers(1, 50)), int(random.integers(1, 10**6)))
             for a in range(ranks) for b in range(ranks) if random.random() < 0.33 or a == b == 0}  # fmt: skip
    senders, receivers = np.array(list(pairs)).T.astype(np.int64)
    messages, sizes = np.array(list(pairs.values())).T.astype(float)
    _core.save_pattern(str(path), _core.Pattern.from_pairs(ranks, senders, receivers, messages, sizes))
    return pairs


def common_level(a: int, b: int) -> int:
    """The level of MACHINE on which two cores meet: cluster, node, package, the same core."""
    return 3 if a == b else 2 if a // 4 == b // 4 else 1 if a // 8 == b // 8 else 0


@pytest.fixture
def judged(tmp_path: Path) -> tuple[dict, dict, dict[str, np.ndarray]]:
    """A random pattern of 29 ranks, its report on MACHINE, and the slots of its placements."""
    pairs = save_random(tmp_path / "app.npz", 29)
    document = report(tmp_path / "app.npz", machine=MACHINE)
    slots = {each["name"]: unpacked(each["slot_of"]) for each in document["machine"]["placements"]}
    return pairs, document, slots


def test_totals_are_sums_over_the_pairs(judged: tuple) -> None:
    pairs, document, _ = judged
    traffic = document["traffic"]
    assert traffic["pairs"] == len(pairs)
    assert traffic["messages"] == sum(messages for messages, _ in pairs.values())
    assert traffic["bytes"] == sum(size for _, size in pairs.values())
    assert traffic["to_itself"]["bytes"] == sum(size for (a, b), (_, size) in pairs.items() if a == b)
    assert [each["name"] for each in traffic["classes"]] == ["p2p"]
    assert traffic["classes"][0]["bytes"] == traffic["bytes"]


def test_levels_are_those_of_the_slots(judged: tuple) -> None:
    pairs, document, slots = judged
    assert list(slots["identity"]) == list(range(29))
    for name in ("identity", "plan"):
        row = next(each for each in document["levels"]["placements"] if each["name"] == name)
        sums = Counter()
        for (a, b), (_, size) in pairs.items():
            if a != b:
                sums[common_level(slots[name][a], slots[name][b])] += size
        assert row["weight"] == [sums[level] for level in range(4)]
        costs = document["levels"]["costs"]
        assert row["total"] == pytest.approx(sum(sums[level] * costs[level] for level in range(4)))
    assert document["levels"]["bound"] <= row["total"]


def test_links_carry_what_leaves_and_enters(judged: tuple) -> None:
    pairs, document, slots = judged
    assert len(document["links"]) == 12  # 4 nodes and 8 packages
    for link in document["links"]:
        words = link["link"].split()
        inside = range(8 * int(words[1][1:]), 8 * int(words[1][1:]) + 8) if words[0] == "Node" else None
        if inside is None:  # "n2 Package 1"
            first = 8 * int(words[0][1:]) + 4 * (int(words[2]) % 2)
            inside = range(first, first + 4)
        for name, slot_of in slots.items():
            expected = sum(
                size for (a, b), (_, size) in pairs.items() if (slot_of[a] in inside) != (slot_of[b] in inside)
            )
            assert link[name]["bytes"] == expected, link


def test_nodes_exchange_what_their_ranks_do(judged: tuple) -> None:
    pairs, document, slots = judged
    assert document["node_traffic"]["complete"]
    for table in document["node_traffic"]["placements"]:
        expected: dict[tuple[str, str], int] = defaultdict(int)
        for (a, b), (_, size) in pairs.items():
            nodes = sorted({slots[table["name"]][a] // 8, slots[table["name"]][b] // 8})
            if len(nodes) == 2:
                expected[f"n{nodes[0]}", f"n{nodes[1]}"] += size
        assert {tuple(row["nodes"]): row["bytes"] for row in table["heaviest"]} == expected
        assert table["bytes"] == sum(expected.values())
        leaving = next(each for each in document["machine"]["placements"] if each["name"] == table["name"])["leaving"]
        assert unpacked(leaving).sum() == 2 * table["bytes"]


def test_heaviest_pairs_and_those_that_cross(judged: tuple) -> None:
    pairs, document, slots = judged
    others = sorted(((size, a, b) for (a, b), (_, size) in pairs.items() if a != b), reverse=True)
    assert [(row["bytes"], row["from"], row["to"]) for row in document["top_pairs"]] == others[:50]
    for row in document["top_pairs"]:
        assert row["messages"] == pairs[row["from"], row["to"]][0]
        assert row["before"] == common_level(row["from"], row["to"])
        assert row["after"] == common_level(slots["plan"][row["from"]], slots["plan"][row["to"]])
    for pair in document["crossing"]["plan"]:
        a, b = pair["ranks"]
        assert slots["plan"][a] // 8 != slots["plan"][b] // 8
        assert pair["bytes"] == pairs.get((a, b), (0, 0))[1] + pairs.get((b, a), (0, 0))[1]


def test_the_heat_map_holds_every_pair(judged: tuple) -> None:
    pairs, document, _ = judged
    heat = document["heat_map"]
    assert (heat["bin"], heat["size"]) == (1, 29)
    cells = {key: unpacked(value) for key, value in heat["maps"][0].items() if key != "order"}
    found = {}
    for row in range(29):
        for i in range(cells["starts"][row], cells["starts"][row + 1]):
            found[row, int(cells["columns"][i])] = (cells["messages"][i], cells["bytes"][i])
    assert found == pairs


def test_the_tree_follows_from_neighbouring_slots(judged: tuple) -> None:
    _, document, _ = judged
    machine = document["machine"]
    assert (machine["slots"], machine["nodes"]) == (32, ["n0", "n1", "n2", "n3"])
    expected = [0] + [common_level(slot - 1, slot) for slot in range(1, 32)]
    assert list(unpacked(machine["meets"])) == expected


def test_sizes_are_counted_by_powers_of_two(judged: tuple) -> None:
    pairs, document, _ = judged
    expected = Counter()
    for (a, b), (messages, size) in pairs.items():
        if a != b:
            expected[int(np.log2(size / messages))] += messages
    found = {bucket["from"]: bucket["count"] for bucket in document["message_sizes"][0]["buckets"] if bucket["count"]}
    assert found == {2**power: count for power, count in expected.items()}


def test_a_plan_alone_knows_hosts_and_levels(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (8, 4))
    tree = _core.load_machine(MACHINE).cut_at("Core")
    pattern, _ = _core.load_pattern(str(tmp_path / "app.npz"))
    _core.save_plan(str(tmp_path / "plan.json"), _core.make_plan(tree, pattern, "best", "size", 1))
    alone = report(tmp_path / "app.npz", plan=str(tmp_path / "plan.json"))
    with_machine = report(tmp_path / "app.npz", plan=str(tmp_path / "plan.json"), machine=MACHINE)
    assert alone["levels"] == with_machine["levels"]
    assert alone["machine"]["kinds"] == ["Cluster", "Node", "slot"]
    assert alone["node_traffic"]["placements"][-1] == with_machine["node_traffic"]["placements"][-1]
    assert any("name the machine" in line for line in alone["absent"])


def test_the_traced_placement_is_what_the_plan_compares_with(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (6, 5), hosts=4)
    document = report(tmp_path / "app.npz", machine=MACHINE)
    assert document["levels"]["before"] == "traced"
    traced = next(each for each in document["levels"]["placements"] if each["name"] == "traced")
    between = document["node_traffic"]["placements"][0]
    assert between["name"] == "traced"
    assert traced["weight"][0] == between["bytes"]
    assert document["verdict"]["result"] == "gain"


def test_more_traced_ranks_than_slots_share_slots(tmp_path: Path) -> None:
    """As many on each slot as there are ranks too many, as the plan's row `traced` counts them."""
    save_stencil(tmp_path / "app.npz", (8, 4), hosts=4)
    machine = "node:4 core:4"
    tree = _core.load_machine(machine)
    pattern, _ = _core.load_pattern(str(tmp_path / "app.npz"))
    plan = _core.make_plan(tree, pattern, "best", "size", 1, oversubscribe=True)
    _core.save_plan(str(tmp_path / "plan.json"), plan)
    document = report(tmp_path / "app.npz", plan=str(tmp_path / "plan.json"), machine=machine)
    traced = next(each for each in document["levels"]["placements"] if each["name"] == "traced")
    assert traced["weight"][0] == document["node_traffic"]["placements"][0]["bytes"]


def test_an_oversubscribed_plan_is_compared_with_the_rank_order(tmp_path: Path) -> None:
    """Without traced hosts: two ranks a slot in the current rank order, too."""
    save_stencil(tmp_path / "app.npz", (8, 4))
    tree = _core.load_machine("node:4 core:4").cut_at("Core")
    pattern, _ = _core.load_pattern(str(tmp_path / "app.npz"))
    plan = _core.make_plan(tree, pattern, "best", "size", 1, oversubscribe=True)
    _core.save_plan(str(tmp_path / "plan.json"), plan)
    document = report(tmp_path / "app.npz", plan=str(tmp_path / "plan.json"), machine="node:4 core:4")
    identity = next(each for each in document["levels"]["placements"] if each["name"] == "identity")
    assert identity["weight"][0] == document["node_traffic"]["placements"][0]["bytes"] > 0
    assert [each["placement"] for each in document["limits"]] == ["identity", "plan"]
    assert all(each["would_help"] for each in document["limits"])


def test_the_gain_that_is_worthwhile_is_the_users(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (6, 5), hosts=4)
    document = report(tmp_path / "app.npz", machine=MACHINE, metric="size", worthwhile=0.99)
    assert document["verdict"]["result"] == "not worthwhile"
    assert "below 99 %" in document["verdict"]["sentence"]
    assert any("--worthwhile 99" in each["command"] for each in document["commands"])


def test_the_command_that_was_measured_runs_the_plan(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (6, 5), hosts=4)
    words = ("ranktree", "run", "--reorder", "app.npz", "--", "mpirun", "-n", "30", "./stencil")
    document = report(tmp_path / "app.npz", machine=MACHINE, run=words)
    (command,) = [each["command"] for each in document["commands"] if each["what"] == "run by the plan"]
    assert command == " ".join(words)


def command_of(document: dict, what: str) -> str:
    """One of the commands that reproduce a report."""
    (command,) = [each["command"] for each in document["commands"] if each["what"] == what]
    return str(command)


@pytest.mark.parametrize(
    ("mpi", "launch", "by_plan"),
    [
        (
            "Open MPI v4.1.4",
            ["env", "A=1 2", "mpirun", "-np", "30", "--map-by", "node", "-x", "B", "./app", "-n"],
            "env 'A=1 2' mpirun -np 30 -x B ./app -n",
        ),
        ("MPICH Version: 4.0.2", ["mpiexec.mpich", "-n", "30", "-ppn", "8", "./app"], "mpiexec.mpich -n 30 ./app"),
        ("Open MPI v5.0.11", ["srun", "-n30", "-m", "cyclic", "./app"], "srun -n30 ./app"),
        ("Open MPI v4.1.4", ["./app"], "mpirun -n 30 ./stencil"),
        ("Open MPI v4.1.4", [], "mpirun -n 30 ./stencil -e 'a>b;c'"),
    ],
)
def test_commands_have_the_words_that_were_traced(tmp_path: Path, mpi: str, launch: list, by_plan: str) -> None:
    path = tmp_path / "app.npz"
    program = "./stencil" if launch else "./stencil -e a>b;c"  # as a source that knows no shell has it
    save_stencil(path, (6, 5), hosts=4, mpi=mpi, launch=launch, program=program)
    document = report(path, machine=MACHINE)
    expected = shlex.join(launch) if launch else "mpirun -n 30 ./stencil -e 'a>b;c'"
    assert command_of(document, "record the pattern") == f"ranktree trace -o {path} -- {expected}"
    assert command_of(document, "run by the plan") == f"ranktree run --plan plan.json -- {by_plan}"
    assert document["program"]["launch"] == launch


def test_a_simulated_trace_is_simulated_again(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (6, 5), mpi="SMPI Version 3.32")
    document = report(tmp_path / "app.npz", machine=MACHINE)
    assert command_of(document, "record the pattern").startswith("ranktree trace --simulate --np 30 -o ")
    assert command_of(document, "run by the plan").startswith(f"ranktree simulate --machine '{MACHINE}' --np 30 --plan")


def test_hosts_restrict_the_machine(tmp_path: Path) -> None:
    """As `map` takes them: real hosts in place of the described ones; unknown ones are refused."""
    save_stencil(tmp_path / "app.npz", (4, 4), hosts=2)
    document = report(tmp_path / "app.npz", machine="node:2 core:8", hosts="m[0-1]")
    assert document["machine"]["nodes"] == ["m0", "m1"]
    assert "--hosts 'm[0-1]'" in command_of(document, "compute the plan")
    assert "--hosts 'm[0-1]'" in command_of(document, "make this report")
    (tmp_path / "hosts").write_text("m0\nm1\n", encoding="ascii")
    again = report(tmp_path / "app.npz", machine="node:2 core:8", hostfile=str(tmp_path / "hosts"))
    assert again["levels"] == document["levels"]
    with pytest.raises(ValueError, match="expected 2 hosts"):
        report(tmp_path / "app.npz", machine="node:2 core:8", hosts="m[0-2]")


def test_hosts_of_other_names_are_the_nodes_in_order(tmp_path: Path) -> None:
    """As `map` compares: the placement that was traced, on the nodes that the machine has."""
    save_stencil(tmp_path / "app.npz", (6, 5), hosts=4)
    document = report(tmp_path / "app.npz", machine="node:4 core:8", hosts="m[0-3]")
    assert document["levels"]["before"] == "traced"
    assert any("on its nodes in order (m0, m1, m2, m3)" in note for note in document["notes"])
    assert document["machine"]["placements"][0]["name"] == "traced"


def test_the_limiting_resource_is_that_of_map(tmp_path: Path) -> None:
    """Two nodes, and one pair of ranks that exchanges data between them."""
    ends = np.array([0, 4]), np.array([4, 0])
    pattern = _core.Pattern.from_pairs(8, *ends, np.array([1.0, 1.0]), np.array([8e9, 1e9]))
    _core.save_pattern(str(tmp_path / "a.npz"), pattern)
    document = report(tmp_path / "a.npz", machine="node:2 core:4")
    before = document["limits"][0]
    assert (before["placement"], before["label"]) == ("identity", "current rank order")
    tree = _core.load_machine("node:2 core:4").cut_at("Core")
    _, limits = _core.plan_by_objective(tree, pattern, ("time", None), "best", 1)
    expected = next(each for each in limits if each["placement"] == "identity")
    assert expected == {name: before[name] for name in expected}
    assert before["resource"].startswith("node n")
    assert before["sentence"] in as_text(document)
    assert report(tmp_path / "a.npz")["limits"] == []


def test_text_names_placements_as_the_page_does(tmp_path: Path) -> None:
    """And the MPI by its version only; its build follows behind a comma."""
    save_stencil(tmp_path / "app.npz", (6, 5), hosts=2, mpi="Open MPI v4.1.4, package: Debian OpenMPI")
    text = as_text(report(tmp_path / "app.npz", machine="node:2 core:16"))
    assert "app.npz: 30 ranks, Open MPI v4.1.4\n" in text
    assert re.search(r"\n  link +traced placement +plan\n  Node n0 ", text)
    assert re.search(r"\nbetween nodes \(traced placement\): .* messages, 1 pair of nodes\n", text)


def test_what_is_above_zero_is_not_shown_as_zero() -> None:
    assert [percent(part) for part in (0, 1e-9, 0.0006, 0.5, 0.994)] == ["0.0 %", "< 0.1 %", "0.1 %", "50 %", "99 %"]
    assert [percent(part) for part in (0.00049, 0.996, 1 - 1e-9, 1, 1.2)] == [
        "< 0.1 %",
        "> 99 %",
        "> 99 %",
        "100 %",
        "120 %",
    ]
    near, far, unknown, none = (bound_line(SimpleNamespace(gap=gap, bound=5.0)) for gap in (1e-9, 0.05, 1.01, None))
    assert near == "No placement costs less than 5: the plan costs less than 0.1 % more than the best one."
    assert far == "No placement costs less than 5: the plan costs at most 5.0 % more than the best one."
    assert unknown.endswith("not known: the bound is less than half of the plan's cost.")
    assert none.endswith("not known: the bound is 0.")
    assert [known_gap(SimpleNamespace(gap=gap)) for gap in (None, 0.0, 1.0, 1.01)] == [None, 0.0, 1.0, None]


def test_hosts_that_do_not_fit_are_named(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (8, 4), hosts=4)
    document = report(tmp_path / "app.npz", machine="node:2 core:16")
    assert document["levels"]["before"] == "identity"
    assert any("hosts of the trace" in note for note in document["notes"])


def test_a_plan_of_another_pattern_is_noted(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (8, 4))
    save_random(tmp_path / "other.npz", 32)
    tree = _core.load_machine(MACHINE).cut_at("Core")
    pattern, _ = _core.load_pattern(str(tmp_path / "other.npz"))
    _core.save_plan(str(tmp_path / "plan.json"), _core.make_plan(tree, pattern, "best", "size", 1))
    document = report(tmp_path / "app.npz", plan=str(tmp_path / "plan.json"))
    assert any("another pattern" in note for note in document["notes"])
    with pytest.raises(ValueError, match="a plan of 32 ranks"):
        save_stencil(tmp_path / "small.npz", (4, 4))
        report(tmp_path / "small.npz", plan=str(tmp_path / "plan.json"))


def test_a_plan_of_another_machine_is_refused(tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (8, 4))
    tree = _core.load_machine("node:8 core:4").cut_at("Core")
    pattern, _ = _core.load_pattern(str(tmp_path / "app.npz"))
    _core.save_plan(str(tmp_path / "plan.json"), _core.make_plan(tree, pattern, "random", "size", 1))
    with pytest.raises(ValueError, match="does not have"):
        report(tmp_path / "app.npz", plan=str(tmp_path / "plan.json"), machine="node:2 core:16")


def test_verdicts(tmp_path: Path) -> None:
    save_stencil(tmp_path / "row.npz", (32,))
    assert report(tmp_path / "row.npz")["verdict"]["result"] == "described"
    best = report(tmp_path / "row.npz", machine="node:32 core:1", metric="size")
    assert best["verdict"]["result"] == "no gain"
    assert "and none can" in best["verdict"]["sentence"]
    by_time = report(tmp_path / "row.npz", machine="node:32 core:1")["verdict"]
    assert by_time["result"] == "not worthwhile" and "is modelled more than 2.0 % faster" in by_time["sentence"]


def test_a_gain_below_two_percent_is_nothing_worth_changing(tmp_path: Path) -> None:
    """Two light pairs out of place among heavy ones: the plan mends them, a gain too small to matter."""
    senders = np.array([0, 2, 4, 6, 1, 3], dtype=np.int64)
    receivers = np.array([1, 3, 5, 7, 4, 6], dtype=np.int64)
    sizes = np.array([1e6, 1e6, 1e6, 1e6, 4e3, 1e3])
    _core.save_pattern(str(tmp_path / "a.npz"), _core.Pattern.from_pairs(8, senders, receivers, sizes / 100, sizes))
    document = report(tmp_path / "a.npz", machine="node:2 core:4")
    assert document["verdict"]["result"] == "not worthwhile"
    assert 0 < document["verdict"]["gain"] < 0.02


def test_renderings_show_one_document(tmp_path: Path) -> None:
    save_stencil(tmp_path / "a<b>&.npz", (8, 4), hosts=4, unattributed={"MPI_Comm_spawn": 2.0})
    document = report(tmp_path / "a<b>&.npz", machine=MACHINE)
    assert json.loads(as_json(document)) == document
    page = as_html(document)
    data = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert json.loads(data) == document
    assert "<title>a&lt;b&gt;&amp;.npz" in page
    text = as_text(document)
    assert text.startswith(document["verdict"]["sentence"])
    assert "not attributed: 2 MPI_Comm_spawn" in text
    assert as_html(report(tmp_path / "a<b>&.npz", machine=MACHINE)) == page


def test_collective_calls_by_operation_and_communicator(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "calls.npz",
        indptr=np.array([0, 1, 1, 1, 1], dtype=np.int64),
        indices=np.array([1], dtype=np.int32),
        messages=np.array([1], dtype=np.int64),
        bytes=np.array([8], dtype=np.int64),
        communicator_indptr=np.array([0, 4, 6], dtype=np.int64),
        communicator_members=np.array([0, 1, 2, 3, 1, 3], dtype=np.int32),
        communicator_remote_indptr=np.array([0, 0, 0], dtype=np.int64),
        communicator_remote=np.array([], dtype=np.int32),
        call_communicator=np.array([0, 1, 0], dtype=np.int32),
        call_operation=np.array([1, 3, 3], dtype=np.int32),
        call_root=np.array([0, -1, -1], dtype=np.int32),
        call_bucket=np.array([4, 7, 7], dtype=np.int32),
        call_count=np.array([4, 20, 40], dtype=np.int64),
        call_bytes=np.array([32, 1280, 2560], dtype=np.int64),
        metadata=np.frombuffer(b'{"format":"ranktree-pattern","version":1,"mpi":"Open MPI"}', dtype=np.uint8),
    )
    document = report(tmp_path / "calls.npz", machine="node:2 core:2")
    assert [(row["operation"].lower(), row["calls"], row["bytes"]) for row in document["calls"]] == [
        ("allreduce", 60, 3840),
        ("bcast", 4, 32),
    ]
    assert [(row["communicator"], row["members"], row["calls"]) for row in document["communicators"]] == [
        (0, "0-3", 44),
        (1, "1,3", 20),
    ]
    buckets = {bucket["from"]: bucket["count"] for bucket in document["message_sizes"][-1]["buckets"]}
    assert buckets == {8: 4, 16: 0, 32: 0, 64: 60}
    assert document["traffic"]["collectives_model"] == "openmpi"


def test_many_pairs_are_binned_into_the_budget(tmp_path: Path) -> None:
    """All pairs of 700 ranks with amounts of chance: nothing to deflate, so cells are sums, and they add up."""
    ranks = 700
    matrix = np.random.default_rng(1).integers(1, 10**9, (ranks, ranks)).astype(np.float64)
    np.save(tmp_path / "all.npy", matrix)
    tree = _core.load_machine("node:14 core:50").cut_at("Core")
    plan = _core.plan_matrix(tree, matrix, "round-robin", "size", 1)
    _core.save_plan(str(tmp_path / "plan.json"), plan)
    document = report(tmp_path / "all.npy", plan=str(tmp_path / "plan.json"), machine="node:14 core:50")
    heat = document["heat_map"]
    assert heat["bin"] > 1
    assert [each["order"] for each in heat["maps"]] == ["identity", "plan"]
    for each in heat["maps"]:
        assert unpacked(each["bytes"]).sum() == matrix.sum()
        assert unpacked(each["pairs"]).sum() == ranks * ranks
    width = heat["bin"]
    assert unpacked(heat["maps"][0]["bytes"])[0] == matrix[:width, :width].sum()
    assert sum(len(each["bytes"]["deflate"]) for each in heat["maps"]) <= BUDGET
    assert len(as_html(document)) < 5_000_000


def test_a_large_page_stays_below_five_megabytes(tmp_path: Path) -> None:
    save_stencil(tmp_path / "large.npz", (32, 32, 16), hosts=1024)
    tree = _core.load_machine("node:1024 package:2 core:8").cut_at("Core")
    pattern, _ = _core.load_pattern(str(tmp_path / "large.npz"))
    _core.save_plan(
        str(tmp_path / "plan.json"), _core.make_plan(tree, pattern, "round-robin", "size", 1, preset="fast")
    )
    document = report(tmp_path / "large.npz", plan=str(tmp_path / "plan.json"), machine="node:1024 package:2 core:8")
    assert document["heat_map"]["bin"] == 1
    assert len(as_html(document).encode()) < 5_000_000


def test_decisions_are_read_and_other_lines_are_kept() -> None:
    lines = [
        "ranktree: 4 ranks on 1 node: broadcast 32K: shared:binomial | native 31 us | levels 14 us | for 9 calls",
        "ranktree: 4 ranks on 1 node: calls: broadcast 2950 of 3000 not by the MPI",
        "something else",
    ]
    first, second, third = read_log(lines)
    assert first == {
        "where": "4 ranks on 1 node",
        "kind": "broadcast 32K",
        "choice": "shared:binomial",
        "candidates": ["native 31 us", "levels 14 us"],
        "calls": "for 9 calls",
    }
    assert second == {"text": "4 ranks on 1 node: calls: broadcast 2950 of 3000 not by the MPI"}
    assert third == {"text": "something else"}


@pytest.mark.parametrize("kind", ["u1", "u4", "f8"])
def test_packed_arrays_come_back(kind: str) -> None:
    values = np.array([0, 1, 200, 255])
    assert list(unpacked(packed(values, kind))) == list(values)
    with pytest.raises(ValueError, match="expected an array of 5 items"):
        unpacked({**packed(values, kind), "length": 5})


@pytest.mark.parametrize("word", ["a b", "it's\n", "tab\there", "\x1b[2J\\", "é\u2028\x9b", "\U000e0001"])
def test_a_shell_reads_the_words_of_a_command_back(word: str) -> None:
    """Whatever they hold, in printable characters."""
    text = shell_text(["printf", "%s", word])
    assert text.isprintable()
    environment = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
    found = subprocess.run(["bash", "-c", text], capture_output=True, timeout=60, check=True, env=environment)
    assert found.stdout.decode() == word
