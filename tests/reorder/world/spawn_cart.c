/* A grid of MPI_COMM_WORLD and two processes that it has started, in the order of the merged communicator. */
#include "report.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm parent, others, all, grid;
  const int periods[1] = {0};
  int sizes[1], merged, at;
  MPI_Comm_get_parent(&parent);
  others = parent;
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(others, parent != MPI_COMM_NULL, &all);
  MPI_Comm_rank(all, &merged), MPI_Comm_size(all, sizes);
  MPI_Cart_create(all, 1, sizes, periods, 0, &grid);
  MPI_Comm_rank(grid, &at);
  if (parent == MPI_COMM_NULL) report("at its place", at == merged);
  MPI_Comm_free(&grid), MPI_Comm_free(&all);
  MPI_Comm_disconnect(&others);
  return end();
}
