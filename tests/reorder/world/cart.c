/* A chain of ranks as a grid; "reorder": with reorder = 1. "rank in the grid, PU, rank in the world". */
#define _GNU_SOURCE
#include <sched.h>

#include "report.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int periods[1] = {0}, reorder = argc > 1;
  MPI_Comm grid, half;
  int rank, at[1];
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, periods, reorder, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 1, at);
  printf("%d %d %d\n", at[0], sched_getcpu(), my_rank);
  MPI_Comm_free(&grid);
  /* Of a part of the world too; one rank is too many for the grid. */
  MPI_Comm_split(MPI_COMM_WORLD, my_rank == 0, 0, &half);
  MPI_Comm_size(half, &ranks);
  const int sizes[1] = {ranks > 1 ? ranks - 1 : 1};
  MPI_Cart_create(half, 1, sizes, periods, reorder, &grid);
  if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
  MPI_Comm_free(&half);
  return end();
}
