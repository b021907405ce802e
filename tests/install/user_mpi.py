"""A user of the installed package: splits MPI_COMM_WORLD by the machine; prints on how many ranks each level's index is
below its count, and whether ranks 0 and 2, 1 and 3, which exchange, are placed on one node.
"""

import numpy
import ranktree.mpi
from mpi4py import MPI

with ranktree.mpi.levels(MPI.COMM_WORLD) as levels:
    right = MPI.COMM_WORLD.reduce(int(all(0 <= level.index < level.count for level in levels)))
if MPI.COMM_WORLD.rank == 0:
    matrix = numpy.zeros((4, 4))
    matrix[0, 2], matrix[1, 3] = 100, 50
    hosts = [slot.host for slot in ranktree.place(matrix, "node:2 core:2").slots]
    print(f"{right} of {MPI.COMM_WORLD.size}, {hosts[0] == hosts[2]}, {hosts[1] == hosts[3]}")
