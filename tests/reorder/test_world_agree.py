"""Ranks with different settings, or of which one fails, leave the world as it is: none hangs, one logs why."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import known_bugs
from tests.helpers.faked_mpis import finish

RANKS = 4
SECONDS = 120  # what waits for another rank waits for ever
UNCHANGED = "ranktree: world: order as it is: "
HEADER = "%%MatrixMarket matrix coordinate integer general\n"
LEFT = "ranktree: grids: made by the MPI: the program passes reorder=0; RANKTREE_CART=all reorders it all the same"
OWN_RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"


@pytest.fixture
def said(mpi, build_folder) -> Callable[..., tuple[list[str], list[str]]]:
    """Runs a program by a shell on each rank; the lines of its output, sorted, and what our library logs."""
    world = build_folder / "lib" / f"libranktree_world_{mpi.name}.so"

    def run(settings: dict[str, str], *program: object, also: object = "") -> tuple[list[str], list[str]]:
        preload = ":".join(map(str, [*mpi.yielding, world, *([also] if also else [])]))
        words = [f'{name}="{value}"' for name, value in {"LD_PRELOAD": preload, **settings}.items()]
        script = " ".join(["RANKTREE_VERBOSE=1", *words, "exec", *map(str, program)])
        result = finish(mpi.launch(RANKS, "sh", "-c", script), os.environ, SECONDS)
        assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
        logged = [line for line in result.stderr.splitlines() if line.startswith("ranktree: ")]
        return sorted(result.stdout.splitlines()), logged

    return run


def only_on(rank: int, value: str) -> str:
    """A shell word with a value on one rank alone."""
    return f"$([ {OWN_RANK} != {rank} ] || echo {value})"


def not_on(rank: int, value: str) -> str:
    """A shell word with a value on all ranks but one."""
    return f"$([ {OWN_RANK} = {rank} ] || echo {value})"


def unmoved(lines: list[str]) -> bool:
    """What first.c prints where every rank is the launcher's."""
    return len(lines) == RANKS and all(line.split()[0] == line.split()[3] for line in lines)


@pytest.mark.parametrize(
    ("order", "culprit"), [("unread", 0), ("lost", 1)], ids=["reading the pattern", "when the others are done"]
)
def test_one_rank_that_fails_is_waited_for_by_none(mpi, made, forced, said, order, culprit):
    settings = {"RANKTREE_REORDER": "any", "FORCED_ORDER": order}
    lines, logged = said(settings, made(mpi.name, "first.c"), also=forced)
    assert unmoved(lines)
    assert len(logged) == 1
    assert logged[0].startswith(f"{UNCHANGED}rank {culprit}: error ")


def test_out_of_memory_on_one_rank(mpi, made, forced, said):
    """Allocation by allocation: all ranks move or none does, and the rank without memory logs the reason."""
    settings = {"RANKTREE_REORDER": "any", "FORCED_ORDER": "shift", "RANKTREE_REORDER_INFO": f"{20 * 'a'}=b"}
    moves = f"ranktree: world: {RANKS} of {RANKS} ranks move"
    ended = f"{UNCHANGED}rank 0: out of memory"
    seen = []
    while seen[-3:] != [moves] * 3:  # the first allocation of all is the C++ library's, which can do without
        lines, logged = said(settings | {"NO_MEMORY": str(len(seen) + 1)}, made(mpi.name, "first.c"), also=forced)
        assert len(logged) == 1
        seen += [logged[0].partition(", cost")[0]]
        assert unmoved(lines) == (seen[-1] == ended)
        assert all(line.split()[0] == line.split()[3] for line in lines) == unmoved(lines)
    assert seen.count(ended) > 3


@pytest.mark.parametrize(
    ("pattern", "culprit"), [(not_on(2, "any"), 2), (only_on(2, "any"), 0)], ids=["all but one", "one"]
)
def test_a_pattern_that_not_all_ranks_have(mpi, made, forced, said, pattern, culprit):
    settings = {"RANKTREE_REORDER": pattern, "FORCED_ORDER": "shift"}
    lines, logged = said(settings, made(mpi.name, "first.c"), also=forced)
    assert unmoved(lines)
    assert logged == [f"{UNCHANGED}rank {culprit}: RANKTREE_REORDER is not set"]


@pytest.mark.parametrize("word", ["fast", "=fast"])
@pytest.mark.parametrize("where", [str, lambda word: only_on(2, word)], ids=["on all ranks", "on one"])
def test_a_setting_that_is_no_setting(mpi, made, forced, said, word, where):
    settings = {"RANKTREE_REORDER": "any", "FORCED_ORDER": "shift", "RANKTREE_REORDER_INFO": where(word)}
    lines, logged = said(settings, made(mpi.name, "first.c"), also=forced)
    assert unmoved(lines)
    culprit = 0 if where is str else 2
    assert logged == [f"{UNCHANGED}rank {culprit}: RANKTREE_REORDER_INFO: expected key=value, found '{word}'"]


def damaged(folder: Path, how: str) -> Path:
    """A file that holds no pattern of RANKS ranks."""
    path = folder / "app.mtx"
    whole = f"{HEADER}{RANKS} {RANKS} 2\n1 2 5\n2 1 5\n"
    if how == "a folder":
        path.mkdir()
    elif how != "missing":
        texts = {"truncated": whole[:-6], "of other ranks": whole.replace(f"{RANKS} {RANKS} 2", "5 5 2"), "empty": ""}
        path.write_text(texts[how], encoding="ascii")
    return path


@pytest.mark.parametrize("how", ["missing", "a folder", "empty", "truncated", "of other ranks"])
def test_a_pattern_that_cannot_be_used(mpi, made, said, tmp_path, how):
    path = damaged(tmp_path, how)
    lines, logged = said({"RANKTREE_REORDER": str(path)}, made(mpi.name, "first.c"))
    assert unmoved(lines)
    assert len(logged) == 1
    assert logged[0].startswith(UNCHANGED)
    assert str(path) in logged[0]


def test_without_our_library_beside_it(mpi, made, build_folder, tmp_path):
    world = shutil.copy(build_folder / "lib" / f"libranktree_world_{mpi.name}.so", tmp_path)
    settings = {"LD_PRELOAD": world, "RANKTREE_REORDER": "any", "RANKTREE_VERBOSE": "1"}
    settings |= {"RANKTREE_CART": "1", "RANKTREE_GRAPH": "1"}
    words = ["/usr/bin/env", *(f"{name}={value}" for name, value in settings.items()), made(mpi.name, "first.c")]
    result = finish(list(map(str, mpi.launch(RANKS, *words))), os.environ, SECONDS)
    assert unmoved(sorted(result.stdout.splitlines()))
    logged = sorted(line for line in result.stderr.splitlines() if line.startswith("ranktree: "))
    beside = tmp_path / f"libranktree_mpi_{mpi.name}.so.0.1"
    assert [line.partition(": cannot open")[0] for line in logged] == [
        f"ranktree: graphs: made by the MPI: rank 0: {beside}",
        f"ranktree: grids: made by the MPI: rank 0: {beside}",
        f"{UNCHANGED}rank 0: {beside}",
    ]


@pytest.mark.parametrize("program", ["cart.c", "session_cart.c"])
@pytest.mark.parametrize(("cart", "culprit"), [(not_on(3, "all"), 3), (only_on(3, "1"), 0)], ids=["all but one", "one"])
def test_grids_that_not_all_ranks_are_set_to_tile(mpi, made, said, cart, culprit, program):
    if program.startswith("session"):
        known_bugs.skip(mpi, "no-sessions")
    lines, logged = said({"RANKTREE_CART": cart}, made(mpi.name, program))
    assert [line.split()[0] for line in lines] == [line.split()[2] for line in lines], "the grid is the MPI's"
    assert logged == [f"ranktree: grids: made by the MPI: rank {culprit}: RANKTREE_CART=1 is not set"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"RANKTREE_GRAPH": only_on(3, "1")}, "rank 0: RANKTREE_GRAPH=1 is not set"),
        ({"RANKTREE_GRAPH": not_on(3, "1")}, "rank 3: RANKTREE_GRAPH=1 is not set"),
        ({"RANKTREE_GRAPH": "1"}, "the program passes reorder=0"),
        (
            {"RANKTREE_GRAPH": "1", "RANKTREE_GRAPH_OBJECTIVE": "tme"},
            "rank 0: RANKTREE_GRAPH_OBJECTIVE: expected bytes, messages, bottleneck or time",
        ),
    ],
    ids=["one", "all but one", "not permitted", "no objective"],
)
def test_graphs_that_are_the_mpis(mpi, made, said, settings, reason):
    words = [] if reason.startswith("the program") else ["reorder"]
    lines, logged = said(settings, made(mpi.name, "graph.c"), "adjacent", *words)
    assert [line.split()[0] for line in lines] == [line.split()[2] for line in lines]
    assert set(logged) == {f"ranktree: graphs: made by the MPI: {reason}"}


def test_grids_by_an_objective_that_does_not_exist_are_the_mpis(mpi, made, said):
    lines, logged = said({"RANKTREE_CART": "all", "RANKTREE_CART_OBJECTIVE": "tme"}, made(mpi.name, "cart.c"))
    assert [line.split()[0] for line in lines] == [line.split()[2] for line in lines], "the grid is the MPI's"
    reason = "RANKTREE_CART_OBJECTIVE: expected bytes, messages, bottleneck or time"
    assert logged == [f"ranktree: grids: made by the MPI: rank 0: {reason}"]


@pytest.mark.parametrize("program", ["cart.c", "session_cart.c"])
def test_grids_that_the_program_does_not_permit_to_reorder(mpi, made, said, program):
    if program.startswith("session"):
        known_bugs.skip(mpi, "no-sessions")
    lines, logged = said({"RANKTREE_CART": "1"}, made(mpi.name, program))
    assert [line.split()[0] for line in lines] == [line.split()[2] for line in lines], "the grid is the MPI's"
    assert set(logged) == {LEFT}


def test_grids_with_reorder_0_that_not_all_ranks_are_set_to_tile(mpi, made, said):
    """All are set to tile those with reorder = 1."""
    cart = f"$([ {OWN_RANK} = 3 ] && echo 1 || echo all)"
    left = "ranktree: grids with reorder=0: made by the MPI: rank 3: RANKTREE_CART=all is not set"
    for words in ([], ["reorder"]):
        lines, logged = said({"RANKTREE_CART": cart}, made(mpi.name, "cart.c"), *words)
        assert [line.split()[0] for line in lines] == [str(rank) for rank in range(RANKS)]
        assert set(logged) == ({left} if words else {left, LEFT})


def test_grids_alone_leave_the_process_sets_of_sessions_local(mpi, made, said):
    known_bugs.skip(mpi, "no-sessions")
    lines, logged = said({"RANKTREE_CART": "1"}, made(mpi.name, "pset.c"))
    assert lines == [f"0 size {RANKS}"]
    assert logged == []


def test_grids_with_processes_of_another_world_are_the_mpis(mpi, made, said):
    """These have not taken part in the decision, and need not have our library at all."""
    known_bugs.skip(mpi, "no-spawn")
    lines, logged = said({"RANKTREE_CART": "all"}, made(mpi.name, "spawn_cart.c"))
    assert lines == [f"{rank} at its place 1" for rank in range(RANKS)]
    assert logged == []
