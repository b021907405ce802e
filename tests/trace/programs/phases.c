// Two exchanges that alternate, each before a barrier of all ranks: 10 times 8000 bytes to the next rank, then 800
// bytes to the rank before. A barrier of fewer ranks, a nonblocking one and a Reduce do not separate them. Then an
// Allreduce on a copy of MPI_COMM_WORLD in reverse order does, and messages without a call behind them follow.
#include <mpi.h>

static int rank, size;
static char out[8000], in[8000];

static void shift(int bytes, int distance) {
  MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + distance + size) % size, 1, in, bytes, MPI_BYTE,
               (rank - distance + size) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int sum = 0;
  MPI_Comm half, reversed;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  for (int i = 0; i < 10; ++i) {
    shift(4000, 1);
    MPI_Barrier(half);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    shift(4000, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    shift(800, -1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  shift(10, 1);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, reversed);
  shift(1, 1);
  MPI_Comm_free(&half);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
