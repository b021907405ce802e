/* Reduces on a communicator that it does not free: no end of it is ever seen. */
#include <mpi.h>

int main(int argc, char** argv) {
  enum { kCalls = 300 };
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int one = 1, sum = 0, size = 0;
  MPI_Comm_size(comm, &size);
  int wrong = 0;
  for (int i = 0; i < kCalls; ++i) {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size) wrong = 1;
  }
  MPI_Finalize();
  return wrong;
}
