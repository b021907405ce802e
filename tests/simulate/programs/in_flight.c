// Many messages in flight: three gathers one after the other, where while rank 0 waits for the messages of one those of
// the next are in flight; and shifts by 1, 2, ... 32 ranks at a time. The ranks check what they receive; rank 0 prints
// the CPU seconds of the whole simulation for each, with waits in between ("apart") and without ("together").
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kGathers = 3, kShifts = 32 };

static double seconds_since(clock_t start) { return (double)(clock() - start) / CLOCKS_PER_SEC; }

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
  return seconds_since(start);
}

static double shift(int rank, int ranks, int waits) {
  int got[kShifts];
  MPI_Request requests[kShifts];
  MPI_Barrier(MPI_COMM_WORLD);
  const clock_t start = clock();
  for (int i = 0; i < kShifts; ++i) {
    const int by = i + 1;
    MPI_Irecv(&got[i], 1, MPI_INT, (rank + ranks - by) % ranks, by, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < kShifts; ++i) {
    const int by = i + 1;
    MPI_Send(&rank, 1, MPI_INT, (rank + by) % ranks, by, MPI_COMM_WORLD);
    if (waits) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  MPI_Waitall(kShifts, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kShifts; ++i) {
    if (got[i] != (rank + ranks - i - 1) % ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return seconds_since(start);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double (*const each[])(int, int, int) = {gather, shift};
  for (int i = 0; i < 2; ++i) {
    const double apart = each[i](rank, ranks, 1);
    const double together = each[i](rank, ranks, 0);
    if (rank == 0) printf("{\"apart\": %.9f, \"together\": %.9f}\n", apart, together);
  }
  MPI_Finalize();
  return 0;
}
