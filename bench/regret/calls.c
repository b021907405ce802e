/* Programs whose whole time is compared with and without `ranktree run --collectives auto`. Rank 0 prints the seconds
 * from the end of MPI_Init to the last rank's end.
 *   calls mix TIMES            nine collectives, one after the other, on 64 numbers
 *   calls communicators N M    M allreduces of one number on each of N communicators, one after the other
 *   calls small TIMES          allreduces of one number
 *   calls stream WHAT BYTES TIMES     bcast, reduce, allreduce, gather, scatter or barrier: nothing between calls
 *   calls isolated WHAT BYTES TIMES   a barrier before each call
 *   calls blocks WHAT BYTES CALLS BLOCKS   rank 0 prints seconds of the slowest rank for each block of so many calls:
 *                                          elapsed, and inside calls; for replay.cpp */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *from, *into;
static int ranks;

static void call(const char* what, int bytes, MPI_Comm comm) {
  const int numbers = bytes / 8;
  if (strcmp(what, "bcast") == 0) MPI_Bcast(from, bytes, MPI_BYTE, 0, comm);
  if (strcmp(what, "reduce") == 0) MPI_Reduce(from, into, numbers, MPI_DOUBLE, MPI_SUM, 0, comm);
  if (strcmp(what, "allreduce") == 0) MPI_Allreduce(from, into, numbers, MPI_DOUBLE, MPI_SUM, comm);
  if (strcmp(what, "gather") == 0) MPI_Gather(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, 0, comm);
  if (strcmp(what, "scatter") == 0) MPI_Scatter(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, 0, comm);
  if (strcmp(what, "allgather") == 0) MPI_Allgather(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, comm);
  if (strcmp(what, "alltoall") == 0) MPI_Alltoall(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, comm);
  if (strcmp(what, "reduce_scatter") == 0) MPI_Reduce_scatter_block(from, into, numbers, MPI_DOUBLE, MPI_SUM, comm);
  if (strcmp(what, "barrier") == 0) MPI_Barrier(comm);
}

static void mix(int times) {
  const char* const all[] = {"bcast",     "reduce",   "allreduce",      "gather", "scatter",
                             "allgather", "alltoall", "reduce_scatter", "barrier"};
  for (int time = 0; time < times; ++time) {
    for (int i = 0; i < 9; ++i) call(all[i], 512, MPI_COMM_WORLD);
  }
}

static void communicators(int many, int calls) {
  for (int i = 0; i < many; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int each = 0; each < calls; ++each) call("allreduce", 8, comm);
    MPI_Comm_free(&comm);
  }
}

static void blocks(const char* what, int bytes, int calls, int many) {
  double (*times)[2] = calloc((size_t)many, sizeof *times);
  int rank;
  for (int block = 0; block < many; ++block) {
    const double start = MPI_Wtime();
    double end = start;
    for (int i = 0; i < calls; ++i) {
      const double begin = MPI_Wtime();
      call(what, bytes, MPI_COMM_WORLD);
      end = MPI_Wtime();
      times[block][1] += end - begin;
    }
    times[block][0] = end - start;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : times, times, 2 * many, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  for (int block = 0; rank == 0 && block < many; ++block) printf("%.3e,%.3e\n", times[block][0], times[block][1]);
  free(times);
}

int main(int count, char** words) {
  int rank;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t bytes = count > 4 ? (size_t)atoi(words[3]) : 512;
  from = calloc((size_t)ranks, bytes + 8);
  into = calloc((size_t)ranks, bytes + 8);
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = -MPI_Wtime(), slowest = 0;
  if (count == 3 && strcmp(words[1], "mix") == 0) mix(atoi(words[2]));
  if (count == 3 && strcmp(words[1], "small") == 0) {
    for (int i = 0; i < atoi(words[2]); ++i) call("allreduce", 8, MPI_COMM_WORLD);
  }
  if (count == 4 && strcmp(words[1], "communicators") == 0) communicators(atoi(words[2]), atoi(words[3]));
  if (count == 6) {
    blocks(words[2], (int)bytes, atoi(words[4]), atoi(words[5]));
    MPI_Finalize();
    return 0;
  }
  if (count == 5) {
    const int isolated = strcmp(words[1], "isolated") == 0, times = atoi(words[4]);
    for (int i = 0; i < times; ++i) {
      if (isolated) MPI_Barrier(MPI_COMM_WORLD);
      call(words[2], (int)bytes, MPI_COMM_WORLD);
    }
  }
  seconds += MPI_Wtime();
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f\n", slowest);
  MPI_Finalize();
  return 0;
}
