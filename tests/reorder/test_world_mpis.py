"""Programs on the MPIs of PyPI's wheels, their ranks in a forced order: they print the same, word for word."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.faked_mpis import QUIET, FakedMpi, built_mpis, finish

RANKS = 3
SECONDS = 60
NAMES = ["openmpi5", "mpich5", "mpiabi1", "intelmpi2021"]
PROGRAMS = [["collectives"], ["communicators"], ["topologies"], ["session", "alone"], ["spawn"], ["extensions"]]


@pytest.fixture(params=NAMES)
def newer(request: pytest.FixtureRequest, build_folder: Path) -> FakedMpi:
    """Each of the wheels' MPIs."""
    known = built_mpis(build_folder)
    if request.param not in known:
        pytest.skip(f"{build_folder} is built without {request.param}")
    return known[request.param]


def run(
    mpi: FakedMpi, words: list, settings: dict[str, str], *options: str, flaky: bool = False
) -> tuple[list[str], str]:
    """The lines of a run, sorted, and what our library logs. `flaky`: it may hang once."""
    launch = mpi.launch(RANKS)
    pairs = [f"{name}={value}" for name, value in settings.items()]
    command = [launch[0], *options, *launch[1:], "/usr/bin/env", *pairs, *map(str, words)]
    result = finish(command, {**os.environ, **QUIET[mpi.family]}, SECONDS)
    if flaky and result.returncode == 124:
        result = finish(command, {**os.environ, **QUIET[mpi.family]}, SECONDS)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    logged = [line for line in result.stderr.splitlines() if line.startswith("ranktree: ")]
    # Open MPI 5's launcher, made to bear failed processes, adds an empty line.
    return sorted(line for line in result.stdout.splitlines() if line), "\n".join(logged)


def forced_by(world: Path, forced: Path) -> dict[str, str]:
    """What gives a program's ranks the next number."""
    preload = {"LD_PRELOAD": f"{world}:{forced}", "RANKTREE_REORDER": "any", "FORCED_ORDER": "shift"}
    return {**preload, "RANKTREE_VERBOSE": "1"}


@pytest.fixture
def the_same(made) -> Callable[[FakedMpi, str, list[str]], None]:
    """Runs a program as it is, and by the library of a build in another order."""

    def compare(mpi: FakedMpi, library: Path, words: list[str]) -> None:
        if words[0] == "spawn":
            known_bugs.skip(mpi, "no-spawn")
        if words[0] == "extensions" and not mpi.has_extensions:
            pytest.skip(f"{mpi.name} declares no MPIX_ calls")
        bearing = ["--with-ft", "ulfm"] if mpi.family == "openmpi" and words[0] == "extensions" else []
        program = [made(mpi.name, f"{words[0]}.c"), *words[1:]]
        plain, _ = run(mpi, program, {}, *bearing)
        forced = forced_by(library, made(mpi.name, "forced_order.c", "-shared", "-fPIC"))
        lines, logged = run(mpi, program, forced, *bearing)
        assert plain
        assert lines == plain
        assert f"ranktree: world: {RANKS} of {RANKS} ranks move" in logged

    return compare


@pytest.mark.parametrize("words", PROGRAMS, ids=" ".join)
def test_programs_print_the_same(newer, the_same, build_folder, words):
    the_same(newer, build_folder / "lib" / f"libranktree_world_{newer.name}.so", words)


@pytest.mark.parametrize(
    ("library", "settings"),
    [("world", {"RANKTREE_CART": "all"}), ("collect", {"RANKTREE_COLL": "messages:binomial:groups=2"})],
)
def test_a_session_beside_mpi_init_prints_the_same(newer, made, build_folder, library, settings):
    """MPICH 5 ends the process where a set operation gets groups of two sessions."""
    program = [made(newer.name, "session.c"), "last"]
    preload = {"LD_PRELOAD": str(build_folder / "lib" / f"libranktree_{library}_{newer.name}.so")}
    expected = [f"{rank} sum {sum(range(RANKS))}" for rank in range(RANKS)]
    for variables in ({}, preload | settings):
        lines, _ = run(newer, program, variables, flaky=known_bugs.has(newer, "extra-session-hangs"))
        assert [line for line in lines if " sum " in line] == expected
        assert len(lines) == RANKS * 7


def test_a_newer_mpi_of_the_same_interface_keeps_its_order(made, build_folder):
    """Open MPI 5 under the library built with 4.1, which lacks calls of 5 that the program may use."""
    mpi = built_mpis(build_folder).get("openmpi5")
    world = build_folder / "lib/libranktree_world_openmpi.so"
    if mpi is None or not world.exists():
        pytest.skip(f"{build_folder} is built without openmpi5, or without openmpi")
    program = [made(mpi.name, "point_to_point.c")]
    plain, _ = run(mpi, program, {})
    lines, logged = run(mpi, program, forced_by(world, made(mpi.name, "forced_order.c", "-shared", "-fPIC")))
    assert lines == plain
    assert "is unknown to this library" in logged


def test_the_ranks_have_moved(newer, made, build_folder):
    world = build_folder / "lib" / f"libranktree_world_{newer.name}.so"
    forced = forced_by(world, made(newer.name, "forced_order.c", "-shared", "-fPIC"))
    lines, _ = run(newer, [made(newer.name, "first.c")], forced)
    assert [(line.split()[0], line.split()[3]) for line in lines] == [("0", "2"), ("1", "0"), ("2", "1")]
