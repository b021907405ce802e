"""mpi4py's COMM_WORLD: objects, buffers, groups, grids, files, windows. The argument names a file."""

import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
lines = []


def report(*words: object) -> None:
    """A line at the end."""
    lines.append(" ".join(map(str, (rank, *words))))


after, before = (rank + 1) % size, (rank - 1) % size
report("name", world.name, world.Get_attr(MPI.TAG_UB) > 30000, world == MPI.COMM_WORLD)
report("pickled", world.sendrecv({"from": rank}, dest=after, source=before))
report("gathered", world.gather(rank * rank, root=size - 1))
report("scattered", world.scatter([10 * i for i in range(size)] if rank == 1 % size else None, root=1 % size))
report("all", world.allgather(rank), world.alltoall([100 * rank + i for i in range(size)]))
report("sums", world.allreduce(rank), world.scan(rank), world.exscan(rank, op=MPI.MAX))
mine, all_ranks = array("i", [rank]), array("i", [-1] * size)
world.Allgather(mine, all_ranks)
report("buffers", list(all_ranks))
request = world.Iallgather(mine, all_ranks)
request.Wait()
report("later", list(all_ranks))
half = world.Split(rank % 2, -rank)
report("half", half.rank, half.size, half.allgather(rank))
report("group", half.group.Translate_ranks(range(half.size), world.group))
half.Free()
grid = world.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False])
report("grid", grid.coords, [grid.Shift(i, 1) for i in range(2)], grid.neighbor_allgather(rank))
grid.Free()
cells = array("i", [-1] * 16)
window = MPI.Win.Create(cells, 4, comm=world)
window.Fence()
window.Put([mine, MPI.INT], after)
window.Fence()
report("window", cells[0])
window.Free()
file = MPI.File.Open(world, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(4 * rank, mine)
file.Sync()
world.Barrier()
file.Read_at_all(0, all_ranks)
report("file", list(all_ranks))
file.Close()
world.Set_errhandler(MPI.ERRORS_RETURN)
try:
    world.Send([mine, MPI.INT], dest=size)
except MPI.Exception as error:
    report("error", error.Get_error_class() == MPI.ERR_RANK)
sys.stdout.write("\n".join(lines) + "\n")  # in one piece
