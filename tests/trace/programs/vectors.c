// Collectives whose arguments determine the pairs: Alltoallv, Alltoallw, Gatherv, Scatterv. A rank's own share is not a
// message.
#include "expect.h"

enum { kMost = 64, kInts = 4096, kInt = sizeof(int) };
static int rank, size;
static int in[kInts], out[kInts];

static void to(int target, long long bytes) {
  if (target != rank && bytes > 0) expect_pair("collective", rank, target, 1, bytes);
}

static void exchange(void) {
  int counts[kMost], places[kMost], bytes_places[kMost];
  MPI_Datatype types[kMost];
  MPI_Request request;
  for (int i = 0; i < size; ++i) {
    counts[i] = (rank + i) % 3;  // the same in both directions
    places[i] = 4 * i;
    bytes_places[i] = 32 * i;
    types[i] = (rank + i) % 2 ? MPI_DOUBLE : MPI_INT;
  }
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Ialltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallw(out, counts, bytes_places, types, in, counts, bytes_places, types, MPI_COMM_WORLD);
  MPI_Ialltoallw(out, counts, bytes_places, types, in, counts, bytes_places, types, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < size; ++i) {
    for (int call = 0; call < 3; ++call) to(i, counts[i] * (long long)kInt);
    const long long element = (rank + i) % 2 ? (long long)sizeof(double) : (long long)kInt;
    for (int call = 0; call < 2; ++call) to(i, counts[i] * element);
  }
}

// With the last rank as root, in the reversed world.
static void rooted(void) {
  MPI_Comm reversed;
  MPI_Request request;
  int counts[kMost], places[kMost];
  const int root = size - 1, own = size - 1 - rank;  // the root is world rank 0
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  for (int i = 0; i < size; ++i) {
    counts[i] = i + 1;
    places[i] = 64 * i;
  }
  MPI_Gatherv(out, own + 1, MPI_INT, in, counts, places, MPI_INT, root, reversed);
  MPI_Igatherv(out, own + 1, MPI_INT, in, counts, places, MPI_INT, root, reversed, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Gatherv(own == root ? MPI_IN_PLACE : out, own + 1, MPI_INT, in, counts, places, MPI_INT, root, reversed);
  MPI_Scatterv(out, counts, places, MPI_INT, in, own + 1, MPI_INT, root, reversed);
  MPI_Iscatterv(out, counts, places, MPI_INT, in, own + 1, MPI_INT, root, reversed, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Scatterv(out, counts, places, MPI_INT, own == root ? MPI_IN_PLACE : in, own + 1, MPI_INT, root, reversed);
  for (int call = 0; call < 3 && rank != 0; ++call) {
    to(0, (own + 1) * (long long)kInt);
    expect_pair("collective", 0, rank, 1, (own + 1) * (long long)kInt);
  }
  MPI_Comm_free(&reversed);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  exchange();
  rooted();
  MPI_Finalize();
  return 0;
}
