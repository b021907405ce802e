"""Explicit steps of the heat equation on a periodic square: rows of the grid are shared out among the ranks.

The first Fourier mode is an eigenvector of a step, so each value after all steps is known.
"""

import numpy as np
from mpi4py import MPI

SIZE, STEPS, RATE = 1024, 500, 0.2


def main() -> None:
    """Prints the decay that the steps give and the one that the eigenvalue gives."""
    comm = MPI.COMM_WORLD
    rows = SIZE // comm.size
    wave = 2 * np.pi * np.arange(SIZE) / SIZE
    first = np.sin(wave[rows * comm.rank : rows * (comm.rank + 1), None]) * np.sin(wave[None, :])
    grid = np.zeros((rows + 2, SIZE))
    grid[1:-1] = first
    above, below = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    for _ in range(STEPS):
        comm.Sendrecv(grid[1], dest=above, recvbuf=grid[-1], source=below)
        comm.Sendrecv(grid[-2], dest=below, recvbuf=grid[0], source=above)
        middle = grid[1:-1]
        around = grid[:-2] + grid[2:] + np.roll(middle, 1, axis=1) + np.roll(middle, -1, axis=1)
        grid[1:-1] = middle + RATE * (around - 4 * middle)
        energy = comm.allreduce(float((grid[1:-1] ** 2).sum()))
    decay = (1 - 4 * RATE * (1 - np.cos(2 * np.pi / SIZE))) ** STEPS
    error = comm.allreduce(float(np.abs(grid[1:-1] - decay * first).max()), op=MPI.MAX)
    if comm.rank == 0:
        print(f"ranks {comm.size}\nenergy {energy:.6f}\ndecay {decay:.9f}\nlargest error {error:.3e}")


main()
