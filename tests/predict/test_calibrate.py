"""`ranktree calibrate` and `ranktree tune` under real launchers, and Open MPI reading the rules they write."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ranktree import _core
from ranktree.cli.tune import Launch, is_open, rules_of, winner

from tests.helpers.faked_mpis import Machine, needed_mpi

pytestmark = pytest.mark.launch

Run = Callable[..., subprocess.CompletedProcess[str]]
LAUNCHERS = {
    "openmpi": ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"],
    "mpich": ["mpiexec.mpich"],
}
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(params=list(LAUNCHERS))
def launcher(request: pytest.FixtureRequest, build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each MPI in turn; skipped where it is not installed, or not part of the build."""
    words = LAUNCHERS[request.param]
    if shutil.which(words[0]) is None or not (build_folder / f"lib/ranktree-calibrate-{request.param}").exists():
        pytest.skip(f"{words[0]}: not installed, or not part of {build_folder}")
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return words


@pytest.mark.parametrize("ranks", [2, 3])
def test_parameters_are_measured_and_can_be_used(
    ranktree: Run, launcher: list[str], tmp_path: Path, ranks: int
) -> None:
    path = tmp_path / "parameters.json"
    result = ranktree("calibrate", "-o", path, "--seconds", 0.5, "--", *launcher, "-n", ranks)
    assert result.returncode == 0, result.stderr
    found = json.loads(path.read_text())
    assert (found["ranks"], found["nodes"], found["ranks_of_node"]) == (ranks, 1, ranks)
    assert [level["name"] for level in found["levels"]][-1] == "core"
    assert "node" not in [level["name"] for level in found["levels"]]  # nothing was sent between nodes
    for level in found["levels"]:
        # Between the best possible hardware and a heavily loaded machine.
        assert 1e-9 < level["latency_s"] < 0.1
        assert 1e-13 < level["s_per_byte"] < 1e-6
        assert 0 <= level["overhead_send_s"] <= level["latency_s"] / 2
    assert 1e-13 < found["reduce_s_per_byte"] < 1e-7
    assert 1e-13 < found["copy_s_per_byte"] < 1e-7
    again = ranktree("predict", "bcast", "--np", ranks, "--machine", f"core:{ranks}", "--parameters", path, "--json")
    assert again.returncode == 0, again.stderr
    levels = json.loads(again.stdout)["levels"]
    assert levels[-1]["latency"] == pytest.approx(found["levels"][-1]["latency_s"])


def test_one_rank_cannot_be_measured(ranktree: Run, launcher: list[str]) -> None:
    result = ranktree("calibrate", "--seconds", 0.5, "--", *launcher, "-n", 1)
    assert result.returncode == 1
    assert "expected at least 2 ranks, found 1" in result.stderr


def test_rules_are_only_for_what_was_faster(ranktree: Run, launcher: list[str], tmp_path: Path) -> None:
    path, classic = tmp_path / "rules.json", tmp_path / "rules.conf"
    options = ["--collectives", "bcast,barrier", "--sizes", "8,64K", "--seconds", 0.1]
    result = ranktree("tune", "-o", path, "--open-mpi", classic, *options, "--", *launcher, "-n", 3)
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if ": " in line and "[" in line]
    assert len(lines) == 3  # two sizes of a broadcast, one barrier
    faster = {line.split(" ")[0] for line in lines if ": native " not in line}
    rules = json.loads(path.read_text())["rules"]
    assert {rule["collective"] for rule in rules} == faster
    for rule in rules:
        assert rule["ranks"] == [3, 3] and rule["nodes"] == [1, 1] and rule["choice"] != "native"
    assert classic.read_text().endswith("\n")


def test_few_rounds_make_no_rule() -> None:
    """Five rounds that are all faster happen by chance."""
    native = {"variant": "native", "min": 2e-6, "ratio": 1.0, "evidence": 0.0}
    lucky = {"variant": "shared:flat", "min": 1e-6, "ratio": 1.9, "evidence": 15.0}
    shown = {"variant": "messages:flat:groups=1", "min": 1.5e-6, "ratio": 1.2, "evidence": 28.0}
    assert winner([native, lucky], 0.05) is None
    assert winner([native, lucky, shown], 0.05) == shown
    assert winner([native, shown], 0.3) is None


def test_a_variant_that_only_seems_faster_leaves_the_case_open() -> None:
    native = {"variant": "native", "min": 2e-6, "ratio": 1.0, "evidence": 0.0}
    lucky = {"variant": "shared:flat", "min": 1e-6, "ratio": 1.9, "evidence": 15.0}
    assert is_open([native, lucky], 0.05)
    assert not is_open([native, lucky], 1.0), "not by the margin"
    assert not is_open([native, lucky | {"min": 3e-6}], 0.05), "not in the least time"
    assert not is_open([native, {"variant": "shared:flat", "wrong": "wrong result"}], 0.05)
    assert not is_open([native], 0.05)


def test_a_rule_is_for_the_sizes_up_to_the_next_one() -> None:
    """Sizes of gathers are of all blocks, those of rules of one; equal winners of neighbouring sizes are one rule."""
    places = {"nodes": [0, 0, 1, 1], "mpi": "any", "machine": "any"}
    launch = Launch([], places, _core.Hierarchy.flat(4), _core.Parameters.usual(1, 0))
    shared, messages = {"variant": "shared:flat"}, {"variant": "messages:binomial:groups=1"}
    found = [(64, 1024, shared), (1024, 4096, shared), (4096, 65536, None), (65536, 131072, messages)]
    rules = list(rules_of(launch, "gather", found))
    assert [(rule["bytes"], rule["choice"]) for rule in rules] == [
        ((16, 1023), "shared:flat"),
        ((16384, 32767), "messages:binomial:groups=1"),
    ]
    assert all(rule["ranks"] == (4, 4) and rule["nodes"] == (2, 2) for rule in rules)
    assert [rule["bytes"] for rule in rules_of(launch, "broadcast", found)] == [(64, 4095), (65536, 131071)]
    assert [sorted(rule) for rule in rules_of(launch, "barrier", [(8, 16, shared)])] == [
        ["choice", "collective", "nodes", "ranks"]
    ]


def test_decisions_that_cannot_be_written_are_an_error(ranktree: Run, launcher: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    options = ["--collectives", "bcast", "--sizes", "8", "--seconds", 0.05, "-o", tmp_path / "rules.json"]
    result = ranktree("tune", *options, "--collectives-cache", tmp_path / "file" / "in", "--", *launcher, "-n", 2)
    assert result.returncode == 1
    assert "decisions are not kept: " in result.stderr
    assert "decision(s) that" not in result.stdout
    assert (tmp_path / "rules.json").exists()


def test_a_launch_that_fails_costs_no_other_result(ranktree: Run, launcher: list[str], tmp_path: Path) -> None:
    path, stub = tmp_path / "rules.json", tmp_path / launcher[0]
    real = shutil.which(launcher[0])
    stub.write_text(f'#!/bin/sh\ncase "$*" in *"--sizes 512 "*) exit 3 ;; esac\nexec {real} "$@"\n', encoding="utf-8")
    stub.chmod(0o755)
    options = ["--collectives", "bcast", "--seconds", 0.05, "--collectives-cache", tmp_path / "cache", "-o", path]
    result = ranktree("tune", *options, "--sizes", "8,512", "--", stub, *launcher[1:], "-n", 2)
    assert result.returncode == 1
    assert f"{tmp_path}/cache: 6 decision(s) that" in result.stdout, "8 to 256 bytes, and none of 512"
    assert f"1 of 2 cases failed and stay native: broadcast of 512 bytes: {stub}: exit code 3" in result.stderr
    assert "broadcast 8: " in result.stdout
    assert all(rule["bytes"][0] != 512 for rule in json.loads(path.read_text())["rules"])
    path.unlink()
    result = ranktree("tune", *options, "--sizes", "512", "--", stub, *launcher[1:], "-n", 2)
    assert result.returncode == 1
    assert "nothing was measured" in result.stderr
    assert not path.exists()


def test_every_level_has_a_name_of_its_own(ranktree: Run, build_folder: Path, tmp_path: Path) -> None:
    """Bound to cores without caches of their own: one of the levels is Core."""
    mpi = needed_mpi("openmpi", build_folder)
    machine = Machine("pack:2 core:2 pu:1", [[0], [1], [2], [3]])
    path = tmp_path / "parameters.json"
    options = ["-o", path, "--seconds", 0.5]
    result = ranktree("calibrate", *options, "--", *mpi.launch_on(4), env=mpi.variables(machine))
    assert result.returncode == 0, result.stderr
    names = [level["name"] for level in json.loads(path.read_text())["levels"]]
    assert len(set(names)) == len(names)
    assert names[-1] == "core"


def test_no_rule_for_an_unreachable_gain(ranktree: Run, launcher: list[str], tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    options = ["--collectives", "bcast", "--sizes", "1K", "--seconds", 0.05, "--margin", 1000]
    result = ranktree("tune", "-o", path, *options, "--", *launcher, "-n", 2)
    assert result.returncode == 0, result.stderr
    assert json.loads(path.read_text())["rules"] == []


# One rule for three ranks: pipelined broadcast in segments of 4 KiB from 1 KiB on.
CLASSIC = """1 # collectives
7 # bcast
3 # sizes of communicators
0 # ranks or more
1 # message sizes: bytes or more, algorithm, fan, segment
0 0 0 0
3 # ranks or more
2 # message sizes: bytes or more, algorithm, fan, segment
0 0 0 0
1024 3 0 4096
4 # ranks or more
1 # message sizes: bytes or more, algorithm, fan, segment
0 0 0 0
"""


PROGRAM = """#include <mpi.h>
static char buffer[65536];
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Bcast(buffer, sizeof buffer, MPI_CHAR, 0, MPI_COMM_WORLD);
  return MPI_Finalize();
}
"""


def test_open_mpi_obeys_the_rules(build_folder: Path, tmp_path: Path) -> None:
    """Rank 0 sends sixteen segments to 1, and 1 to 2; Open MPI's own choice sends everything from rank 0."""
    if shutil.which("mpiexec.openmpi") is None or shutil.which("mpicc.openmpi") is None:
        pytest.skip("Open MPI is not installed")
    write = "import sys; from ranktree import _core; "
    rule = {"collective": "broadcast", "ranks": (3, 3), "bytes": (1024, None)}
    rule["choice"] = "messages:pipeline:segment=4K:groups=1"
    text = subprocess.run(
        [sys.executable, "-c", write + f"sys.stdout.write(_core.open_mpi_rules([{rule}]))"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=os.environ | {"PYTHONPATH": str(build_folder / "python")},
    ).stdout
    assert text == CLASSIC
    (tmp_path / "rules.conf").write_text(text)
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["mpicc.openmpi", tmp_path / "program.c", "-o", tmp_path / "program"], timeout=60, check=True)
    options = {
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_dynamic_rules_filename": str(tmp_path / "rules.conf"),
        "pml_monitoring_enable": "1",
        "pml_monitoring_enable_output": "3",
        "pml_monitoring_filename": str(tmp_path / "sent"),
    }
    words = [word for name, value in options.items() for word in ("--mca", name, value)]
    command = [*LAUNCHERS["openmpi"], *words, "-n", "3", str(tmp_path / "program")]
    subprocess.run(command, capture_output=True, timeout=60, check=True, env=os.environ | ENVIRONMENT)
    lines = [line.split("\t") for path in sorted(tmp_path.glob("sent*")) for line in path.read_text().splitlines()]
    sent = {(line[1], line[2]): line[3:5] for line in lines if line[0] == "E"}
    assert sent == {pair: ["65536 bytes", "16 msgs sent"] for pair in (("0", "1"), ("1", "2"))}
