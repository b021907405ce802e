/* Collectives of a program that knows nothing of Ranktree, each result checked. */
#ifndef TESTS_SIMULATE_SERVED_H
#define TESTS_SIMULATE_SERVED_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void served_require(int holds, const char* text, int at) {
  if (holds) return;
  fprintf(stderr, "served: %s, element %d\n", text, at);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void served_round(MPI_Comm comm, int count, int round, long* one, long* all) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int root = round % size;
  const long sum = (long)size * (size - 1) / 2;
  for (int i = 0; i < count; ++i) one[i] = rank == root ? 7L * i + round : -1;
  MPI_Bcast(one, count, MPI_LONG, root, comm);
  for (int i = 0; i < count; ++i) served_require(one[i] == 7L * i + round, "broadcast", i);
  for (int i = 0; i < count; ++i) one[i] = rank + i + round;
  if (size > 1) MPI_Reduce(one, all, count, MPI_LONG, MPI_SUM, root, comm); /* SMPI 3.32 aborts on one rank */
  for (int i = 0; size > 1 && rank == root && i < count; ++i)
    served_require(all[i] == sum + (long)size * (i + round), "reduce", i);
  MPI_Allreduce(one, all, count, MPI_LONG, MPI_MAX, comm);
  for (int i = 0; i < count; ++i) served_require(all[i] == size - 1 + i + round, "allreduce", i);
  MPI_Allgather(one, count, MPI_LONG, all, count, MPI_LONG, comm);
  for (int i = 0; i < count * size; ++i) served_require(all[i] == i / count + i % count + round, "allgather", i);
  MPI_Barrier(comm);
}

/* On the communicator and on halves of it, in which ranks are numbered backwards. */
static void served_rounds(MPI_Comm comm, int count, int rounds) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  long* one = (long*)malloc((size_t)count * sizeof *one);
  long* all = (long*)malloc((size_t)count * (size_t)size * sizeof *all);
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(comm, rank % 2, -rank, &halves);
  for (int i = 0; i < rounds; ++i) {
    served_round(comm, count, i, one, all);
    served_round(halves, count, i, one, all);
  }
  MPI_Comm_free(&halves);
  free(all);
  free(one);
}

/* Only broadcasts, whose bytes are known. */
static void served_broadcasts(MPI_Comm comm, int count, int rounds) {
  long* one = (long*)calloc((size_t)count, sizeof *one);
  for (int i = 0; i < rounds; ++i) MPI_Bcast(one, count, MPI_LONG, 0, comm);
  free(one);
}

#endif
