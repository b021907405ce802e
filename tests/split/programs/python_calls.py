"""Every call of ranktree.mpi once, on the machine and the bindings of test_languages.py. Prints ok."""

import ctypes
import sys

import ranktree.mpi as hierarchy
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


def expect(holds: bool, what: object) -> None:
    """Ends the run unless it holds."""
    if not holds:
        print(f"rank {WORLD.rank}: expected {what}", file=sys.stderr, flush=True)
        WORLD.Abort(1)


def expect_error(error_class: int, reason: str, function, *arguments) -> None:
    """The call raises MPI's exception with this class and a note that holds the reason."""
    try:
        function(*arguments)
    except MPI.Exception as error:
        expect(error.Get_error_class() == error_class, f"error class {error_class}, found {error.Get_error_class()}")
        expect(reason in error.__notes__[0], f"'{reason}' in {error.__notes__}")
    else:
        expect(False, f"an error from {function.__name__}")


def same(left: MPI.Comm | None, right: MPI.Comm | None) -> bool:
    """Whether both are there with the same ranks, or none is."""
    if left is None or right is None:
        return left is right
    return MPI.Comm.Compare(left, right) == MPI.CONGRUENT


def check_splits() -> None:
    """All calls that split give the same communicators."""
    levels = hierarchy.levels(WORLD)
    first = levels[0]
    part = hierarchy.Hsplit(WORLD)
    with_roots, roots = hierarchy.Hsplit_with_roots(WORLD)
    by_type = hierarchy.Split_type(WORLD, hierarchy.COMM_TYPE_HW_UNGUIDED)
    reversed_part = hierarchy.Hsplit(WORLD, key=-WORLD.rank)
    made, made_roots = hierarchy.Hsplit_all(WORLD, 1)
    expect(all(same(first.comm, other) for other in (part, with_roots, by_type, *made)), "the same part by all calls")
    expect(same(first.roots, roots) and same(roots, made_roots[0]), "the same roots")
    expect((first.roots is None) == (first.comm.rank != 0), "roots at rank 0 of each part")
    expect(reversed_part.rank == part.size - 1 - part.rank, "the key to turn the order round")
    expect(len(levels) == (1, 3, 3, 1)[WORLD.rank] and len(levels[1:]) == len(levels) - 1, "the levels")
    expect(hierarchy.Split_type(WORLD, 987654) is None, "None for an unknown type")
    expect(repr(first) == f"<Package {first.index} of 2, {first.comm.size} ranks>", "a text for a level")
    for comm in (made_roots[0], made[0], reversed_part, by_type, roots, with_roots, part):
        if comm is not None:
            comm.Free()
    levels.Free()
    levels.Free()
    expect(all(level.comm == MPI.COMM_NULL for level in levels), "freed communicators")


def check_level_by_level() -> None:
    """Levels made one by one are those made at once."""
    whole = hierarchy.levels(WORLD)
    hierarchy.LEVELS_AT_ONCE = 1
    with hierarchy.levels(WORLD) as parts:
        expect(len(parts) == len(whole), "as many levels")
        for left, right in zip(whole, parts, strict=True):
            expect(same(left.comm, right.comm) and same(left.roots, right.roots), "the same communicators")
            expect((left.type, left.index, left.count) == (right.type, right.index, right.count), "the same object")
    hierarchy.LEVELS_AT_ONCE = 64
    for level in reversed(whole):
        with level:
            pass


def check_queries() -> None:
    """Where ranks are and what they share."""
    expect(hierarchy.Get_hlevel_info(WORLD) == ("Unknown", 0, 1), "nothing known of the world")
    shared = "L3Cache" if WORLD.rank in {1, 2} else "Unknown"
    expect(hierarchy.Get_min_hlevel(WORLD, [2, 1]) == shared, shared)
    expect(hierarchy.Get_min_hlevel(WORLD, range(4)) == "Node", "Node")
    expect(hierarchy.Get_min_hlevel(WORLD, []) == "Unknown", "Unknown for no ranks")
    chain = hierarchy.Get_location(WORLD, 2)
    expect(chain[-4:] == [("Package", 0), ("L3Cache", 0), ("Core", 1), ("PU", 2)], f"another chain than {chain}")
    resources = hierarchy.Get_hw_resource_info()
    expect(resources["hwloc://Package"], "to be within one package")
    expect(resources["hwloc://Core"] == (WORLD.rank != 0), "rank 0 not to be within one core")


def check_info() -> None:
    """Leftovers as the info object sets them."""
    info = MPI.Info.Create()
    info["ranktree_leftover"] = "group"
    with hierarchy.levels(WORLD, info) as levels:
        expect(len(levels) == (2, 3, 3, 1)[WORLD.rank], "one more level for rank 0")
    info["ranktree_leftover"] = "all"
    comm = WORLD.Dup()
    expect(hierarchy.message(comm) == "", "no message")
    expect_error(MPI.ERR_ARG, "ranktree_leftover", hierarchy.levels, comm, info)
    expect("found 'all'" in hierarchy.message(comm), "the reason")
    comm.Free()
    info.Free()


def check_errors() -> None:
    """MPI's exception with the right class."""
    expect_error(MPI.ERR_RANK, "rank", hierarchy.Get_location, WORLD, 4)
    expect_error(MPI.ERR_ARG, "max", hierarchy.Hsplit_all, WORLD, -1)
    MPI.COMM_SELF.Set_errhandler(MPI.ERRORS_RETURN)
    expect_error(MPI.ERR_COMM, "hsplit", hierarchy.Hsplit, MPI.COMM_NULL)
    half = WORLD.Split(WORLD.rank % 2)
    inter = half.Create_intercomm(0, WORLD, 1 - WORLD.rank % 2)
    inter.Set_errhandler(MPI.ERRORS_RETURN)
    expect_error(MPI.ERR_COMM, "hsplit", hierarchy.Hsplit, inter)
    inter.Free()
    half.Free()


def check_handles() -> None:
    """A handle is as wide as mpi4py's."""
    expect(ctypes.sizeof(hierarchy.HANDLE) == MPI._sizeof(MPI.Comm), "handles of the same size")


for check in (check_handles, check_splits, check_level_by_level, check_queries, check_info, check_errors):
    check()
if WORLD.rank == 0:
    print("ok")
