"""Programs that know nothing of ranktree, and programs after the paper, with their splits answered by ours."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.faked_mpis import QUIET, FakedMpi, Machine, RunResult, finish, for_described_machines
from tests.helpers.trace_files import read_trace

HERE = Path(__file__).resolve().parent

SOURCES = HERE / "preload"
# Figure 1 of the paper, a rank on every core.
NODE = Machine("pack:2 [numa] l3:1 l2:2 l1d:1 core:2 pu:1", [[core] for core in range(8)])
HALVES = ["0,1,2,3", "4,5,6,7"]
PAIRS = ["0,1", "2,3", "4,5", "6,7"]
ALL_RANKS = "0,1,2,3,4,5,6,7"
LEVELS = [f"{rank}: {HALVES[rank // 4]} {PAIRS[rank // 2]} {rank} -" for rank in range(8)]
# What MPICH 4.0 answers by itself: it loses the level of the L2 caches.
MPICH_LEVELS = [f"{rank}: {HALVES[rank // 4]} {rank} -" for rank in range(8)]
REFUSED = [f"{rank}: MPI_ERR_ARG" for rank in range(8)]
OWN_ANSWERS = {"openmpi": REFUSED, "mpich": MPICH_LEVELS}
BINDINGS = {"mpif.h": 1, "mpi": 2, "mpi_f08": 3}
THE_TWO = pytest.mark.parametrize("mpi", OWN_ANSWERS, indirect=True)

# Two ranks on the PUs of this machine, in reverse order.
CROSSED = {
    "format": "ranktree-plan",
    "version": 1,
    "ranks": 2,
    "algorithm": "treematch",
    "metric": "size",
    "seed": 1,
    "gain": True,
    "levels": [{"kind": "Cluster", "cost": 4}, {"kind": "Node", "cost": 2}, {"kind": "PU", "cost": 0}],
    "hosts": [{"name": socket.gethostname(), "pus": 2}],
    "slots": [{"host": socket.gethostname(), "pus": [pu]} for pu in (1, 0)],
    "costs": [],
}


def paper_levels(with_roots: bool) -> list[str]:
    """What paper.c prints on the node, by hand: the type, which of how many, ranks and, at roots, their number."""
    lowest = ["Core", "L2Cache", "NUMANode", "NUMANode", *["Node"] * 4]
    lines = []
    for rank in range(8):
        levels = [
            (f"NUMANode {rank // 4}/2:4", rank % 4 == 0),
            (f"L2Cache {rank // 2 % 2}/2:2", rank % 2 == 0),
            (f"Core {rank % 2}/2:1", True),
        ]
        words = [level + ("+2" if with_roots and root else "") for level, root in levels]
        lines.append(f"{rank}: {' '.join(words)} | {lowest[rank]}")
    return lines


@pytest.fixture
def made(mpi: FakedMpi, compiled: Callable[..., Path]) -> Callable[..., Path]:
    """Compiles a source of this folder with the MPI's compiler wrapper."""
    return lambda source, *options: compiled(mpi.name, SOURCES / source, *options)


@pytest.fixture
def run(mpi: FakedMpi, command: str, tmp_path: Path) -> Callable[..., RunResult]:
    """Runs a program on the faked node, under a `ranktree` verb or by itself."""

    def start(words: list, *program: object, settings: dict[str, str] | None = None) -> RunResult:
        variables = {**mpi.variables(NODE), **(settings or {})}
        wrapped = [command, *map(str, words), "--"] if words else []
        return finish([*wrapped, *mpi.launch(8), *map(str, program)], variables, 60)

    return start


@pytest.fixture
def served(mpi: FakedMpi, run: Callable) -> Callable[..., list[str]]:
    """Runs a program under `ranktree run --split` and returns its lines."""

    def start(*program: object) -> list[str]:
        result = run(["run", "--split"], *program)
        if mpi.name not in {*OWN_ANSWERS, "openmpi5"} and ": no preload library" in result.stderr:
            pytest.skip(f"the build has no preload library for {mpi.name}")
        return lines_of(result)

    return start


def lines_of(result: RunResult) -> list[str]:
    """The ranks' lines in order; the run must end well."""
    assert result.returncode == 0, result.stdout + result.stderr
    return sorted(result.stdout.splitlines())


def library_of(build_folder: Path, mpi: FakedMpi) -> Path:
    """The preload library of one of the two."""
    return build_folder / "lib" / f"libranktree_preload_{mpi.name}.so"


def test_an_unmodified_program_has_every_level_of_the_paper(made, served):
    assert served(made("unmodified.c"), "unguided") == LEVELS


@pytest.mark.parametrize("resource", ["L3Cache", "hwloc://NUMANode"])
def test_a_named_resource_is_ours_to_find(made, served, resource):
    assert served(made("unmodified.c"), "guided", resource) == [f"{r}: {HALVES[r // 4]}" for r in range(8)]


def test_so_is_one_of_mpi_4_1(mpi, run, made, served):
    program = made("unmodified.c")
    if run([], program, "resource", "L3Cache").returncode == 77:
        pytest.skip(f"{mpi.name} has no MPI_COMM_TYPE_RESOURCE_GUIDED")
    assert served(program, "resource", "hwloc://L2Cache") == [f"{rank}: {PAIRS[rank // 2]}" for rank in range(8)]


def test_a_rank_that_takes_no_part_meets_the_others(made, served):
    parts = ["0,2,3", "-", "0,2,3", "0,2,3", *[HALVES[1]] * 4]
    assert served(made("unmodified.c"), "undefined") == [f"{r}: {part}" for r, part in enumerate(parts)]


def test_other_types_are_the_mpis(made, served):
    assert served(made("unmodified.c"), "shared") == [f"{rank}: {ALL_RANKS}" for rank in range(8)]


def test_splits_with_spawned_processes_are_the_mpis(mpi, command, made):
    """Open MPI 5 starts those without the preloaded library."""
    known_bugs.skip(mpi, "no-spawn")
    words = [command, "run", "--split", "--", *mpi.launch(2, made("spawn.c"))]
    assert lines_of(finish(list(map(str, words)), {**os.environ, **QUIET[mpi.family]}, 60)) == ["0: 3", "1: 3"]


def test_the_resources_are_listed_where_the_mpi_has_the_call(mpi, made, served):
    kinds = ["Machine", "Package", "NUMANode", "L3Cache", "L2Cache", "L1Cache", "Core", "PU"]
    words = " ".join(f"hwloc://{kind}=true" for kind in kinds)
    expected = words if mpi.name in {"mpich5", "mpiabi1", "intelmpi2021"} else "none"
    assert served(made("unmodified.c"), "info") == [f"{rank}: {expected}" for rank in range(8)]


@THE_TWO
def test_without_the_variable_the_mpi_answers(mpi, run, made, build_folder):
    settings = {"LD_PRELOAD": f"{mpi.fake}:{library_of(build_folder, mpi)}"}
    program = made("unmodified.c")
    assert lines_of(run([], program, "unguided")) == OWN_ANSWERS[mpi.name]
    assert lines_of(run([], program, "unguided", settings=settings)) == OWN_ANSWERS[mpi.name]
    assert lines_of(run([], program, "unguided", settings={**settings, "RANKTREE_SPLIT": "0"})) == OWN_ANSWERS[mpi.name]


@THE_TWO
@pytest.mark.parametrize("ranks", ["every rank", "one rank"])
def test_where_a_rank_has_no_library_the_mpi_answers_all_ranks(mpi, run, made, build_folder, tmp_path, ranks):
    alone = shutil.copy(library_of(build_folder, mpi), tmp_path / "alone.so")
    chosen = f"$([ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = 5 ] && echo {alone} || echo {library_of(build_folder, mpi)})"
    library = alone if ranks == "every rank" else chosen
    shell = ["sh", "-c", f'LD_PRELOAD="$LD_PRELOAD:{library}" exec {made("unmodified.c")} unguided']
    result = run([], *shell, settings={"RANKTREE_SPLIT": "1", "RANKTREE_VERBOSE": "1"})
    own = OWN_ANSWERS[mpi.name]
    with_rank_5 = own if ranks == "every rank" or mpi.family == "openmpi" else [*LEVELS[:4], *own[4:]]
    assert lines_of(result) == with_rank_5, "the ranks of each call go one way"
    said = [line for line in result.stderr.splitlines() if line.startswith("ranktree: ")]
    assert len(said) == (8 if ranks == "every rank" else 1)
    name = f"{tmp_path}/libranktree_mpi_{mpi.name}.so.0.1: cannot open shared object file"
    assert all(line.startswith(f"ranktree: {name}") and line.endswith("; splits stay native") for line in said)


@THE_TWO
def test_a_trace_holds_the_programs_calls_alone(mpi, run, made, tmp_path):
    path = tmp_path / "app.npz"
    result = run(["trace", "-o", path], made("unmodified.c"), "unguided", settings={"RANKTREE_SPLIT": "1"})
    assert lines_of(result) == LEVELS
    groups = [(0, 1, 2, 3), (4, 5, 6, 7), *((i, i + 1) for i in (0, 2, 4, 6)), *((i,) for i in range(8))]
    sums = {("Allreduce", -1, 3, group, ()): (len(group), 4 * len(group)) for group in groups}
    record = read_trace(path).record
    assert record.calls == {**sums, ("Barrier", -1, 0, tuple(range(8)), ()): (8, 0)}
    assert record.pairs == {}
    assert record.unattributed == {}


@THE_TWO
@pytest.mark.parametrize("binding", BINDINGS)
def test_fortran_reaches_it_too(mpi, run, served, made, binding):
    options = [f"-DBINDING={BINDINGS[binding]}", "-w", *(["-DOPEN_MPI"] if mpi.family == "openmpi" else [])]
    program = made("unmodified.F90", *options)
    assert served(program) == [f"{rank}: 4 2 1" for rank in range(8)]
    own = " error" if mpi.family == "openmpi" else " 4 1"
    assert lines_of(run([], program)) == [f"{rank}:{own}" for rank in range(8)]


@pytest.mark.parametrize("how", ["type", "roots"])
def test_a_program_after_the_paper_needs_the_preload_library_alone(made, served, how):
    program = made("paper.c", "-DUNLINKED", f"-I{HERE.parents[1] / 'include'}")
    assert served(program, how) == paper_levels(how == "roots")


@pytest.mark.parametrize("how", ["type", "roots"])
@pytest.mark.parametrize("split", [False, True], ids=["linked", "linked-and-served"])
def test_a_program_after_the_paper_may_be_linked(mpi, run, made, served, build_folder, how, split):
    library = [
        f"-L{build_folder / 'lib'}",
        f"-Wl,-rpath,{build_folder / 'lib'}",
        f"-lranktree_paper_{mpi.name}",
        f"-lranktree_mpi_{mpi.name}",
    ]
    options = ["-DRANKTREE_PAPER_SPLIT_TYPE", f"-I{HERE.parents[1] / 'include'}", *library]
    program = made("paper.c", *options)
    assert (served(program, how) if split else lines_of(run([], program, how))) == paper_levels(how == "roots")


@THE_TWO
def test_the_papers_names_are_ours_only_where_they_are_linked(run, made, tmp_path):
    program = made("paper.c", "-DUNLINKED", f"-I{HERE.parents[1] / 'include'}")
    assert lines_of(run([], program, "roots")) == [f"{rank}: missing" for rank in range(8)]
    result = run(["trace", "-o", tmp_path / "a.npz"], program, "roots", settings={"RANKTREE_VERBOSE": "1"})
    assert lines_of(result) == [f"{rank}: error | error" for rank in range(8)]
    assert "ranktree: MPI_Comm_hsplit_with_roots: unknown to this MPI; ranktree implements it only" in result.stderr


@THE_TWO
def test_who_only_traces_loads_no_hwloc(mpi, build_folder):
    said = subprocess.run(
        ["readelf", "-d", library_of(build_folder, mpi)], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    needed = [line for line in said.splitlines() if "(NEEDED)" in line]
    assert needed
    assert not [line for line in needed if "hwloc" in line or "ranktree" in line]


@THE_TWO
@pytest.mark.skipif(sorted(os.sched_getaffinity(0))[:2] != [0, 1], reason="PUs 0 and 1 are needed")
def test_a_plan_and_our_splits_go_together(mpi, command, made, tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(CROSSED), encoding="ascii")
    program = [made("unmodified.c"), "unguided"]
    words = [command, "run", "--split", "--plan", plan, "--", mpi.mpiexec, "-n", 2, *program]
    variables = {
        **for_described_machines(),
        **QUIET[mpi.family],
        "HWLOC_SYNTHETIC": "core:2 pu:1",
        "HWLOC_THISSYSTEM": "1",
    }
    result = subprocess.run(
        list(map(str, words)), env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert lines_of(result) == ["0: 0 -", "1: 1 -"]


@pytest.mark.parametrize("words", [[], ["--split", "--verify"], ["--split", "--folder", "."]])
def test_run_names_the_missing_options(ranktree, words):
    result = ranktree("run", *words, "--", "mpiexec", "-n", 2, "true")
    assert result.returncode == 2
    assert "needs --plan PLAN" in result.stderr
