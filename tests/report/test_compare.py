"""`ranktree compare`: interleaved runs, files, plans, what fails and what is interrupted."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.helpers.reports import left_of, save_stencil, script

pytest.importorskip("ranktree._core", reason="the extension is not built")


def printing(path: Path, log: Path, *times: float) -> Path:
    """A program that notes its name in a log and prints another time in each run."""
    words = " ".join(map(str, times))
    return script(
        path,
        f"echo {path.name} >>{log}\nset -- {words}\n"
        f"shift $(( ($(grep -c '^{path.name}$' {log}) - 1) % {len(times)} ))\n"
        'echo "time: $1 s"',
    )


def test_runs_take_turns_and_times_come_from_the_output(ranktree: Callable, tmp_path: Path) -> None:
    log = tmp_path / "log"
    slow = printing(tmp_path / "slow", log, 3.0, 3.1, 2.9, 3.05, 2.95)
    fast = printing(tmp_path / "fast", log, 1.5, 1.55, 1.45, 1.52, 1.48)
    result = ranktree("compare", "--runs", 5, "--metric-regex", r"time: ([0-9.]+)", "--json", "--", slow, "--", fast)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert log.read_text().split() == ["slow", "fast", "fast", "slow", "slow", "fast", "fast", "slow", "slow", "fast"]
    assert (found["format"], found["version"], found["unit"]) == ("ranktree-runs", 1, "s")
    assert [each["values"] for each in found["series"]] == [[3.0, 3.1, 2.9, 3.05, 2.95], [1.5, 1.55, 1.45, 1.52, 1.48]]
    assert [each["median"] for each in found["series"]] == [3.0, 1.5]
    assert found["comparison"]["ratio"] == 2.0
    assert found["comparison"]["low"] <= 2.0 <= found["comparison"]["high"]
    assert found["comparison"]["sentence"].startswith("B is 2.00x faster than A (95 % interval ")


def test_equal_times_are_no_difference(ranktree: Callable, tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = printing(tmp_path / "a", log, 1.0, 1.1, 1.2, 1.3, 1.05)
    second = printing(tmp_path / "b", log, 1.2, 1.04, 1.1, 1.02, 1.3)
    result = ranktree("compare", "--runs", 5, "--metric-regex", r"time: ([0-9.]+)", "--", first, "--", second)
    assert result.returncode == 0
    last = result.stdout.splitlines()[-1]
    shown = r"No difference between A and B: the speedup's 95 % interval ([0-9.]+) to ([0-9.]+) contains 1\."
    found = re.fullmatch(shown, last)
    assert found and float(found[1]) <= 1 <= float(found[2])


def test_files_of_runs_and_a_picture(ranktree: Callable, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for name, factor in (("a", 2.0), ("b", 1.0)):
        program = printing(tmp_path / name, log, *(factor * value for value in (1.0, 1.01, 0.99, 1.02, 0.98, 1.0)))
        arguments = ("--runs", 6, "--metric-regex", r"time: ([0-9.]+)", "-o", tmp_path / f"{name}.json")
        assert ranktree("compare", *arguments, "--", program).returncode == 0
    picture = tmp_path / "plot.svg"
    result = ranktree("compare", "--plot", picture, tmp_path / "a.json", tmp_path / "b.json")
    assert result.returncode == 0, result.stderr
    assert "b is 2.00x faster than a" in result.stdout
    circles = ElementTree.parse(picture).getroot().findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 2 * 6 + 2


def test_plans_are_compared_by_level(ranktree: Callable, tmp_path: Path) -> None:
    save_stencil(tmp_path / "app.npz", (6, 5))
    totals = []
    for algorithm in ("round-robin", "best"):
        arguments = ("map", tmp_path / "app.npz", "--machine", "node:4 core:8", "--algorithm", algorithm)
        result = ranktree(*arguments, "-o", tmp_path / f"{algorithm}.json", "--json")
        rows = {row["placement"]: row["total"] for row in json.loads(result.stdout)["costs"]}
        totals.append(rows["plan"])
    result = ranktree("compare", tmp_path / "round-robin.json", tmp_path / "best.json", "--json")
    assert (result.returncode, "options come before" in result.stderr) == (2, True)
    result = ranktree("compare", "--json", tmp_path / "round-robin.json", tmp_path / "best.json")
    found = json.loads(result.stdout)
    assert found["totals"] == totals
    assert found["gain"] == pytest.approx(1 - totals[1] / totals[0])


def test_plans_that_cannot_be_compared_are_refused(ranktree: Callable, tmp_path: Path) -> None:
    plans = {}
    for ranks in (3, 4):
        pattern = tmp_path / f"{ranks}.csv"
        pattern.write_text(f"# ranks={ranks}\nsrc,dst,messages,bytes\n0,2,1,8\n", encoding="ascii")
        plans[ranks] = tmp_path / f"{ranks}.json"
        assert ranktree("map", pattern, "--machine", "node:2 core:2", "-o", plans[ranks]).returncode == 0
    result = ranktree("compare", plans[4], plans[3])
    assert result.returncode == 1
    assert f"{plans[3]}: expected a plan of as many ranks as {plans[4]}, 4; found 3" in result.stderr
    document = json.loads(plans[4].read_text(encoding="ascii"))
    document["costs"] = [row for row in document["costs"] if row["placement"] != "plan"]
    partial = tmp_path / "partial.json"
    partial.write_text(json.dumps(document), encoding="ascii")
    for words in (("compare", plans[4], partial), ("report", tmp_path / "4.csv", "--plan", partial)):
        result = ranktree(*words)
        assert result.returncode == 1
        assert result.stderr.startswith(f"ranktree: {partial}: costs: expected ")


def test_refusals(ranktree: Callable, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"format": "ranktree-runs", "version": 1, "series": [{"name": "x", "values": [0]}]}')
    empty = tmp_path / "empty.json"
    empty.write_text('{"format": "ranktree-runs", "version": 1}')
    good = script(tmp_path / "good", "echo 1")
    cases = (
        (("--runs", 2, "--", good, "--", script(tmp_path / "bad", "echo wrong >&2; exit 3")), 1, "exit code 3: wrong"),
        (("--runs", 2, "--", tmp_path / "none"), 1, "No such file"),
        (("--runs", 2, "--metric-regex", "time ([0-9]+)", "--", good), 1, "nothing in the output matches"),
        (("--runs", 2, "--metric-regex", "1", "--", good), 1, "one group"),
        (("--runs", 2, "--metric-regex", "(", "--", good), 1, "--metric-regex"),
        (("--time-limit", 0.2, "--", "sleep", 60), 1, "did not end in 0.2 s"),
        (("--", good, "--", good, "--", good), 2, "one or two commands"),
        ((wrong, wrong), 1, "times above 0"),
        ((empty, empty), 1, "empty.json: series: expected a list, found none"),
        ((tmp_path / "none.json", wrong), 1, "none.json"),
    )
    for arguments, code, text in cases:
        result = ranktree("compare", *arguments)
        assert result.returncode == code, (arguments, result.stderr)
        assert text in result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_comparison_leaves_nothing_behind(command: str, tmp_path: Path, number: int) -> None:
    """Neither the program, nor what it started in another session, nor what ignores SIGTERM; complete rounds stay."""
    seconds = f"7{os.getpid()}{int(number)}"
    log = tmp_path / "log"
    program = script(
        tmp_path / "program",
        f"echo run >>{log}\n[ $(wc -l <{log}) -le 2 ] && exit 0\n"
        f"trap '' TERM\nsetsid sleep {seconds} &\nsleep {seconds} &\n"
        f"setsid sh -c 'trap \"\" TERM; sleep {seconds}' &\nwait; wait",
    )
    output = tmp_path / "runs.json"
    arguments = [command, "compare", "--runs", "9", "-o", str(output), "--", str(program), "--", str(program)]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 60
        while len(left_of(seconds)) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        running.send_signal(number)
        error = running.communicate(timeout=60)[1]
    assert running.returncode == -number
    assert left_of(seconds) == []
    assert "holds the 1 complete rounds" in error
    found = json.loads(output.read_text())
    assert [len(each["values"]) for each in found["series"]] == [1, 1]
    assert found["comparison"]["result"] == "too few runs"
