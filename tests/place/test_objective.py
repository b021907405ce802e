"""`ranktree map --objective` and `place(objective=...)`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

MACHINE = "node:2 core:2"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Rank 0 sends to rank 2: in the current order, from one node to the other."""
    path = tmp_path / "pairs.csv"
    path.write_text("# ranks=4\nsrc,dst,messages,bytes\n0,2,1,125000000\n", encoding="ascii")
    return path


def test_the_limit_of_each_placement_is_in_the_json(ranktree: Callable, pairs: Path) -> None:
    """One second over a link of 1 Gbit/s before; within a node after."""
    options = ("--machine", MACHINE, "--objective", "time", "--parameters", "ethernet-1g", "--json")
    result = ranktree("map", pairs, *options)
    assert result.returncode == 0, result.stderr
    limits = {each["placement"]: each for each in json.loads(result.stdout)["limits"]}
    assert limits["identity"]["resource"] == "node n0 up"
    assert limits["identity"]["link_seconds"] == pytest.approx(1)
    assert limits["plan"]["seconds"] < 0.1


def test_an_objective_replaces_the_metric(ranktree: Callable, pairs: Path) -> None:
    """Both at once, or parameters alone, are usage errors."""
    both = ranktree("map", pairs, "--machine", MACHINE, "--objective", "time", "--metric", "msg")
    assert both.returncode != 0
    assert "--metric" in both.stderr
    alone = ranktree("map", pairs, "--machine", MACHINE, "--parameters", "ethernet-1g")
    assert alone.returncode != 0
    assert "--objective" in alone.stderr
