/* Calls of several kinds, as many on every rank: point-to-point, collectives often enough to be served, communicators,
 * and a grid. */
#include <mpi.h>
#include <stdlib.h>

enum { kRounds = 30 };

static void exchange(MPI_Comm comm, int rank, int size) {
  int out = rank, in = -1;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, comm, &request);
  MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 0, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (in != (rank + size - 1) % size) MPI_Abort(comm, 1);
}

static void collectives(MPI_Comm comm, int size) {
  for (int round = 0; round < kRounds; ++round) {
    int number = round, sum = 0;
    MPI_Bcast(&number, 1, MPI_INT, round % size, comm);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != round * size) MPI_Abort(comm, 2);
    MPI_Barrier(comm);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, grid_size, periods[1] = {1};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange(MPI_COMM_WORLD, rank, size);
  collectives(MPI_COMM_WORLD, size);
  MPI_Comm copy, grid;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  collectives(copy, size);
  MPI_Cart_create(copy, 1, &size, periods, 1, &grid);
  MPI_Comm_size(grid, &grid_size);
  exchange(grid, rank, grid_size);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  return 0;
}
