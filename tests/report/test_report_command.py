"""`ranktree report`: files, text and JSON, and what it refuses."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.reports import save_stencil

pytest.importorskip("ranktree._core", reason="the extension is not built")


@pytest.fixture
def pattern(tmp_path: Path) -> Path:
    """30 ranks, traced round robin over 4 nodes."""
    save_stencil(tmp_path / "app.npz", (6, 5), hosts=4)
    return tmp_path / "app.npz"


def test_writes_the_page_and_prints_the_verdict(ranktree: Callable, pattern: Path) -> None:
    page = pattern.with_name("report.html")
    result = ranktree("report", pattern, "--machine", "node:4 core:8", "-o", page)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"Modelled time: \S+ \S+ traced, \S+ \S+ by the plan, \S+x faster\.\n", result.stdout)
    assert result.stdout.strip() in page.read_text(encoding="utf-8")


def test_text_and_json_agree(ranktree: Callable, pattern: Path) -> None:
    text = ranktree("report", pattern, "--machine", "node:4 core:8")
    document = json.loads(ranktree("report", pattern, "--machine", "node:4 core:8", "--json").stdout)
    assert (document["format"], document["version"]) == ("ranktree-report", 1)
    assert text.stdout.splitlines()[0] == document["verdict"]["sentence"]
    assert f"lower bound of the cost: {document['levels']['bound']:,.6g}" in text.stdout


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ([], "--objective time"),
        (["--metric", "size"], "--metric size"),
        (["--metric", "msg"], "--metric msg"),
    ],
)
def test_the_commands_reproduce_the_report(ranktree: Callable, pattern: Path, options: list[str], named: str) -> None:
    """`map` as the report names it writes a plan that gives the same table."""
    document = json.loads(ranktree("report", pattern, "--machine", "node:4 core:8", *options, "--json").stdout)
    command = next(each["command"] for each in document["commands"] if each["what"] == "compute the plan")
    assert command.startswith(f"ranktree map {pattern} --machine 'node:4 core:8'")
    plan = pattern.with_name("plan.json")
    assert command.split(" -o ")[0].endswith(named)
    assert ranktree("map", pattern, "--machine", "node:4 core:8", *options, "-o", plan).returncode == 0
    again = json.loads(ranktree("report", pattern, "--plan", plan, "--machine", "node:4 core:8", "--json").stdout)
    assert again["levels"] == document["levels"]
    assert again["machine"]["placements"] == document["machine"]["placements"]


def made(ranktree: Callable, *arguments: object) -> None:
    """A command that must succeed."""
    result = ranktree(*arguments)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("difference", ["hosts", "unit", "oversubscribed"])
def test_a_plan_of_traced_hosts_is_shown_beside_other_inputs(
    difference: str, ranktree: Callable, pattern: Path, tmp_path: Path
) -> None:
    """The plan compares with the traced placement, of which a matrix has no hosts, and slots of cores are too few."""
    plan, shown, machine = tmp_path / "plan.json", pattern, "node:4 core:4 pu:2"
    if difference == "unit":
        save_stencil(pattern, (4, 2), hosts=1)
    if difference == "oversubscribed":
        machine = "node:4 core:4"
        made(ranktree, "map", pattern, "--machine", machine, "--oversubscribe", "-o", plan)
    else:
        made(ranktree, "map", pattern, "--machine", machine, "--unit", "pu", "-o", plan)
    if difference == "hosts":
        shown = tmp_path / "app.mtx"
        made(ranktree, "convert", pattern, "-o", shown)
    unit = ["--unit", "pu"] if difference == "hosts" else []
    result = ranktree("report", shown, "--plan", plan, "--machine", machine, *unit, "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    names = [each["name"] for each in document["machine"]["placements"]]
    assert names == (["traced", "plan"] if difference == "oversubscribed" else ["plan"])
    noted = any("traced hosts are not in this pattern and machine" in note for note in document["notes"])
    assert noted == (difference != "oversubscribed")


def test_costs_that_are_no_hops_are_not_called_so(ranktree: Callable, pattern: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    made(ranktree, "topo", "node:4 core:8", "-o", tmp_path / "machine.json")
    document = json.loads((tmp_path / "machine.json").read_text(encoding="utf-8"))
    document["costs"] = {kind: {"latency_s": 2.5e-6 * hops} for hops, kind in enumerate(("Core", "Node", "Cluster"))}
    machine = tmp_path / "latencies.json"
    machine.write_text(json.dumps(document), encoding="utf-8")
    made(ranktree, "map", pattern, "--machine", machine, "--cost", "latency", "-o", plan)
    for options, unit in (((), "bytes x cost"), (("--machine", machine), "bytes x cost")):
        shown = json.loads(ranktree("report", pattern, "--plan", plan, *options, "--json").stdout)
        assert shown["levels"]["cost_unit"] == unit
        assert any("it was made with others" in note for note in shown["notes"]) == bool(options)
    made(ranktree, "map", pattern, "--machine", machine, "-o", plan)
    for options in ((), ("--machine", machine)):
        shown = json.loads(ranktree("report", pattern, "--plan", plan, *options, "--json").stdout)
        assert shown["levels"]["cost_unit"] == "hop-bytes"


def test_the_command_of_a_report_by_messages_makes_it_again(ranktree: Callable, pattern: Path) -> None:
    document = json.loads(ranktree("report", pattern, "--machine", "node:4 core:8", "--metric", "msg", "--json").stdout)
    (command,) = [each["command"] for each in document["commands"] if each["what"] == "make this report"]
    words = shlex.split(command)
    again = ranktree(*words[1 : words.index("-o")], "--json")
    assert json.loads(again.stdout) == document


def test_messages_are_shown_where_bytes_are_not_known(ranktree: Callable, tmp_path: Path) -> None:
    (tmp_path / "app.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n4 4 2\n1 3 700\n2 4 500\n", encoding="utf-8"
    )
    made(ranktree, "convert", tmp_path / "app.mtx", "-o", tmp_path / "app.npz", "--metric", "msg")
    text = ranktree("report", tmp_path / "app.npz", "--machine", "node:2 core:2", "--metric", "msg").stdout
    links = text[text.index("most loaded links, messages") :].split("\n\n")[0]
    assert "1,200" in links
    assert "bytes" not in links


def test_a_sentence_of_runs_sends_nothing_to_the_terminal(ranktree: Callable, pattern: Path, tmp_path: Path) -> None:
    times = {"name": "a", "values": [1.0], "median": 1.0}
    comparison = {"ratio": 1.0, "low": 1.0, "high": 1.0, "result": "faster", "sentence": "\u001b[2J\u009b2Jgone"}
    runs = {"format": "ranktree-runs", "version": 1, "what": "time", "unit": "s", "series": [times]}
    (tmp_path / "runs.json").write_text(json.dumps(runs | {"comparison": comparison}), encoding="utf-8")
    result = ranktree("report", pattern, "--runs", tmp_path / "runs.json", "-o", tmp_path / "report.html")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Nothing worth changing, measured: ?[2J?2Jgone")


def test_refusals(ranktree: Callable, pattern: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "runs.json"
    wrong.write_text('{"format": "other"}', encoding="utf-8")
    runs = {"format": "ranktree-runs", "version": 1, "what": "time", "unit": "s"}
    times = {"name": "a", "values": [1.0], "median": 1.0}
    compared = tmp_path / "compared.json"
    comparison = {"ratio": 1.4, "result": "faster", "sentence": "Faster."}
    compared.write_text(json.dumps({**runs, "series": [times], "comparison": comparison}), encoding="utf-8")

    def changed(name: str, value: object) -> Path:
        """A file of runs in which one field of the series is wrong."""
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**runs, "series": [times | {name: value}]}), encoding="utf-8")
        return path

    cases = (
        (("report", pattern, "--runs", wrong), 1, 'expected "format": "ranktree-runs"'),
        (
            ("report", pattern, "--runs", changed("median", float("nan"))),
            1,
            "series[0]: median: expected a finite number",
        ),
        (("report", pattern, "--runs", changed("command", "./app")), 1, "series[0].command: expected a list of words"),
        (("report", pattern, "--runs", changed("interval", [1])), 1, "series[0].interval: expected two finite numbers"),
        (("report", pattern, "--runs", compared), 1, "comparison: low: expected a finite number, found none"),
        (("report", pattern, "--plan", tmp_path / "none.json"), 1, "none.json"),
        (("report", pattern, "-o", tmp_path / "none" / "a.html"), 1, "no such folder"),
        (("report", tmp_path / "none.npz"), 1, "none.npz"),
        (("report", pattern, "--machine", "node:2 core:2"), 1, "30"),
        (("report", pattern, "--unit", "socket"), 2, "core, pu"),
        (("report", pattern, "--collectives", "some"), 2, "openmpi"),
        (("report", pattern, "--metric", "some"), 2, "size, msg, avg"),
    )
    for arguments, code, text in cases:
        result = ranktree(*arguments)
        assert result.returncode == code, (arguments, result.stderr)
        assert text in result.stderr
        assert "Traceback" not in result.stderr


def test_a_plan_for_ranks_of_several_threads_is_shown_in_their_slots(ranktree: Callable, tmp_path: Path) -> None:
    """Two ranks a node of eight cores: rank order is no packing of 16 ranks into two nodes."""
    save_stencil(tmp_path / "app.npz", (4, 4))
    plan, machine = tmp_path / "plan.json", "node:8 package:2 core:4"
    options = ["--machine", machine, "--threads-per-rank", 4]
    made(ranktree, "map", tmp_path / "app.npz", *options, "-o", plan)
    document = json.loads(
        ranktree("report", tmp_path / "app.npz", "--plan", plan, "--machine", machine, "--json").stdout
    )
    assert document["notes"] == []
    assert document["levels"]["cost_unit"] == "hop-bytes"
    before = document["machine"]["placements"][0]
    assert before["name"] == "identity"
    assert document["limits"][0]["seconds"] == pytest.approx(
        next(
            limit["seconds"]
            for limit in json.loads(ranktree("map", tmp_path / "app.npz", *options, "--json").stdout)["limits"]
            if limit["placement"] == "identity"
        )
    )
    command = next(each["command"] for each in document["commands"] if each["what"] == "compute the plan")
    assert "--threads-per-rank 4" in command


def test_a_plan_with_pins_is_not_compared_with_an_order_that_it_could_not_have(
    ranktree: Callable, pattern: Path, tmp_path: Path
) -> None:
    """Forbidden PUs are not in the plan's file: where the table shows another order of ranks, none is drawn."""
    save_stencil(tmp_path / "app.npz", (4, 4))
    plan, machine = tmp_path / "plan.json", "node:4 core:8"
    made(ranktree, "map", tmp_path / "app.npz", "--machine", machine, "--forbid", "n0:0-5", "-o", plan)
    text = ranktree("report", tmp_path / "app.npz", "--plan", plan, "--machine", machine, "--json").stdout
    document = json.loads(text)
    assert [each["name"] for each in document["machine"]["placements"]] == ["plan"]
    assert any("current rank order is not shown" in note for note in document["notes"])


def test_a_matrix_may_count_messages(ranktree: Callable, tmp_path: Path) -> None:
    """The one number of a pair is what --metric or the plan counts, as for `map`."""
    matrix = tmp_path / "app.mat"
    matrix.write_text("".join(" ".join(str(abs(a - b) % 3) for b in range(8)) + "\n" for a in range(8)))
    machine = "node:2 core:4"
    alone = ranktree("report", matrix, "--machine", machine, "--metric", "msg", "--json")
    assert alone.returncode == 0, alone.stderr
    assert json.loads(alone.stdout)["traffic"]["messages"] > 0
    described = ranktree("report", matrix, "--metric", "msg", "--json")
    assert json.loads(described.stdout)["traffic"]["bytes"] == 0
    plan = tmp_path / "plan.json"
    made(ranktree, "map", matrix, "--machine", machine, "--objective", "messages", "-o", plan)
    document = json.loads(ranktree("report", matrix, "--plan", plan, "--machine", machine, "--json").stdout)
    assert document["levels"]["unit"] == "messages"
    assert not any("another pattern" in note for note in document["notes"])


@pytest.mark.parametrize("words", [["--unit", "pu"], ["--cost", "latency"], ["--cost", "miles"]])
def test_options_that_place_need_a_machine_or_a_plan(ranktree: Callable, pattern: Path, words: list[str]) -> None:
    result = ranktree("report", pattern, *words)
    assert result.returncode == 2
    assert words[0] in result.stderr
