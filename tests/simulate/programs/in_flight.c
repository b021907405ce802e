// Gathers one after the other: while rank 0 waits for the messages of one, those of the next are in flight. Rank 0
// checks what it has gathered, and prints the CPU seconds of the whole simulation for gathers behind barriers, and for
// as many without.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kGathers = 3 };

static double gather(int rank, int ranks, int barriers) {
  int* all = calloc(3 * (size_t)ranks, sizeof *all);
  int* counts = all + ranks;
  int* places = counts + ranks;
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 1;
    places[i] = i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const clock_t start = clock();
  for (int number = 0; number < kGathers; ++number) {
    const int own = rank + number;
    if (barriers) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Gatherv(&own, 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; ++i) {
      if (all[i] != i + number) MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  free(all);
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double apart = gather(rank, ranks, 1);
  const double together = gather(rank, ranks, 0);
  if (rank == 0) printf("{\"apart\": %.9f, \"together\": %.9f}\n", apart, together);
  MPI_Finalize();
  return 0;
}
