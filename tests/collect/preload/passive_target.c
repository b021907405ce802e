/* Rank 0 adds to the windows of the others, one after the other, while they wait in a barrier. Prints what they have.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  const int times = count > 1 ? atoi(words[1]) : 100;
  double sum = 0, one = 1, last = 0;
  int rank = 0, ranks = 0;
  MPI_Win window;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Win_create(&sum, sizeof sum, sizeof sum, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 0; i < 64; ++i) MPI_Barrier(MPI_COMM_WORLD); /* served from some call on */
  if (rank == 0) {
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < times * (ranks - 1); ++i) {
      const int target = 1 + i % (ranks - 1);
      MPI_Accumulate(&one, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, MPI_SUM, window);
      MPI_Win_flush(target, window);
    }
    MPI_Get(&last, 1, MPI_DOUBLE, ranks - 1, 0, 1, MPI_DOUBLE, window);
    MPI_Win_unlock_all(window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%g\n", last);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
