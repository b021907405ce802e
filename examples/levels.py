"""The levels of the machine that every rank belongs to, and a broadcast that goes down them: levels.c in Python."""

import sys

import ranktree.mpi
from mpi4py import MPI

VALUE = 20180913


def describe(level: ranktree.mpi.Level) -> str:
    """One line: "  Package 1 of 2, ranks: 4, root"."""
    root = "" if level.roots is None else ", root"
    return f"  {level.type} {level.index} of {level.count}, ranks: {level.comm.size}{root}"


def print_levels(world: MPI.Intracomm) -> None:
    """Each rank's levels, in the order of the ranks."""
    with ranktree.mpi.levels(world) as levels:
        lines = [f"rank {world.rank}, levels: {len(levels)}", *(describe(level) for level in levels)]
    for text in world.gather("\n".join(lines)) or []:
        print(text)


def broadcast_down(world: MPI.Intracomm, value: int | None) -> int:
    """Returns the value of rank 0. With ranktree_leftover=group all ranks of a smallest part have it as last level."""
    info = MPI.Info.Create()
    info["ranktree_leftover"] = "group"
    with ranktree.mpi.levels(world, info) as levels:
        smallest = world
        for level in levels:
            if level.roots is not None:
                value = level.roots.bcast(value)
            smallest = level.comm
        value = smallest.bcast(value)
    info.Free()
    return value


def main() -> None:
    """Prints the levels, then whether the broadcast reached all ranks."""
    world = MPI.COMM_WORLD
    print_levels(world)
    reached = world.reduce(int(broadcast_down(world, VALUE if world.rank == 0 else None) == VALUE))
    if world.rank == 0:
        print(f"broadcast down the levels: {reached} of {world.size} ranks have the value", flush=True)
        if reached != world.size:
            print("levels: the broadcast did not reach all ranks", file=sys.stderr, flush=True)
            world.Abort(1)


if __name__ == "__main__":
    main()
