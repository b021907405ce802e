/* Each rank tries collective calls with roots that do not exist and calls with counts below 0, which MPI refuses, and
 * broadcasts once. */
#include <mpi.h>
#include <stdlib.h>

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
  int* counts = malloc((size_t)size * sizeof *counts);
  for (int i = 0; i < size; ++i) counts[i] = -1;
  int sum = 0;
  wrong += MPI_Reduce_scatter(&number, &sum, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
  free(counts);
  int memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  wrong += MPI_Put(&number, -1, MPI_INT, size - 1, 0, 1, MPI_INT, win) != MPI_SUCCESS;
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Bcast(&number, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong == 6 ? 0 : 1;
}
