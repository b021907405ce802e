/* A grid of 2 x ranks/2 with reorder = 0: "row, column, rank in the world". */
#include "report.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const int sizes[2] = {2, ranks / 2}, periods[2] = {0, 0};
  MPI_Comm grid;
  int rank, at[2];
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, at);
  printf("%d %d %d\n", at[0], at[1], my_rank);
  MPI_Comm_free(&grid);
  return end();
}
