"""`ranktree map`: presets, limits, Ctrl-C, forbidden PUs, and bounds."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

SMALL = "node:4 package:2 core:2"
SECONDS = 60


def write_pairs(path: Path, ranks: int, degree: int) -> Path:
    """Random traffic as CSV."""
    random = np.random.default_rng(7)
    pairs = np.unique(random.integers(0, ranks * ranks, ranks * degree))
    source, target = np.divmod(pairs, ranks)
    rows = np.column_stack([source, target, np.ones_like(pairs), pairs % 97 + 1])
    with path.open("w", encoding="ascii") as file:
        file.write(f"# ranks={ranks}\nsrc,dst,messages,bytes\n")
        np.savetxt(file, rows, fmt="%d", delimiter=",")
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Sixteen ranks for the sixteen cores of four nodes."""
    return write_pairs(tmp_path / "small.csv", 16, 3)


def bound_of(path: Path) -> float:
    """Sixteen ranks, two a package, four a node: beyond 3, 1 and 0 partners a rank's traffic crosses, 2 hops each."""
    traffic = np.zeros((16, 16))
    for source, target, _, size in np.loadtxt(path, delimiter=",", skiprows=2, dtype=np.int64):
        if source != target:
            traffic[source, target] += size
            traffic[target, source] += size
    falling = np.sort(traffic, axis=1)[:, ::-1]
    return float(sum(falling[:, slots - 1 :].sum() for slots in (4, 2, 1)))


def test_every_preset_reports_its_gap_to_the_bound(ranktree: Callable, small: Path, tmp_path: Path) -> None:
    """The sentence, the JSON and the file have the bound of the definition."""
    bound = bound_of(small)
    assert bound > 0
    for preset in ("fast", "default", "strong"):
        options = ("--machine", SMALL, "--preset", preset, "--threads", 2, "-o", tmp_path / "plan.json")
        result = ranktree("map", "--metric", "size", small, *options, "--json")
        assert result.returncode == 0, result.stderr
        said = json.loads(result.stdout)
        cost = next(row["total"] for row in said["costs"] if row["placement"] == "plan")
        assert said["bound"] == bound
        assert said["gap"] == pytest.approx(cost / bound - 1)
        assert said["stopped"] is None
        assert json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["bound"] == bound
    text = ranktree("map", "--metric", "size", small, "--machine", SMALL).stdout
    assert "No placement costs less than" in text


def test_the_best_is_known_to_be_the_best(ranktree: Callable, tmp_path: Path) -> None:
    """Pairs that fit: nothing costs less."""
    path = tmp_path / "pairs.csv"
    path.write_text("# ranks=4\nsrc,dst,messages,bytes\n0,2,1,5\n1,3,1,7\n", encoding="ascii")
    result = ranktree("map", "--metric", "size", path, "--machine", "node:2 core:2")
    assert "No placement costs less.\n" in result.stdout


def test_threads_do_not_change_the_plan(ranktree: Callable, tmp_path: Path) -> None:
    """Byte for byte."""
    pattern = write_pairs(tmp_path / "p.csv", 200, 5)
    for threads in (1, 2, 3):
        options = ("--machine", "node:16 core:16", "--threads", threads, "-o", tmp_path / f"{threads}.json")
        assert ranktree("map", "--metric", "size", pattern, *options).returncode == 0
    assert (
        (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes() == (tmp_path / "3.json").read_bytes()
    )


def test_wrong_options(ranktree: Callable, small: Path, tmp_path: Path) -> None:
    """Usage errors are exit code 2; PUs that are not there 1. No plan is left behind."""
    plan = tmp_path / "plan.json"
    for code, arguments, expected in (
        (2, ("--preset", "hard"), "--preset"),
        (2, ("--threads", 0), "--threads"),
        (2, ("--time-limit", 0), "--time-limit"),
        (2, ("--time-limit", "soon"), "--time-limit"),
        (1, ("--forbid", "4"), "--forbid 4: the machine has no such PU"),
        (1, ("--forbid", "n9:0"), "--forbid n9:0: the machine has no such PU"),
        (1, ("--forbid", "n1:2-5"), "--forbid n1:2-5: the machine has no such PU: n1:4"),
        (1, ("--forbid", "n0:"), "expected PUs like 0,2-3 or HOST:0,2-3, found 'n0:'"),
        (1, ("--forbid", "3-1"), "found '3-1'"),
        (1, ("--forbid", "0"), "16 slots"),
    ):
        result = ranktree("map", "--metric", "size", small, "--machine", SMALL, *arguments, "-o", plan)
        assert (result.returncode, expected in result.stderr) == (code, True), result.stderr
        assert not plan.exists()


def test_forbidden_pus_are_not_used(ranktree: Callable, tmp_path: Path) -> None:
    """On every host, and on one."""
    pattern = write_pairs(tmp_path / "p.csv", 9, 3)
    options = ("--forbid", "0", "--forbid", "n1:2-3", "--forbid", "n2:1,3", "-o", tmp_path / "plan.json")
    result = ranktree("map", "--metric", "size", pattern, "--machine", "node:4 core:4", *options)
    assert result.returncode == 1, "eight places are left"
    result = ranktree("map", "--metric", "size", pattern, "--machine", "node:4 core:5", *options)
    assert result.returncode == 0, result.stderr
    slots = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["slots"]
    used = {(slot["host"], slot["pus"][0]) for slot in slots}
    assert len(used) == 9
    assert not used & {("n0", 0), ("n1", 0), ("n2", 0), ("n3", 0), ("n1", 2), ("n1", 3), ("n2", 1), ("n2", 3)}


def require_valid_and_no_worse(plan: dict, pattern: Path, sizes: tuple[int, ...]) -> None:
    """One core a rank, and no more hop-bytes than in order; both counted here. `sizes`: cores of each subtree."""
    rows = np.loadtxt(pattern, delimiter=",", skiprows=2, dtype=np.int64)
    cores = np.array([int(slot["host"][1:]) * sizes[-1] + slot["pus"][0] for slot in plan["slots"]])
    assert all(len(slot["pus"]) == 1 and 0 <= slot["pus"][0] < sizes[-1] for slot in plan["slots"])
    assert {slot["host"] for slot in plan["slots"]} <= {host["name"] for host in plan["hosts"]}
    assert len(set(cores)) == len(cores)
    said = {row["placement"]: row["total"] for row in plan["costs"]}
    found = {}
    for name, place in (("identity", np.arange(len(cores))), ("plan", cores)):
        left, right = place[rows[:, 0]], place[rows[:, 1]]
        hops = np.where(left == right, 0, 2 + 2 * sum(left // size != right // size for size in sizes))
        found[name] = float(hops @ rows[:, 3])
        assert found[name] == said[name]
    assert found["plan"] <= found["identity"]


@pytest.mark.parametrize("algorithm", ["best", "engine"])
def test_a_time_limit_keeps_the_best_so_far(ranktree: Callable, tmp_path: Path, algorithm: str) -> None:
    """A microsecond is over before the search begins; more leave it somewhere."""
    pattern = write_pairs(tmp_path / "p.csv", 300, 5)
    options = ("--machine", "node:20 core:16", "--preset", "strong", "-o", tmp_path / "plan.json")
    for limit in ("1e-6", "0.005", "0.02"):
        result = ranktree("map", pattern, *options, "--algorithm", algorithm, "--time-limit", limit)
        assert result.returncode == 0, result.stderr
        plan = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
        assert len(plan["slots"]) == 300
        require_valid_and_no_worse(plan, pattern, (16,))
        stopped = "Stopped by the time limit: the plan is the best found so far." in result.stdout
        assert stopped or limit != "1e-6"
    assert (
        ranktree("map", "--metric", "size", pattern, *options, "--time-limit", 600, "--json").stdout.count(
            '"stopped": null'
        )
        == 1
    )


@pytest.mark.parametrize("algorithm", ["greedy", "treematch", "round-robin"])
def test_a_limit_that_stopped_nothing_is_not_reported(ranktree: Callable, tmp_path: Path, algorithm: str) -> None:
    """The time is over before they finish, but they stop at nothing."""
    pattern = write_pairs(tmp_path / "p.csv", 300, 5)
    options = ("--machine", "node:20 core:16", "--algorithm", algorithm, "--time-limit", "1e-6")
    result = ranktree("map", "--metric", "size", pattern, *options)
    assert result.returncode == 0, result.stderr
    assert "Stopped" not in result.stdout
    assert '"stopped": null' in ranktree("map", "--metric", "size", pattern, *options, "--json").stdout


END_OF_TERMINAL = "\0"


def read_until(terminal: int, text: str) -> str:
    """What a terminal shows, until it shows this."""
    shown = ""
    end = time.monotonic() + SECONDS
    while text not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 4096).decode(errors="replace")
            except OSError:  # its other end is closed
                break
    return shown


def test_ctrl_c_keeps_the_best_so_far_and_a_progress_bar_is_shown(command: str, tmp_path: Path) -> None:
    """On a terminal; the plan is written, and the exit code is 0."""
    pattern = write_pairs(tmp_path / "p.csv", 32768, 8)
    arguments = [command, "map", pattern, "--machine", "node:512 package:4 core:16", "--algorithm", "engine"]
    arguments += ["--preset", "strong", "-o", tmp_path / "plan.json"]
    terminal, other_end = pty.openpty()
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=other_end, text=True) as program:
        os.close(other_end)
        assert "placing 32,768 ranks" in read_until(terminal, "placing 32,768 ranks")
        program.send_signal(signal.SIGINT)
        assert "stopping with the best found so far" in read_until(terminal, "stopping with the best found so far")
        read_until(terminal, END_OF_TERMINAL)
        stdout, _ = program.communicate(timeout=SECONDS)
    os.close(terminal)
    assert program.returncode == 0
    assert "Stopped by Ctrl-C: the plan is the best found so far." in stdout
    plan = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert len(plan["slots"]) == 32768
    require_valid_and_no_worse(plan, pattern, (16, 64))


WORK_WITHOUT_CHECKS = """
import threading, time
from ranktree.interrupt import Interruption
with Interruption() as interruption:
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_second_ctrl_c_terminates_the_program(build_folder: Path) -> None:
    """Even where the work never checks for an interruption."""
    environment = {**os.environ, "PYTHONPATH": str(build_folder / "python")}
    arguments = [sys.executable, "-c", WORK_WITHOUT_CHECKS]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, env=environment, stdout=pipe, stderr=pipe, text=True) as program:
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGINT)
        assert program.stderr.readline() == "\n"
        assert "Ctrl-C again ends at once" in program.stderr.readline()
        assert program.poll() is None
        program.send_signal(signal.SIGINT)
        assert program.wait(timeout=SECONDS) == 130


def write_grid(path: Path, rows: int, columns: int, down: int, across: int) -> Path:
    """A halo of rows x columns ranks: so many bytes between neighbours in a column, and in a row."""
    lines = [f"# ranks={rows * columns}", "src,dst,messages,bytes"]
    for rank in range(rows * columns):
        if rank + columns < rows * columns:
            lines.append(f"{rank},{rank + columns},1,{down}")
        if (rank + 1) % columns != 0:
            lines.append(f"{rank},{rank + 1},1,{across}")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def test_a_grid_that_costs_less_is_named(ranktree: Callable, tmp_path: Path) -> None:
    """Planes of 4 links: 1,600 bytes down, 80,000 across. A node holds a row of 4 x 4: 3 planes at 4 hops, 3 at 2.

    Of 16 x 1: 3 planes of 1,600 bytes at 4 hops, 12 at 2.
    """
    file = write_grid(tmp_path / "grid.csv", 4, 4, 400, 20000)
    result = ranktree("map", "--metric", "size", file, "--machine", "node:4 core:4", "--json")
    assert result.returncode == 0, result.stderr
    grid = json.loads(result.stdout)["grid"]
    assert (grid["dims"], grid["better"]) == ([4, 4], [16, 1])
    assert grid["cost"] == pytest.approx(3 * 4 * 1600 + 3 * 2 * 80000)
    assert grid["better_cost"] == pytest.approx((3 * 4 + 12 * 2) * 1600)
    text = ranktree("map", "--metric", "size", file, "--machine", "node:4 core:4").stdout
    assert "The program's grid is 4 x 4; 16 x 1 would cost 88 % less" in text


@pytest.mark.parametrize(
    ("machine", "down", "across"), [("node:4 core:4", 500, 500), ("node:4 core:5", 400, 20000)], ids=["best", "spare"]
)
def test_no_grid_is_named_where_none_is_better(
    ranktree: Callable, tmp_path: Path, machine: str, down: int, across: int
) -> None:
    """The program's is the best; or there are more places than ranks."""
    file = write_grid(tmp_path / "grid.csv", 4, 4, down, across)
    result = ranktree("map", "--metric", "size", file, "--machine", machine, "--json")
    assert result.returncode == 0, result.stderr
    assert "grid" not in json.loads(result.stdout)
