"""Pinned ranks on the command line and from Python."""

import json
import os
import subprocess

import pytest

MACHINE = "node:2 core:4"


def run(*arguments):
    return subprocess.run(
        [os.environ["RANKTREE_COMMAND"], "map", "--metric", "size", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def pattern(tmp_path):
    path = tmp_path / "pairs.csv"
    lines = ["# ranks=6", "src,dst,messages,bytes"] + [f"{i},{i ^ 1},1,100" for i in range(6)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_pinned_ranks_sit_where_they_must(pattern, tmp_path):
    plan = tmp_path / "plan.json"
    done = run(pattern, "--machine", MACHINE, "--pin", "3=n1:2", "--pin", "0=n1:0", "-o", str(plan))
    assert done.returncode == 0, done.stderr
    ranks = json.loads(plan.read_text())["slots"]
    assert (ranks[3]["host"], ranks[3]["pus"]) == ("n1", [2])
    assert (ranks[0]["host"], ranks[0]["pus"]) == ("n1", [0])


@pytest.mark.parametrize("word", ["3", "x=1", "3=", "=1", "3=n1:", "-1=0"])
def test_words_that_are_no_pins_are_wrong_usage(pattern, word):
    done = run(pattern, "--machine", MACHINE, f"--pin={word}")
    assert done.returncode == 2
    assert "--pin" in done.stderr


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("3=2", "2 hosts have PU 2: write HOST:2"),
        ("3=n7:2", "--pin 3=n7:2: the machine has no such PU"),
        ("6=n0:0", "expected ranks in 0..5, found 6"),
    ],
)
def test_pins_that_do_not_fit_are_named(pattern, word, text):
    done = run(pattern, "--machine", MACHINE, "--pin", word)
    assert done.returncode == 1
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_two_ranks_on_one_place_and_forbidden_places_are_refused(pattern):
    done = run(pattern, "--machine", MACHINE, "--pin", "0=n0:1", "--pin", "1=n0:1")
    assert done.returncode == 1
    assert "already holds 1" in done.stderr
    done = run(pattern, "--machine", MACHINE, "--pin", "0=n0:1", "--forbid", "n0:1")
    assert done.returncode == 1
    assert "may not be used" in done.stderr


def test_algorithms_that_cannot_honour_pins_refuse_them(pattern):
    done = run(pattern, "--machine", MACHINE, "--pin", "0=n0:1", "--algorithm", "treematch")
    assert done.returncode == 1
    assert "treematch: expected no pinned ranks, found 1" in done.stderr
    done = run(pattern, "--machine", MACHINE, "--pin", "0=n0:1", "--compare")
    assert done.returncode == 2
