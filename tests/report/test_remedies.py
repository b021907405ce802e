"""What would help, in the report: the same figures from the formula of docs/explanation/objectives.md."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ranktree._core", reason="the extension is not built")
from ranktree import _core
from ranktree.report.document import build
from ranktree.report.inputs import Request
from ranktree.report.text import as_text

LATENCY, BANDWIDTH = 2e-6, 1e10  # usual values between nodes (docs/explanation/models.md)


def report(path: Path, machine: str, **options: Any) -> dict[str, Any]:
    """The document of a pattern on a machine."""
    return build(Request(str(path), machine=machine, **options))


def helps(document: dict[str, Any], placement: str) -> dict[str, dict[str, Any]]:
    """What would help a placement, by the action."""
    (limit,) = [each for each in document["limits"] if each["placement"] == placement]
    found = {each["action"]: each for each in limit["would_help"]}
    assert len(found) == len(limit["would_help"])
    return found


def save_one_pair(path: Path, messages: float, size: float) -> None:
    """Rank 0 sends to rank 2, which is on the other node of `node:2 core:2`; so does 1 to 3."""
    ends = np.array([0, 1]), np.array([2, 3])
    pattern = _core.Pattern.from_pairs(4, *ends, np.array([messages, 0.0]), np.array([size, 0.0]))
    _core.save_pattern(str(path), pattern)


@pytest.mark.parametrize(("messages", "size"), [(1000.0, 1.25e6), (10.0, 1e6), (4000.0, 1e5)])
def test_latency_and_transfer_are_the_parts_of_the_formula(tmp_path: Path, messages: float, size: float) -> None:
    """One of four ranks waits for the messages; the link between the nodes has all bytes."""
    save_one_pair(tmp_path / "a.npz", messages, size)
    document = report(tmp_path / "a.npz", "node:2 core:2", worthwhile=0.0)
    latency = messages * LATENCY / 4
    transfer = size / BANDWIDTH * (1 + 1 / 4)
    found = helps(document, "identity")
    assert found["messages"]["saves"] == pytest.approx(latency / (latency + transfer) / 2)
    assert found["bytes"]["saves"] == pytest.approx(transfer / (latency + transfer) / 2)
    share = 100 * latency / (latency + transfer)
    shown = f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"
    assert found["messages"]["sentence"].startswith(f"Latency of messages is {shown} of this time")


def test_what_needs_no_change_of_the_program_is_first(tmp_path: Path) -> None:
    """The plan puts both ranks on one node; the traffic there is faster by what its own row has."""
    save_one_pair(tmp_path / "a.npz", 1000, 1.25e6)
    document = report(tmp_path / "a.npz", "node:2 core:2")
    before, plan = (each["seconds"] for each in document["limits"])
    assert before == pytest.approx(1.25e6 / BANDWIDTH * 1.25 + 1000 * LATENCY / 4)
    assert plan < 0.7 * before
    first = document["limits"][0]["would_help"][0]
    assert (first["action"], first["saves"]) == ("placement", pytest.approx(1 - plan / before))
    assert first["sentence"] == f"By the plan the modelled time is {100 * (1 - plan / before):.0f} % shorter."
    assert "placement" not in helps(document, "plan")
    text = as_text(document)
    for limit in document["limits"]:
        assert all(f"\n    {each['sentence']}\n" in text for each in limit["would_help"])


def save_dense(path: Path, **metadata: object) -> _core.Pattern:
    """8 ranks that all exchange data: on two nodes the fewest bytes cross, but four nodes have more links."""
    senders, receivers = np.nonzero(~np.eye(8, dtype=bool))
    pattern = _core.Pattern.from_pairs(8, senders, receivers, np.ones(len(senders)), np.full(len(senders), 1e8))
    pattern.metadata = {"program": "./dense", "source": "ranktree trace", **metadata}
    _core.save_pattern(str(path), pattern)
    return pattern


def test_a_plan_that_takes_longer_names_the_traced_placement(tmp_path: Path) -> None:
    """The plan by bytes is on two nodes; the ranks were traced on four."""
    save_dense(tmp_path / "a.npz", hosts=[f"n{rank % 4}" for rank in range(8)])
    document = report(tmp_path / "a.npz", "node:4 core:4", metric="size")
    traced, plan = (each["seconds"] for each in document["limits"])
    assert traced < 0.9 * plan
    found = helps(document, "plan")["placement"]
    assert found["saves"] == pytest.approx(1 - traced / plan)
    assert found["sentence"].startswith("By the traced placement the modelled time is ")
    assert "placement" not in helps(document, "traced")


def test_a_plan_by_time_is_named_where_it_is_shorter(tmp_path: Path) -> None:
    pattern = save_dense(tmp_path / "a.npz")
    machine = "node:4 core:4"
    document = report(tmp_path / "a.npz", machine, metric="size")
    tree = _core.load_machine(machine).cut_at("Core")
    plan, limits = _core.plan_by_objective(tree, pattern, ("time", None), "best", 1)
    (by_time,) = [each["seconds"] for each in limits if each["placement"] == "plan"]
    expected = 1 - by_time / document["limits"][-1]["seconds"]
    found = helps(document, "plan")["objective"]
    assert expected > 0.1 and found["saves"] == pytest.approx(expected)
    assert "`ranktree map --objective time`" in found["sentence"]
    _core.save_plan(str(tmp_path / "plan.json"), plan)
    again = report(tmp_path / "a.npz", machine, plan=str(tmp_path / "plan.json"))
    assert "objective" not in helps(again, "plan")


def test_collective_calls_are_named_with_their_share_between_nodes(tmp_path: Path) -> None:
    """Of what crosses: 300 bytes point-to-point, 100 of collective calls; inside the nodes everything is collective."""
    lines = ["# ranks=4", "src,dst,class,messages,bytes",
             "0,2,p2p,3,300", "1,3,collective,1,100", "0,1,collective,9,9000"]  # fmt: skip
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n", encoding="ascii")
    found = helps(report(tmp_path / "a.csv", "node:2 core:2"), "identity")["collectives"]
    assert found["saves"] is None
    assert found["sentence"].startswith("Collective calls are 25 % of the bytes between nodes: ")
    assert "collectives" not in helps(report(tmp_path / "a.csv", "node:1 core:4"), "identity")
    save_one_pair(tmp_path / "a.npz", 1000, 1.25e6)
    assert "collectives" not in helps(report(tmp_path / "a.npz", "node:2 core:2"), "identity")


def test_messages_alone_are_latency(tmp_path: Path) -> None:
    save_one_pair(tmp_path / "a.npz", 1000, 0)
    found = helps(report(tmp_path / "a.npz", "node:2 core:2", metric="msg"), "identity")
    assert found["messages"]["saves"] == pytest.approx(0.5)
    assert "bytes" not in found


def test_another_number_of_ranks_a_node_is_named_for_the_last_row(tmp_path: Path) -> None:
    """Eight ranks that all exchange data: on four nodes each link carries less than on two, where the plan is."""
    ends = np.array([(i, j) for i in range(8) for j in range(8) if i != j]).T
    pattern = _core.Pattern.from_pairs(8, *ends, np.ones(56), np.full(56, 1e8))
    _core.save_pattern(str(tmp_path / "a.npz"), pattern)
    document = report(tmp_path / "a.npz", "node:4 core:4", metric="size")
    plan = document["limits"][-1]
    tree = _core.load_machine("node:4 core:4").cut_at("Core")
    two_a_node = np.array([node * 4 + core for node in range(4) for core in range(2)], np.int32)
    spread = _core.limit_of(tree, pattern, two_a_node, ("time", None))["seconds"]
    found = helps(document, plan["placement"])["ranks_a_node"]
    assert found["saves"] == pytest.approx(1 - spread / plan["seconds"])
    assert found["sentence"].startswith("With at most 2 ranks a node on 4 nodes, in place of 4 on 2, ")
    assert all("ranks_a_node" not in helps(document, each["placement"]) for each in document["limits"][:-1])
