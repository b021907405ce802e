/* Rank 0 adds to the windows of the others, one after the other, while they wait for it in a collective call, of each
 * kind in turn. Prints what the last rank has, and on a line of its own the seconds that rank 0 took to add.
 * "passive_target TIMES KINDS": so many times to each rank, in each of the first so many kinds of calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kServed = 64 }; /* calls of a kind, of which the later ones are served */

static int in[64], out[64];
/* Debian's MPICH 4.0.2 adds to what precedes a window that begins at no multiple of 16 bytes. */
static _Alignas(64) double sum;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(out, 1, MPI_INT, 0, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void allgather(void) { MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD); }

static void (*const waits[])(void) = {barrier, bcast, allreduce, allgather, scatter};

/* Returns what the last rank has. */
static double add(int times, int ranks, MPI_Win window) {
  double one = 1, last = 0;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < times * (ranks - 1); ++i) {
    const int target = 1 + i % (ranks - 1);
    MPI_Accumulate(&one, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_flush(target, window);
  }
  MPI_Get(&last, 1, MPI_DOUBLE, ranks - 1, 0, 1, MPI_DOUBLE, window);
  MPI_Win_unlock_all(window);
  return last;
}

int main(int count, char** words) {
  const int times = atoi(words[1]), kinds = atoi(words[2]);
  double seconds = 0;
  int rank = 0, ranks = 0;
  MPI_Win window;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Win_create(&sum, sizeof sum, sizeof sum, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int kind = 0; kind < kinds; ++kind) {
    for (int i = 0; i < kServed; ++i) waits[kind]();
    const double start = MPI_Wtime();
    if (rank == 0) printf("%g ", add(times, ranks, window));
    seconds += MPI_Wtime() - start;
    waits[kind]();
  }
  if (rank == 0) printf("\n%g\n", seconds);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
