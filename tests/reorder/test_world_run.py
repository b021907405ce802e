"""`ranktree run --reorder`, `--dry-run` and `--cart`: real patterns, real machines, beside tracing and splits."""

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ranktree import _core

from tests.helpers import known_bugs
from tests.helpers.emulated_cluster import OPENMPI
from tests.helpers.faked_mpis import Machine, needed_mpi
from tests.helpers.trace_files import check, read_expected, read_trace

HERE = Path(__file__).resolve().parent

SOURCES = HERE / "world"
BOUND = {"openmpi": ["--bind-to", "core:overload-allowed", "--map-by", "core"], "mpich": ["-bind-to", "core"]}
START = {
    "openmpi": ["mpiexec.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
    "mpich": ["mpiexec.mpich"],
}
TRACED = ("collectives", "communicators", "neighbors", "p2p", "persistent", "rma", "mpi4", "sessions")
two_pus = pytest.mark.skipif(len(os.sched_getaffinity(0)) != 2, reason="ranks are dealt out to two PUs")


def save(path: Path, ranks: int, pairs: dict[tuple[int, int], int]) -> Path:
    """A pattern in a Matrix Market file, written by hand."""
    lines = [f"{i + 1} {j + 1} {amount}" for (i, j), amount in sorted(pairs.items())]
    text = "\n".join(["%%MatrixMarket matrix coordinate integer general", f"{ranks} {ranks} {len(lines)}", *lines, ""])
    path.write_text(text, encoding="ascii")
    return path


def neighbours(ranks: int, amount: int = 1000000) -> dict[tuple[int, int], int]:
    """0 and 1 talk, 2 and 3, ...; 1 and 2 hardly."""
    pairs = {(i ^ sides, (i ^ 1) ^ sides): amount for i in range(0, ranks - 1, 2) for sides in (0, 1)}
    return pairs | {(1, 2): 7}


@pytest.fixture
def pattern(tmp_path) -> Path:
    """Of four ranks."""
    return save(tmp_path / "pairs.mtx", 4, neighbours(4))


@pytest.fixture
def bound(mpi, ranktree) -> Callable[..., list[str]]:
    """Runs a program of four ranks, bound to the two PUs in turn, by a verb's words; its lines, sorted."""

    def start(verb: list, *program: object) -> list[str]:
        launch = [*START[mpi.name], *BOUND[mpi.name], "-n", "4", *map(str, program)]
        result = ranktree(*verb, "--", *launch, timeout=120)
        assert result.returncode == 0, result.stdout + result.stderr
        return sorted(result.stdout.splitlines())

    return start


@two_pus
def test_ranks_that_talk_come_together(mpi, made, bound, pattern):
    program = made(mpi.name, "first.c")
    launched = [int(line.split()[3]) for line in bound(["run", "--reorder", pattern], program)]
    # The launcher's 0 and 2 share a PU, 1 and 3 the other.
    assert {launched[0] % 2, launched[2] % 2} == {0, 1}
    assert launched[0] % 2 == launched[1] % 2
    assert launched[2] % 2 == launched[3] % 2


@two_pus
def test_the_dry_run_prints_and_changes_nothing(bound, pattern, tmp_path):
    lines = bound(["run", "--reorder", pattern, "--dry-run"], "touch", tmp_path / "ran")
    assert "2 of 4 ranks would move (central)" in lines
    rows = [line.split() for line in lines]
    now = [row[3] for row in rows if row[1:3] == [rows_host(rows), "PU"]]
    after = [row[6] for row in rows if row[1:3] == [rows_host(rows), "PU"]]
    assert now == ["0", "1", "0", "1"]
    assert (after[0], after[2]) == (after[1], after[3])
    assert sorted(after) == sorted(now)
    cost = next(line for line in lines if line.startswith("cost in hops x bytes: "))
    assert cost.endswith("50.0 % less")
    assert not (tmp_path / "ran").exists()


def rows_host(rows: list[list[str]]) -> str:
    """The host of the first rank in the table."""
    return next(row[1] for row in rows if row[:1] == ["0"] and "PU" in row)


def test_it_reports_where_nothing_would_change(mpi, ranktree, pattern):
    result = ranktree("run", "--reorder", pattern, "--dry-run", "--", *mpi.launch(4, "true"), timeout=60)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("no gain: nothing would change (")


def test_the_dry_run_does_not_foretell_grids(mpi, ranktree, pattern):
    words = ["run", "--reorder", pattern, "--cart", "--dry-run", "--", *mpi.launch(4, "true")]
    result = ranktree(*words, timeout=60)
    assert result.returncode == 0, result.stderr
    first, last = result.stdout.splitlines()[0], result.stdout.splitlines()[-1]
    assert first.startswith("no gain: nothing would change (")
    assert last.startswith("--cart, --cart-all, --graph: not foretold; ")


@two_pus
def test_keys_reach_the_library(bound, pattern):
    lines = bound(["run", "--reorder", pattern, "--reorder-info", "ranktree_reorder_mode=node", "--dry-run"], "true")
    assert "2 of 4 ranks would move (node)" in lines


@two_pus
@pytest.mark.parametrize("objective", ["bytes", "bottleneck", "time"])
def test_the_objective_reaches_the_library(bound, pattern, objective):
    lines = bound(["run", "--reorder", pattern, "--objective", objective, "--dry-run"], "true")
    assert "2 of 4 ranks would move (central)" in lines
    cost = next(line for line in lines if line.startswith("cost in "))
    assert cost.startswith("cost in hops x bytes: " if objective == "bytes" else "cost in seconds: ")
    assert cost.endswith(" % less")


def test_a_path_that_no_info_key_can_hold_is_refused_for_seconds(mpi, ranktree, tmp_path):
    path = save(tmp_path / "a pair.mtx", 4, neighbours(4))
    result = ranktree("run", "--reorder", path, "--objective", "time", "--", *mpi.launch(4, "true"), timeout=60)
    assert result.returncode == 1
    assert f"{path}: expected a path without spaces" in result.stderr


def test_a_run_without_gain_is_the_launchers(mpi, ranktree, made, pattern):
    result = ranktree("run", "--reorder", pattern, "--", *mpi.launch(4, made(mpi.name, "first.c")), timeout=60)
    assert result.returncode == 0, result.stderr
    assert [line.split()[0] == line.split()[3] for line in result.stdout.splitlines()] == [True] * 4


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["--reorder", "missing.npz"], 1, "missing.npz"),
        (["--reorder", "{five}"], 1, "a pattern of 5 ranks; the command starts 4"),
        (["--reorder", "{four}", "--metric", "miles"], 1, "--metric: expected one of size, msg, avg, found 'miles'"),
        (["--reorder", "{four}", "--reorder-info", "fast"], 2, "expected KEY=VALUE without spaces, found 'fast'"),
        (["--reorder", "{four}", "--reorder-info", "=fast"], 2, "expected KEY=VALUE without spaces, found '=fast'"),
        (["--reorder", "{four}", "--reorder-info", "a="], 2, "expected KEY=VALUE without spaces, found 'a='"),
        (
            ["--reorder", "{four}", "--objective", "miles"],
            2,
            "expected one of bytes, messages, bottleneck, time, found",
        ),
        (["--reorder", "{four}", "--objective", "time", "--metric", "msg"], 2, "expected no --metric"),
        (
            ["--reorder", "{four}", "--objective", "time", "--reorder-info", "ranktree_objective=bytes"],
            2,
            "expected no --reorder-info ranktree_objective=",
        ),
        (
            ["--reorder", "{four}", "--metric", "msg", "--reorder-info", "ranktree_objective=time"],
            2,
            "--metric: expected no --reorder-info for seconds",
        ),
        (["--objective", "time"], 2, "--objective needs --reorder APP.npz, --pattern APP.npz, --cart or --graph"),
        (["--reorder", "{four}", "--parameters", "ethernet-1g"], 2, "or --reorder APP.npz and such an --objective"),
        (
            ["--cart", "--objective", "time", "--parameters", "ethernet-1g"],
            2,
            "needs --pattern APP.npz by bottleneck or time",
        ),
        (["--reorder", "{four}", "--objective", "time", "--parameters", "ethernet"], 1, "ethernet: "),
        (["--cart", "--objective", "miles"], 2, "expected one of bytes, messages, bottleneck, time, found"),
        (["--dry-run"], 2, "--dry-run needs --reorder"),
        (["--reorder-info", "a=b"], 2, "--reorder-info needs --reorder"),
        ([], 2, "needs --plan PLAN"),
    ],
)
def test_errors_are_reported_before_the_run(mpi, ranktree, tmp_path, words, code, reason):
    files = {f"{name}": str(save(tmp_path / f"{name}.mtx", n, neighbours(n))) for name, n in (("four", 4), ("five", 5))}
    given = [word.format(**files) for word in words]
    result = ranktree("run", *given, "--", *mpi.launch(4, "touch", tmp_path / "ran"), timeout=60)
    assert result.returncode == code
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert not (tmp_path / "ran").exists()


def test_a_pattern_of_other_ranks_changes_nothing(mpi, made, build_folder, tmp_path):
    five = save(tmp_path / "five.mtx", 5, neighbours(5))
    world = build_folder / "lib" / f"libranktree_world_{mpi.name}.so"
    settings = [f"LD_PRELOAD={world}", f"RANKTREE_REORDER={five}", "RANKTREE_VERBOSE=1"]
    words = mpi.launch(3, "/usr/bin/env", *settings, made(mpi.name, "first.c"))
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    assert [line.split()[0] == line.split()[3] for line in result.stdout.splitlines()] == [True] * 3
    said = [line for line in result.stderr.splitlines() if line.startswith("ranktree: world: order as it is: ")]
    assert len(said) == 1


@pytest.mark.parametrize("name", TRACED)
def test_a_trace_has_the_numbers_of_the_program(mpi, ranktree, made, tmp_path, monkeypatch, name):
    program = mpi.programs / f"trace_{name}_{mpi.name}"
    if not program.exists():
        pytest.skip(f"{program.name} is not built: not in this MPI")
    folder = tmp_path / "expected"
    folder.mkdir()
    settings = {"EXPECT_FOLDER": folder, "RANKTREE_REORDER": "any", "FORCED_ORDER": "shift", "RANKTREE_VERBOSE": 1}
    for variable, value in settings.items():
        monkeypatch.setenv(variable, str(value))
    forced = made(mpi.name, "forced_order.c", "-shared", "-fPIC")
    script = tmp_path / "behind.sh"  # the given order takes effect behind the world library only
    script.write_text(f'#!/bin/sh\nLD_PRELOAD="$LD_PRELOAD:{forced}" exec {program}\n', encoding="utf-8")
    script.chmod(0o755)
    path = tmp_path / "app.npz"
    result = ranktree("trace", "-o", path, "--", *mpi.launch(5, script))
    assert result.returncode == 0, result.stderr
    assert "ranktree: world: 5 of 5 ranks move" in result.stderr
    trace = read_trace(path)
    assert trace.metadata["complete"] is True
    check(trace, read_expected(folder))


@two_pus
def test_splits_have_the_numbers_of_the_program(mpi, made, bound, pattern):
    program = made(mpi.name, HERE.parent / "split" / "preload" / "unmodified.c", "-O1")
    assert bound(["run", "--split"], program, "unguided") == ["0: 0,2 -", "1: 1,3 -", "2: 0,2 -", "3: 1,3 -"]
    lines = bound(["run", "--split", "--reorder", pattern], program, "unguided")
    assert lines == ["0: 0,1 -", "1: 0,1 -", "2: 2,3 -", "3: 2,3 -"]


@two_pus
@pytest.mark.parametrize("language", ["C", "mpif.h", "mpi_f08"])
def test_all_grids_are_tiled_though_reorder_is_0(mpi, made, bound, language):
    options = ["-cpp", "-w", "-fallow-argument-mismatch", f"-DBINDING={3 if language == 'mpi_f08' else 1}"]
    program = made(mpi.name, "cart.c") if language == "C" else made(mpi.name, "cart.F90", *options)
    plain = [list(map(int, line.split())) for line in bound(["run", "--cart-all"], program)]
    assert [place for place, _, _ in plain] == [0, 1, 2, 3]
    pus = [pu for _, pu, _ in plain]
    assert pus[0] == pus[1] != pus[2] == pus[3], "neighbours share a PU"
    assert sorted(rank for _, _, rank in plain) == [0, 1, 2, 3]


@two_pus
def test_grids_are_tiled_where_the_program_permits_it(mpi, made, bound):
    places = [list(map(int, line.split())) for line in bound(["run", "--cart"], made(mpi.name, "cart.c"), "reorder")]
    pus = [pu for _, pu, _ in places]
    assert pus[0] == pus[1] != pus[2] == pus[3], "neighbours share a PU"


@two_pus
def test_a_grid_whose_ranks_are_those_of_the_world_is_left_alone(mpi, made, bound):
    lines = bound(["run", "--cart"], made(mpi.name, "kept_ranks.c"))
    assert lines == [f"{rank} {what} 1" for rank in range(4) for what in ("at its place", "from its neighbour")]


@two_pus
def test_grids_of_sessions_are_tiled(mpi, made, bound):
    known_bugs.skip(mpi, "no-sessions")
    program = made(mpi.name, "session_cart.c")
    places = [list(map(int, line.split())) for line in bound(["run", "--cart"], program, "reorder")]
    pus = [pu for _, pu, _ in places]
    assert pus[0] == pus[1] != pus[2] == pus[3], "neighbours share a PU"


@pytest.mark.parametrize(("objective", "busiest"), [("bytes", 4), ("messages", 4), ("bottleneck", 3), ("time", 4)])
def test_grids_are_tiled_by_the_objective(mpi, made, ranktree, build_folder, objective, busiest):
    """2 x 3 on three packages of two: columns have 4 links between packages, all of them the middle one's.

    Two halves of rows and a column have 4 as well, at most 3 of them at one package. By `time` both are equal, since a
    byte takes no time beside a latency.
    """
    faked = needed_mpi(mpi.name, build_folder)
    machine = Machine("pack:3 core:2 pu:1", [[0], [2], [4], [1], [3], [5]])
    launch = [*faked.launch_on(6), made(mpi.name, "plane.c")]
    result = ranktree("run", "--cart-all", "--objective", objective, "--", *launch, env=faked.variables(machine))
    assert result.returncode == 0, result.stderr
    lines = [map(int, line.split()) for line in result.stdout.splitlines()]
    package = {(row, column): machine.binds[rank][0] // 2 for row, column, rank in lines}
    assert len(package) == 6
    steps = [((row, column), (row + down, column + 1 - down)) for row, column in package for down in (0, 1)]
    links = [(package[here], package[there]) for here, there in steps if there in package]
    between = [link for link in links if link[0] != link[1]]
    assert len(between) == 4
    assert max(Counter(sum(between, ())).values()) == busiest


def pairs_share(lines: list[str]) -> bool:
    """Whether vertices 0 and 1 have one PU, and 2 and 3 the other. All must hear from their partners."""
    vertices = [list(map(int, line.split())) for line in lines]
    assert [vertex for vertex, _, _, _ in vertices] == [0, 1, 2, 3]
    assert sorted(rank for _, _, rank, _ in vertices) == [0, 1, 2, 3]
    assert all(heard for _, _, _, heard in vertices)
    pus = [pu for _, pu, _, _ in vertices]
    return pus[0] == pus[1] != pus[2] == pus[3]


@two_pus
@pytest.mark.parametrize("call", ["dist", "adjacent", "graph"])
def test_graphs_are_placed_where_the_program_permits_it(mpi, made, bound, call):
    program = made(mpi.name, "graph.c")
    assert pairs_share(bound(["run", "--graph"], program, call, "reorder"))
    assert not pairs_share(bound(["run", "--graph"], program, call)), "the program passes reorder=0"
    assert not pairs_share(bound(["run", "--cart-all"], program, call, "reorder")), "the MPI's leave ranks as they are"
    assert pairs_share(bound(["run", "--graph", "--objective", "bottleneck"], program, call, "reorder"))


@two_pus
@pytest.mark.parametrize("call", ["dist", "adjacent"])
@pytest.mark.parametrize("binding", [1, 3], ids=["mpif.h", "mpi_f08"])
def test_graphs_of_fortran_programs_are_placed(mpi, made, bound, binding, call):
    options = ["-cpp", "-w", "-fallow-argument-mismatch", "-ffree-line-length-none", f"-DBINDING={binding}"]
    assert pairs_share(bound(["run", "--graph"], made(mpi.name, "graph.F90", *options), call))


def test_without_cart_grids_are_the_mpis(mpi, made, bound):
    program = made(mpi.name, "cart.c")
    lines = bound(["run", "--split"], program)
    assert [line.split()[0] for line in lines] == [line.split()[2] for line in lines]


def without_latency(folder):
    """Links that only bytes take time on."""
    levels = [{"name": name, "latency_s": 0, "s_per_byte": cost} for name, cost in (("node", 1e-8), ("core", 1e-10))]
    path = folder / "links.json"
    values = {"levels": levels, "reduce_s_per_byte": 0, "copy_s_per_byte": 0}
    path.write_text(json.dumps({"format": "ranktree-parameters", "version": 1} | values), encoding="ascii")
    return path


def test_over_nodes_the_order_by_time_counts_the_recorded_messages(cluster, command, made, tmp_path):
    """Ranks 0 and 2, 1 and 3 exchange many short messages, 0 and 1, 2 and 3 one with more bytes."""
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    senders, receivers = np.array([[0, 1, 2, 3, 0, 2, 1, 3], [1, 0, 3, 2, 2, 0, 3, 1]])
    messages, sizes = np.repeat([[1.0, 10000.0], [1e5, 8e4]], 4, axis=1)
    path = tmp_path / "pairs.npz"
    _core.save_pattern(str(path), _core.Pattern.from_pairs(4, senders, receivers, messages, sizes))
    launch = ["mpirun.openmpi", "--host", "n0:2,n1:2", "--bind-to", "none", "-n", 4, made("openmpi", "first.c")]
    by_time = ["--objective", "time"]
    for words, partner in (([], "1"), (by_time, "2"), ([*by_time, "--parameters", without_latency(tmp_path)], "1")):
        command_words = [command, "run", "--reorder", path, *words, "--", *launch]
        result = cluster.call("exec", "head", *command_words, env=os.environ | OPENMPI, cwd=tmp_path, timeout=120)
        assert result.returncode == 0, result.stderr
        lines = [line.split() for line in result.stdout.splitlines() if line[:1].isdigit()]
        host = {line[0]: line[5] for line in lines}
        assert {rank for rank in host if host[rank] == host["0"]} == {"0", partner}


def test_over_nodes_the_traffic_stays_inside(cluster, command, made, build_folder, tmp_path):
    """Eight ranks dealt out to four nodes one by one, each with its heavy partner on another node."""
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    program = made("openmpi", "pairs.c")
    pattern = save(tmp_path / "pairs.mtx", 8, neighbours(8))
    launch = [
        "mpirun.openmpi",
        "--host",
        "n0:2,n1:2,n2:2,n3:2",
        "--map-by",
        "node",
        "--bind-to",
        "none",
        "-n",
        8,
        program,
    ]

    def run(*words: object) -> tuple[list[list[str]], int]:
        cluster.counters(reset=True)
        result = cluster.call("exec", "head", *words, env=os.environ | OPENMPI, cwd=tmp_path, timeout=120)
        assert result.returncode == 0, result.stderr
        crossed = cluster.counters()["inter_node_bytes"]
        return sorted(line.split() for line in result.stdout.splitlines() if line[:1].isdigit()), crossed

    plain, before = run(*launch)
    reordered, after = run(command, "run", "--reorder", pattern, "--", *launch)
    assert [line[2] for line in plain] == [line[2] for line in reordered], "what came is the same"
    hosts = [line[1] for line in reordered]
    assert all(hosts[i] == hosts[i + 1] for i in range(0, 8, 2))
    assert Counter(hosts) == {"n0": 2, "n1": 2, "n2": 2, "n3": 2}
    assert [line[1] for line in plain] == ["n0", "n1", "n2", "n3"] * 2
    assert before > 8 * 10 * (1 << 20)
    assert after < before / 20
    logged = cluster.call(
        "exec", "head", command, "run", "--reorder", pattern, "--dry-run", "--", *launch,
        env=os.environ | OPENMPI, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    assert logged.returncode == 0, logged.stderr
    rows = {line.split()[0]: line.split()[1:] for line in logged.stdout.splitlines() if line.strip()}
    assert rows["Cluster"] == ["8,000,007", "7"]
    assert "Node" in rows
