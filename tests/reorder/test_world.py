"""Unmodified programs run with their ranks in another order, and print the same, word for word."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.faked_mpis import finish
from tests.helpers.mpis import mpi4py_variables

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent / "world"
RANKS = 5  # an odd number, a prime: nothing is symmetric by chance
# New rank of the process that the launcher calls `rank`, as forced_order.c has it.
ORDERS = {"reverse": lambda rank: RANKS - 1 - rank, "shift": lambda rank: (rank + 1) % RANKS}
PROGRAMS = ["point_to_point", "collectives", "topologies", "communicators", "windows", "files", "large_counts"]
BINDINGS = {"mpif.h": 1, "mpi": 2, "mpi_f08": 3}
EXAMPLES = {
    "rings": ["rings_{mpi}", "--rings", "2", "--bytes", "300"],
    "stencil": ["stencil_{mpi}", "--dimensions", "2", "--cells", "20", "--periodic"],
    "stencil in Fortran": ["stencil_f08_{mpi}", "20", "3"],
}


def run(mpi, words: list, ranks: int, settings: dict[str, str]) -> list[str]:
    """The lines of a run, sorted; it must end well."""
    settings = settings | {"LD_PRELOAD": ":".join([*mpi.yielding, settings.get("LD_PRELOAD", "")])}
    command = mpi.launch(ranks, "/usr/bin/env", *(f"{name}={value}" for name, value in settings.items()), *words)
    result = finish(command, os.environ, 60)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    if settings.get("FORCED_ORDER") in ORDERS and ranks > 1:
        assert re.search(rf"^ranktree: world: [1-9]\d* of {ranks} ranks move", result.stderr, re.M), result.stderr
    return sorted(result.stdout.splitlines())


@pytest.fixture
def in_order(mpi, forced, build_folder) -> Callable[..., list[str]]:
    """Runs a program with its ranks in a forced order."""
    world = build_folder / "lib" / f"libranktree_world_{mpi.name}.so"

    def start(order: str, words: list, ranks: int = RANKS, **more: str) -> list[str]:
        settings = {
            "LD_PRELOAD": f"{world}:{forced}",
            "RANKTREE_REORDER": "any",
            "FORCED_ORDER": order,
            "RANKTREE_VERBOSE": "1",
        }
        return run(mpi, words, ranks, settings | more)

    return start


@pytest.fixture
def the_same(mpi, in_order) -> Callable[..., list[str]]:
    """Runs a program as it is and with its ranks in another order: every rank must print the same."""

    def compare(words: list, ranks: int = RANKS, **more: str) -> list[str]:
        plain = run(mpi, words, ranks, more)
        assert plain
        assert in_order("shift", words, ranks, **more) == plain
        return plain

    return compare


@pytest.mark.parametrize("order", ORDERS)
def test_the_ranks_have_moved(mpi, made, in_order, order):
    lines = in_order(order, [made(mpi.name, "first.c")])
    launched = {int(line.split()[3]): int(line.split()[0]) for line in lines}
    assert launched == {rank: ORDERS[order](rank) for rank in range(RANKS)}
    assert [line.split()[-2:] for line in lines] == [["got", str((rank - 1) % RANKS)] for rank in range(RANKS)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_in_c_prints_the_same(mpi, made, the_same, tmp_path, program):
    the_same([made(mpi.name, f"{program}.c"), tmp_path / "data"])


@pytest.mark.parametrize(("program", "ranks"), [("collectives", 1), ("collectives", 2), ("communicators", 8)])
def test_at_other_numbers_of_ranks(mpi, made, the_same, program, ranks):
    the_same([made(mpi.name, f"{program}.c")], ranks)


@pytest.mark.parametrize("binding", BINDINGS)
def test_so_does_one_in_fortran(mpi, made, the_same, tmp_path, binding):
    options = ["-cpp", "-w", "-fallow-argument-mismatch", "-O1", f"-DBINDING={BINDINGS[binding]}"]
    the_same([made(mpi.name, "world.F90", *options), tmp_path / "data"])


def test_so_does_one_in_python(mpi, the_same, tmp_path):
    the_same([sys.executable, SOURCES / "world.py", tmp_path / "data"], **mpi4py_variables(mpi.name, mpi.build))


def test_so_does_the_example_in_python(mpi, in_order):
    words = [sys.executable, ROOT / "examples/rings.py", "--rings", "2", "--bytes", "300"]
    in_order("shift", words, **mpi4py_variables(mpi.name, mpi.build))  # it checks every token itself


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_find_every_byte_in_its_place(mpi, in_order, example):
    program, *words = EXAMPLES[example]
    path = mpi.programs / program.format(mpi=mpi.name)
    if not path.exists():
        pytest.skip(f"{path.name} is not built")
    in_order("shift", [path, *words])


@pytest.mark.parametrize(("when", "ranks"), [("alone", RANKS), ("first", RANKS), ("last", RANKS), ("alone", 1)])
def test_sessions_know_the_new_world(mpi, made, the_same, when, ranks):
    known_bugs.skip(mpi, "no-sessions")
    lines = the_same([made(mpi.name, "session.c"), when], ranks)
    assert len([line for line in lines if " group rank " in line]) == ranks


def test_children_see_their_parents_in_the_new_order(mpi, made, the_same):
    known_bugs.skip(mpi, "no-spawn")
    lines = the_same([made(mpi.name, "spawn.c")], 3)
    assert len([line for line in lines if " local rank " in line]) == 3


@pytest.mark.parametrize("order", ["same", "fail"])
def test_where_nothing_changes_or_something_fails_the_world_is_as_it_was(mpi, made, in_order, order):
    lines = in_order(order, [made(mpi.name, "first.c")])
    assert [line.split()[0] == line.split()[3] for line in lines] == [True] * RANKS


def test_without_the_setting_on_one_rank_no_rank_moves(mpi, made, forced, build_folder):
    world = build_folder / "lib" / f"libranktree_world_{mpi.name}.so"
    pattern = "$([ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 2 ] || echo any)"
    words = (
        f"RANKTREE_REORDER={pattern} LD_PRELOAD={world}:{forced} FORCED_ORDER=shift exec {made(mpi.name, 'first.c')}"
    )
    lines = run(mpi, ["sh", "-c", words], RANKS, {})
    assert [line.split()[0] == line.split()[3] for line in lines] == [True] * RANKS


def test_the_library_by_itself_changes_nothing(mpi, made, build_folder):
    world = build_folder / "lib" / f"libranktree_world_{mpi.name}.so"
    lines = run(mpi, [made(mpi.name, "first.c")], RANKS, {"LD_PRELOAD": str(world)})
    assert [line.split()[0] == line.split()[3] for line in lines] == [True] * RANKS


def test_affinity_is_as_it_was(mpi, in_order):
    code = (
        "import os; before = os.sched_getaffinity(0); from mpi4py import MPI; "
        "os.write(1, b'%d\\n' % (MPI.COMM_WORLD.size if before == os.sched_getaffinity(0) else 0))"
    )
    variables = mpi4py_variables(mpi.name, mpi.build)
    assert in_order("shift", [sys.executable, "-c", code], **variables) == [str(RANKS)] * RANKS
