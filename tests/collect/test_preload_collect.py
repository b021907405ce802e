"""Unmodified programs with their collectives served by ranktree: in C, mpif.h, mpi and mpi_f08, on both MPIs."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.collect_log import served
from tests.helpers.collect_programs import SECONDS

# What shared memory or messages can do for every collective; where a rule cannot serve a call it stays native.
RULES = {
    "auto": "auto",
    "messages": (
        "bcast=messages:binomial:groups=1 reduce=messages:binomial:groups=1 allreduce=messages:ring:groups=1 "
        "barrier=messages:dissemination:groups=1 gather=messages:binomial:groups=1 scatter=messages:binomial:groups=1 "
        "allgather=messages:ring:groups=1 reduce_scatter=messages:ring:groups=1 alltoall=messages:bruck:groups=1"
    ),
    "shared": "shared:binomial",
}

WAITS = ["barrier", "broadcast", "allreduce", "allgather", "scatter"]  # as in passive_target.c

Program = Callable[..., Path]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(ranktree: Run, mpi, native: Callable[..., str]) -> Run:
    """Runs a program under `ranktree run --collectives`, or by itself."""

    def start(ranks: int, program: list[object], wanted: str | None = None, *options: object) -> str:
        if wanted is None:
            return native(mpi, ranks, *program)
        command = mpi.launch(ranks, *program)
        result = ranktree("run", "--collectives", wanted, *options, "--", *command, timeout=SECONDS)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return start


@pytest.mark.parametrize(("wanted", "ranks"), [("auto", 2), ("messages", 3), ("shared", 3)])
def test_every_call_gives_the_same_bytes(run: Run, made: Program, mpi, tmp_path: Path, wanted: str, ranks: int) -> None:
    program = [made(mpi.name, "every_call.c"), 4]
    log = tmp_path / "log"
    assert run(ranks, program, RULES[wanted], "--collectives-log", log) == run(ranks, program)
    if wanted != "auto":
        found = served(log)
        assert len(found) == 9
        never = {"alltoall", "reduce_scatter"} if wanted == "shared" else set()  # no binomial tree carries them out
        assert {name for name, ours in found.items() if ours == 0} <= never


def test_ranks_that_wait_in_shared_memory_answer_one_sided_calls(
    run: Run, made: Program, mpi, tmp_path: Path, monkeypatch
) -> None:
    """Where the target's MPI has to take part, as in MPICH, rank 0 waits until ranks asleep in shared memory drive it.
    A program in which they did so rarely took minutes in place of 6 s. Native calls give the time that is usual here.
    """
    program, log = made(mpi.name, "passive_target.c"), tmp_path / "log"
    words = mpi.launch(3, program, 200, len(WAITS))
    alone = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True).stdout
    usual = float(alone.splitlines()[1])
    for rules, nonblocking, kinds in (
        ("barrier=shared:binomial", "native", 1),
        ("shared:binomial", "native", len(WAITS)),
        ("shared:binomial", "thread", len(WAITS)),
        ("auto", "native", len(WAITS)),
    ):
        monkeypatch.setenv("RANKTREE_COLL_NONBLOCKING", nonblocking)
        log.unlink(missing_ok=True)
        times = 1000 // kinds
        sums, seconds = run(3, [program, times, kinds], rules, "--collectives-log", log).splitlines()
        assert sums.split() == [str(times * (i + 1)) for i in range(kinds)]
        assert float(seconds) < 5 * usual + 4, (rules, nonblocking, usual)
        if rules != "auto":
            assert all(served(log)[kind] > 50 for kind in WAITS[:kinds]), (rules, nonblocking, log.read_text())


@pytest.mark.parametrize("binding", [1, 2, 3])
def test_fortran_is_served_with_its_own_constants(run: Run, made: Program, mpi, tmp_path: Path, binding: int) -> None:
    options = (f"-DBINDING={binding}", "-fallow-argument-mismatch", "-w")
    program = [made(mpi.name, "every_call.F90", *options)]
    log = tmp_path / "log"
    assert run(3, program, RULES["messages"], "--collectives-log", log) == run(3, program)
    # 40 rounds; the first four calls of the communicator (broadcast, reduce, reduce, allreduce) are not looked at.
    found = served(log)
    assert (found["broadcast"], found["reduce"], found["allreduce"], found["alltoall"]) == (39, 78, 39, 40)


def test_native_calls_make_no_others(run: Run, made: Program, mpi, tmp_path: Path) -> None:
    """On communicators of one rank, and of a collective that no rule is for: a look at what is known already."""
    program = [made(mpi.name, "fallthrough.c", "-rdynamic", "-ldl")]
    log = tmp_path / "log"
    for rules in ((), ("allgather=messages:ring:groups=1", "--collectives-log", log)):
        lines = run(2, program, *rules).splitlines()
        assert [line.partition(";")[0] for line in lines] == 2 * ["10 right, 0 allocations, 0 questions"]
        if rules:  # what is counted can be seen
            assert all(re.search(r"served [1-9]\d*, [1-9]", line) for line in lines), lines
    found = served(log)
    assert 0 < found["allgather"] <= 10  # a communicator's first four are native
    assert all(ours == 0 for collective, ours in found.items() if collective != "allgather")
    assert found.keys() >= {"broadcast", "reduce"}


@pytest.mark.parametrize("wanted", ["auto", "messages"])
def test_communicators_come_and_go(run: Run, made: Program, mpi, wanted: str) -> None:
    program = [made(mpi.name, "lives.c"), 300, 900]
    assert run(2, program, RULES[wanted]) == run(2, program)


def test_two_thousand_communicators_one_after_the_other(run: Run, made: Program, mpi) -> None:
    program = [made(mpi.name, "lives.c"), 2000, 1]
    assert run(2, program, RULES["messages"]) == run(2, program)


def test_wrong_arguments_give_the_mpis_own_class(run: Run, made: Program, mpi) -> None:
    known_bugs.skip(mpi, "no-argument-checks")
    program = [made(mpi.name, "errors.c")]
    for wanted in ("auto", "messages"):
        assert sorted(run(3, program, RULES[wanted]).splitlines()) == sorted(run(3, program).splitlines())


@pytest.mark.parametrize("wanted", ["auto", "messages"])
def test_wrong_calls_of_one_rank_alone_are_not_counted(run: Run, made: Program, mpi, wanted: str) -> None:
    known_bugs.skip(mpi, "no-argument-checks")
    assert run(3, [made(mpi.name, "wrong_alone.c")], RULES[wanted]) == "ok\n"


def test_traced_programs_record_the_same(ranktree: Run, made: Program, mpi, tmp_path: Path, monkeypatch) -> None:
    program = made(mpi.name, "every_call.c")
    recorded = []
    for wanted in (None, RULES["messages"]):
        path = tmp_path / f"{wanted is None}.npz"
        if wanted is not None:
            monkeypatch.setenv("RANKTREE_COLL", wanted)
        result = ranktree("trace", "-o", path, *mpi.launch(3, program, 2), timeout=SECONDS)
        assert result.returncode == 0, result.stderr
        written = ranktree("convert", path, "-o", tmp_path / "pattern.csv")
        assert written.returncode == 0, written.stderr
        recorded.append((result.stdout, (tmp_path / "pattern.csv").read_text(encoding="utf-8")))
    assert recorded[0] == recorded[1]


def test_a_program_without_the_variable_is_left_alone(run: Run, made: Program, mpi, build_folder: Path) -> None:
    library = build_folder / f"lib/libranktree_collect_{mpi.name}.so"
    command = mpi.launch(2, "env", f"LD_PRELOAD={library}", made(mpi.name, "every_call.c"), 1)
    found = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (found.returncode, found.stdout) == (0, run(2, [made(mpi.name, "every_call.c"), 1]))
    assert "ranktree" not in found.stderr


@pytest.mark.parametrize("text", ["fast", "bcast=rapid", "broad=auto", "bcast=messages:nothing", "/nowhere/rules"])
def test_a_wrong_setting_is_logged_once_and_calls_stay_native(
    made: Program, mpi, build_folder: Path, native: Callable[..., str], text: str
) -> None:
    """As the library logs it: the command refuses most of them before."""
    library = build_folder / f"lib/libranktree_collect_{mpi.name}.so"
    variables = [f"LD_PRELOAD={library}", f"RANKTREE_COLL={text}", "RANKTREE_COLL_LOG=stderr", "RANKTREE_VERBOSE=1"]
    program = made(mpi.name, "every_call.c")
    found = subprocess.run(
        mpi.launch(2, "env", *variables, program, 1), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (found.returncode, found.stdout) == (0, native(mpi, 2, program, 1)), found.stderr
    lines = [line for line in found.stderr.splitlines() if line.startswith("ranktree: collectives: ")]
    assert len(lines) == 1, found.stderr
    assert "stay native" in lines[0]
    assert all(ours == "0" for ours in re.findall(r"(\d+) of \d+ not by the MPI", found.stderr))


@pytest.mark.parametrize(
    ("variables", "is_served"),
    [([], True), (["FAKE_CUDA_ACTIVE=1"], False), (["FAKE_CUDA_ACTIVE=1", "RANKTREE_COLL_HOST_BUFFERS=1"], True)],
)
def test_calls_of_a_program_that_uses_a_gpu_stay_native(
    made: Program, mpi, build_folder: Path, tmp_path: Path, variables: list[str], is_served: bool
) -> None:
    """Buffers may be in the GPU's memory. That the driver is loaded is no sign: MPIs load it on every node."""
    driver = tmp_path / "libcuda.so.1"
    shutil.copy(made(mpi.name, "fake_cuda.c", "-shared", "-fPIC"), driver)
    preload = f"LD_PRELOAD={build_folder}/lib/libranktree_collect_{mpi.name}.so:{driver}"
    settings = [preload, "RANKTREE_COLL=messages:binomial:groups=1", "RANKTREE_COLL_LOG=stderr", *variables]
    words = mpi.launch(2, "env", *settings, made(mpi.name, "every_call.c"), 4)
    found = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert found.returncode == 0, found.stderr
    assert (" by rule" in found.stderr) == is_served
    assert ("calls stay native: the program uses a GPU" in found.stderr) != is_served


def test_ranks_with_different_settings_follow_rank_0(
    made: Program, mpi, build_folder: Path, native: Callable[..., str]
) -> None:
    library = build_folder / f"lib/libranktree_collect_{mpi.name}.so"
    program = made(mpi.name, "every_call.c")
    both = ["env", f"LD_PRELOAD={library}", "RANKTREE_COLL_LOG=stderr", "sh", "-c"]
    script = f"rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; [ $rank = 0 ] || unset RANKTREE_COLL; exec {program} 1"
    words = mpi.launch(3, *both, script)
    setting = dict(os.environ, RANKTREE_COLL="allreduce=messages:ring:groups=1")
    words[words.index("env") + 1 : words.index("env") + 1] = [f"RANKTREE_COLL={setting['RANKTREE_COLL']}"]
    found = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (found.returncode, found.stdout) == (0, native(mpi, 3, program, 1)), found.stderr
    assert "is not the same on all ranks: rank 0's counts" in found.stderr
    assert re.search(r"allreduce [1-9]\d* of \d+ not by the MPI", found.stderr)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--collectives", "fast"], "no such file, and not one of auto, native"),
        (["--collectives", "bcast=rapid"], "expected native, messages, shared or levels, found 'rapid'"),
        (["--collectives", "shared"], "choice 'shared': algorithm: expected one of flat, chain"),
        (["--collectives", "bcast=shared:binomal"], "(of broadcast), found 'binomal'"),
        (
            ["--collectives", "all=native;barrier=messages:ring:groups=1"],
            "expected one of flat, binomial, dissemination (of barrier), found 'ring'",
        ),
        (["--collectives", __file__], "test_preload_collect.py: "),
        (["--collectives", "broad=auto"], "found 'broad'"),
        (["--collectives", " ; "], "expected auto, native"),
        (["--split", "--collectives-log", "log"], "needs --collectives"),
        (["--collectives", "auto", "--collectives-cache", "a", "--no-collectives-cache"], "not both"),
    ],
)
def test_the_command_refuses_wrong_settings_before_it_starts(ranktree: Run, options: list[str], expected: str) -> None:
    result = ranktree("run", *options, "--", "mpiexec", "-n", "1", "true")
    assert result.returncode == 2
    assert expected in " ".join(re.sub(r"[│\n]", " ", result.stderr).split())
