// What MPI 4 added: partitioned sends, Isendrecv, counts of type MPI_Count, persistent collectives.
#include "expect.h"

enum { kInts = 64, kPartitions = 4 };
static int rank, size, right, left;
static int in[kInts], out[kInts];

static void partitioned(void) {
  MPI_Request send, receive;
  MPI_Psend_init(out, kPartitions, 3, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in, kPartitions, 3, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&receive);
    MPI_Start(&send);
    for (int i = 0; i < kPartitions; ++i) MPI_Pready(i, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    expect_message(right, kPartitions * 3LL * (long long)sizeof(int));
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

static void both_ways(void) {
  MPI_Request request;
  MPI_Isendrecv(out, 4, MPI_INT, right, 2, in, kInts, MPI_INT, left, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_message(right, 4LL * (long long)sizeof(int));
  MPI_Isendrecv_replace(out, 5, MPI_INT, left, 3, right, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_message(left, 5LL * (long long)sizeof(int));
}

static void large_counts(void) {
  MPI_Request request;
  MPI_Irecv_c(in, kInts, MPI_INT, left, 4, MPI_COMM_WORLD, &request);
  MPI_Send_c(out, (MPI_Count)6, MPI_INT, right, 4, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_message(right, 6LL * (long long)sizeof(int));
  MPI_Sendrecv_c(out, 7, MPI_INT, right, 5, in, kInts, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_message(right, 7LL * (long long)sizeof(int));
  MPI_Count counts[1024];
  MPI_Aint displacements[1024];
  static int all_in[1024], all_out[1024];
  for (int i = 0; i < size; ++i) {
    counts[i] = 1;
    displacements[i] = i;
  }
  MPI_Alltoallv_c(all_out, counts, displacements, MPI_INT, all_in, counts, displacements, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) {
    if (i != rank) expect_pair("collective", rank, i, 1, (long long)sizeof(int));
  }
  int world[1024];
  for (int i = 0; i < size; ++i) world[i] = i;
  MPI_Bcast_c(in, 8, MPI_INT, size - 1, MPI_COMM_WORLD);
  expect_call("Bcast", size - 1, 8LL * (long long)sizeof(int), world, size);
}

static void persistent_collectives(void) {
  MPI_Request request;
  int world[1024];
  for (int i = 0; i < size; ++i) world[i] = i;
  MPI_Allreduce_init(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 4; ++round) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_call("Allreduce", -1, 3LL * (long long)sizeof(int), world, size);
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  expect_open(rank);
  partitioned();
  both_ways();
  large_counts();
  persistent_collectives();
  MPI_Finalize();
  return 0;
}
