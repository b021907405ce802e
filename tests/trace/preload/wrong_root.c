/* Each rank tries collective calls with roots that do not exist, which MPI refuses, and broadcasts once. */
#include <mpi.h>

int main(int argc, char** argv) {
  int size = 0, number = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int roots[] = {size, -size};
  for (int i = 0; i < 2; ++i) {
    int sum = 0;
    wrong += MPI_Bcast(&number, 1, MPI_INT, roots[i], MPI_COMM_WORLD) != MPI_SUCCESS;
    wrong += MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, roots[i], MPI_COMM_WORLD) != MPI_SUCCESS;
  }
  MPI_Bcast(&number, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong == 4 ? 0 : 1;
}
