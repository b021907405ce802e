// counted COLLECTIVE:BYTES...: makes each call and prints how many messages every rank sent to every other one in it.
// BYTES is the size of a block in collectives of blocks.
//
// With pml_monitoring_enable=1, Open MPI 4.1 reports every message it sends to the function below, which the linker
// finds before Open MPI's own.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostRanks = 16 };

static unsigned long sent[kMostRanks];

void mca_common_monitoring_record_pml(int world_rank, size_t bytes, int tag) {
  (void)bytes;
  (void)tag;
  ++sent[world_rank];
}

static void call(const char* name, int bytes, int ranks) {
  const size_t all = (size_t)bytes * (size_t)ranks + 1;
  char* from = calloc(all, 1);
  char* into = calloc(all, 1);
  int counts[kMostRanks];
  for (int rank = 0; rank < ranks; ++rank) counts[rank] = bytes;
  const MPI_Comm comm = MPI_COMM_WORLD;
  if (strcmp(name, "broadcast") == 0) MPI_Bcast(into, bytes, MPI_BYTE, 0, comm);
  if (strcmp(name, "reduce") == 0) MPI_Reduce(from, into, bytes, MPI_BYTE, MPI_BXOR, 0, comm);
  if (strcmp(name, "allreduce") == 0) MPI_Allreduce(from, into, bytes, MPI_BYTE, MPI_BXOR, comm);
  if (strcmp(name, "barrier") == 0) MPI_Barrier(comm);
  if (strcmp(name, "gather") == 0) MPI_Gather(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, 0, comm);
  if (strcmp(name, "allgather") == 0) MPI_Allgather(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, comm);
  if (strcmp(name, "reduce_scatter") == 0) MPI_Reduce_scatter(from, into, counts, MPI_BYTE, MPI_BXOR, comm);
  if (strcmp(name, "alltoall") == 0) MPI_Alltoall(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, comm);
  free(from);
  free(into);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 1; i < argc; ++i) {
    char name[32];
    int bytes = 0;
    if (sscanf(argv[i], "%31[a-z_]:%d", name, &bytes) != 2) MPI_Abort(MPI_COMM_WORLD, 1);
    unsigned long mine[kMostRanks];
    unsigned long all[kMostRanks * kMostRanks];
    memset(sent, 0, sizeof sent);
    call(name, bytes, ranks);
    memcpy(mine, sent, sizeof mine);
    MPI_Gather(mine, ranks, MPI_UNSIGNED_LONG, all, ranks, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    if (rank != 0) continue;
    printf("%s", argv[i]);
    for (int pair = 0; pair < ranks * ranks; ++pair) printf(" %lu", all[pair]);
    printf("\n");
  }
  MPI_Finalize();
  return 0;
}
