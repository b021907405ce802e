/* Rank 0 writes every value of a byte, many times and without a line's end, to both streams. */
#include <mpi.h>
#include <unistd.h>

enum { kRounds = 300 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char bytes[256];
  for (int i = 0; i < 256; ++i) bytes[i] = (unsigned char)i;
  for (int round = 0; rank == 0 && round < kRounds; ++round) {
    MPI_Barrier(MPI_COMM_SELF);
    if (write(1, bytes, sizeof bytes) != sizeof bytes || write(2, bytes, sizeof bytes) != sizeof bytes)
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
