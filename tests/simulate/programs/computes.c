/* Each rank computes for some tenths of a second, and meets the others. SMPI itself gives the time to programs. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (volatile long i = 0; i < 200 * 1000 * 1000; ++i) {
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize();
}
