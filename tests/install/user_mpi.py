"""A user of the installed package: splits MPI_COMM_WORLD by the machine, and adds up what each rank has; prints on how
many ranks each level's index is below its count, and whether ranks 0 and 2, 1 and 3, which exchange, are placed on one
node.
"""

import numpy
import ranktree.mpi
from mpi4py import MPI

with ranktree.mpi.levels(MPI.COMM_WORLD) as levels:
    right = numpy.array([all(0 <= level.index < level.count for level in levels)], dtype=numpy.int32)
    found = numpy.zeros(1, dtype=numpy.int32)
    ranktree.mpi.Allreduce(MPI.COMM_WORLD, right, [found, "i"])
if MPI.COMM_WORLD.rank == 0:
    matrix = numpy.zeros((4, 4))
    matrix[0, 2], matrix[1, 3] = 100, 50
    hosts = [slot.host for slot in ranktree.place(matrix, "node:2 core:2").slots]
    print(f"{found[0]} of {MPI.COMM_WORLD.size}, {hosts[0] == hosts[2]}, {hosts[1] == hosts[3]}")
