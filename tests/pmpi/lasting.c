/* `lasting ROUNDS [CALLS]`: each round makes two communicators and, in turn, a grid, a graph of neighbours and a group
 * in another order, calls three collectives on each of them CALLS times (1) and frees them. Rank 0 prints how many KiB
 * its memory has grown since a fifth of the rounds, and the checksum of all collectives; after the first round,
 * "running" to stderr. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "resident.h"

static int rank, size;
static long calls = 1;

static long calls_on(MPI_Comm comm, long round) {
  long mine = round + rank, all = 0, sum = 0;
  for (long i = 0; i < calls; ++i) {
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, comm);
    MPI_Bcast(&all, 1, MPI_LONG, 0, comm);
    MPI_Barrier(comm);
    sum += all;
  }
  return sum;
}

/* A communicator of all ranks of `comm`, perhaps in another order: another kind in each round. */
static MPI_Comm in_another_order(MPI_Comm comm, long round) {
  MPI_Comm made;
  MPI_Group all, turned;
  int periods[1] = {0}, next = (rank + 1) % size, before = (rank + size - 1) % size, weight = 1,
      turn[1][3] = {{size - 1, 0, -1}};
  switch (round % 3) {
    case 0:
      MPI_Cart_create(comm, 1, &size, periods, 1, &made);
      break;
    case 1:
      MPI_Dist_graph_create_adjacent(comm, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 1, &made);
      break;
    default:
      MPI_Comm_group(comm, &all);
      MPI_Group_range_incl(all, 1, turn, &turned);
      MPI_Comm_create(comm, turned, &made);
      MPI_Group_free(&turned);
      MPI_Group_free(&all);
  }
  return made;
}

static long one_round(long round) {
  MPI_Comm copy, part;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(copy, rank % 2, -rank, &part);
  MPI_Comm other = in_another_order(copy, round);
  const long sum = calls_on(copy, round) + calls_on(part, round) + calls_on(other, round);
  MPI_Comm_free(&other);
  MPI_Comm_free(&part);
  MPI_Comm_free(&copy);
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long rounds = argc > 1 ? atol(argv[1]) : 1000;
  if (argc > 2) calls = atol(argv[2]);
  long sum = 0, before = 0;
  for (long round = 0; round < rounds; ++round) {
    if (round == rounds / 5) before = resident_kib();
    sum += one_round(round);
    if (round == 0 && rank == 0) fputs("running\n", stderr);
  }
  if (rank == 0) printf("grown %ld KiB, checksum %ld\n", resident_kib() - before, sum);
  fflush(stdout);
  return MPI_Finalize();
}
