"""Rings of ranks (reorder-2011 §4.1) with mpi4py: rings.c in Python.

rings.py [--rings R] [--bytes B] [--iterations I] [--turns T] [--json]
"""

import argparse
import json
import sys

import numpy as np
from mpi4py import MPI

HEADER = 3  # ring, iteration, hop; the first numbers of a token


def stop(text: str) -> None:
    """Aborts the whole run."""
    print(f"rings: rank {MPI.COMM_WORLD.rank}: {text}", file=sys.stderr, flush=True)
    MPI.COMM_WORLD.Abort(1)


def token_of(ring: int, numbers: int) -> np.ndarray:
    """A token as its leader makes it: 32-bit numbers."""
    return (7 * np.arange(numbers, dtype=np.int32) + 13 * ring + 1).astype(np.int32)


class Ring:
    """This rank's ring, its token and, at leaders, the communicator of all leaders."""

    def __init__(self, rings: int, numbers: int, turns: int) -> None:
        """Ring r has the ranks with rank * rings // size == r."""
        world = MPI.COMM_WORLD
        self.rings = min(rings, world.size)
        self.turns = turns
        self.number = world.rank * self.rings // world.size
        self.comm = world.Split(self.number, world.rank)
        self.leaders = world.Split(0 if self.comm.rank == 0 else MPI.UNDEFINED, world.rank)
        self.token = token_of(self.number, numbers)
        self.expected = self.token.copy()
        self.gathered = np.empty((self.rings, numbers), np.int32)

    def send(self, iteration: int, hop: int) -> None:
        """Passes the token on."""
        self.token[:HEADER] = (self.number, iteration, hop)
        self.comm.Send(self.token, (self.comm.rank + 1) % self.comm.size)

    def receive(self, iteration: int, hop: int) -> None:
        """Takes the token and checks it."""
        self.comm.Recv(self.token, (self.comm.rank - 1) % self.comm.size)
        self.expected[:HEADER] = (self.number, iteration, hop)
        if not np.array_equal(self.token, self.expected):
            stop(f"iteration {iteration}, hop {hop}: another token than was sent")

    def circulate(self, iteration: int) -> None:
        """In each turn the token takes as many hops as the ring has ranks; a ring of one has no hop."""
        size, position = self.comm.size, self.comm.rank
        for start in range(0, self.turns * size if size > 1 else 0, size):
            if position == 0:
                self.send(iteration, start + 1)
                self.receive(iteration, start + size)
            else:
                self.receive(iteration, start + position)
                self.send(iteration, start + position + 1)

    def exchange(self, iteration: int) -> None:
        """The leaders exchange their tokens."""
        if self.leaders == MPI.COMM_NULL:
            return
        self.token[:HEADER] = (self.number, iteration, -1)
        self.leaders.Allgather(self.token, self.gathered)
        for ring, token in enumerate(self.gathered):
            if tuple(token[:HEADER]) != (ring, iteration, -1):
                stop(f"iteration {iteration}: a leader received {token[:HEADER]} as the token of ring {ring}")

    def check_gathered(self) -> None:
        """Checks the whole tokens, once."""
        for ring, token in enumerate(self.gathered if self.leaders != MPI.COMM_NULL else []):
            if not np.array_equal(token[HEADER:], token_of(ring, token.size)[HEADER:]):
                stop("a leader received another token than was sent")


def main() -> None:
    """Runs and prints, at rank 0, the time of an iteration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rings", type=int, default=4)
    parser.add_argument("--bytes", type=int, default=131072, help="of a token, a multiple of 4, at least 12")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--turns", type=int, default=1, help="of the token before the leaders exchange it")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if min(options.rings, options.iterations, options.turns) < 1 or options.bytes < 12 or options.bytes % 4:
        stop("a number is too small, or the bytes are not a multiple of 4")
    ring = Ring(options.rings, options.bytes // 4, options.turns)
    MPI.COMM_WORLD.Barrier()
    start = MPI.Wtime()
    for iteration in range(options.iterations):
        ring.circulate(iteration)
        ring.exchange(iteration)
    seconds = MPI.COMM_WORLD.reduce((MPI.Wtime() - start) / options.iterations, MPI.MAX)
    ring.check_gathered()
    if MPI.COMM_WORLD.rank == 0:
        result = {"program": "rings", "ranks": MPI.COMM_WORLD.size, **vars(options), "rings": ring.rings}
        result["seconds_per_iteration"] = seconds
        del result["json"]
        print(json.dumps(result) if options.json else f"rings: {seconds:.9f} s an iteration", flush=True)


if __name__ == "__main__":
    main()
