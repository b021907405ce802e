/* A chain as a grid with reorder = 0, as LAMMPS and CP2K make theirs: ranks in the grid are taken for ranks in the
 * world, and a rank's place for what it computes from its own rank. */
#include "report.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int periods[1] = {1};
  MPI_Comm grid;
  int place, before, after, from = -1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, periods, 0, &grid);
  MPI_Comm_rank(grid, &place);
  MPI_Cart_shift(grid, 0, 1, &before, &after);
  MPI_Comm_free(&grid);
  report("at its place", place == my_rank);
  MPI_Sendrecv(&my_rank, 1, MPI_INT, after, 0, &from, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  report("from its neighbour", from == (my_rank + ranks - 1) % ranks);
  return end();
}
