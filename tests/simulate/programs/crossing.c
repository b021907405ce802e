// crossing BYTES: each rank of the lower half sends to its partner in the upper half, all at once; rank 0 prints the
// seconds until the last one is done.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = argc > 1 ? atoi(argv[1]) : 1 << 20;
  char* const buffer = calloc((size_t)bytes, 1);
  const double begin = MPI_Wtime();
  if (rank < size / 2) {
    MPI_Send(buffer, bytes, MPI_CHAR, rank + size / 2, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buffer, bytes, MPI_CHAR, rank - size / 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double mine = MPI_Wtime() - begin;
  double longest = 0;
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%.9g\n", longest);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
