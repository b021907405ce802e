"""`ranktree report`: files, text and JSON, and what it refuses."""

import json
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
    assert result.stdout.startswith("The plan moves ")
    assert result.stdout.strip() in page.read_text(encoding="utf-8")


def test_text_and_json_agree(ranktree: Callable, pattern: Path) -> None:
    text = ranktree("report", pattern, "--machine", "node:4 core:8")
    document = json.loads(ranktree("report", pattern, "--machine", "node:4 core:8", "--json").stdout)
    assert (document["format"], document["version"]) == ("ranktree-report", 1)
    assert text.stdout.splitlines()[0] == document["verdict"]["sentence"]
    assert f"lower bound of the cost: {document['levels']['bound']:,.6g}" in text.stdout


def test_the_commands_reproduce_the_report(ranktree: Callable, pattern: Path) -> None:
    """`map` as the report names it writes a plan that gives the same table."""
    document = json.loads(ranktree("report", pattern, "--machine", "node:4 core:8", "--json").stdout)
    command = next(each["command"] for each in document["commands"] if each["what"] == "compute the plan")
    assert command.startswith(f"ranktree map {pattern} --machine 'node:4 core:8'")
    plan = pattern.with_name("plan.json")
    assert command.split(" -o ")[0].endswith("--metric size")
    assert ranktree("map", pattern, "--machine", "node:4 core:8", "--metric", "size", "-o", plan).returncode == 0
    again = json.loads(ranktree("report", pattern, "--plan", plan, "--machine", "node:4 core:8", "--json").stdout)
    assert again["levels"] == document["levels"]
    assert again["machine"]["placements"] == document["machine"]["placements"]


def test_refusals(ranktree: Callable, pattern: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "runs.json"
    wrong.write_text('{"format": "other"}', encoding="utf-8")
    cases = (
        (("report", pattern, "--runs", wrong), 1, 'expected "format": "ranktree-runs"'),
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
