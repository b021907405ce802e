// Neighbourhood collectives on all three kinds of topology: one message for every edge that leaves the rank.
#include "expect.h"

enum { kMost = 16, kInts = 256, kInt = sizeof(int) };
static int rank, size;
static int in[kInts], out[kInts];

static void edge(int world, long long bytes) {
  if (world >= 0) expect_pair("neighbor", rank, world, 1, bytes);
}

// `to` are the world ranks of the destinations, -1 for none; sources and destinations are as many.
static void all_calls(MPI_Comm comm, const int* to, int degree) {
  int counts[kMost], places[kMost], same[kMost];
  MPI_Aint far[kMost];
  MPI_Datatype types[kMost];
  MPI_Request request;
  for (int i = 0; i < degree; ++i) {
    counts[i] = 2;
    same[i] = 3;
    places[i] = 3 * i;
    far[i] = (MPI_Aint)(8 * kInt) * i;
    types[i] = MPI_INT;
  }
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  MPI_Neighbor_allgatherv(out, 3, MPI_INT, in, same, places, MPI_INT, comm);
  MPI_Neighbor_alltoall(out, 4, MPI_INT, in, 4, MPI_INT, comm);
  MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
  MPI_Neighbor_alltoallw(out, counts, far, types, in, counts, far, types, comm);
  MPI_Ineighbor_allgather(out, 5, MPI_INT, in, 5, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ineighbor_allgatherv(out, 3, MPI_INT, in, same, places, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ineighbor_alltoall(out, 6, MPI_INT, in, 6, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ineighbor_alltoallw(out, counts, far, types, in, counts, far, types, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const long long ints[10] = {1, 3, 4, 2, 2, 5, 3, 6, 2, 2};
  for (int call = 0; call < 10; ++call) {
    for (int i = 0; i < degree; ++i) edge(to[i], ints[call] * kInt);
  }
}

static void cartesian(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 0}, to[4];
  MPI_Comm comm;
  MPI_Dims_create(size, 2, dims);
  const int row = rank / dims[1], column = rank % dims[1];
  to[0] = (row + dims[0] - 1) % dims[0] * dims[1] + column;
  to[1] = (row + 1) % dims[0] * dims[1] + column;
  to[2] = column > 0 ? rank - 1 : -1;
  to[3] = column + 1 < dims[1] ? rank + 1 : -1;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  all_calls(comm, to, 4);
  MPI_Comm_free(&comm);
}

static void graph(void) {
  int index[1024], edges[2048];
  MPI_Comm comm;
  for (int i = 0; i < size; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + size - 1) % size;
    edges[2 * i + 1] = (i + 1) % size;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  all_calls(comm, &edges[2 * rank], 2);
  MPI_Comm_free(&comm);
}

// Directed: to the next and the one after; from the two before; on the reversed world.
static void distributed(void) {
  MPI_Comm reversed, comm;
  const int own = size - 1 - rank;
  const int sources[2] = {(own + size - 1) % size, (own + 2 * size - 2) % size};
  const int destinations[2] = {(own + 1) % size, (own + 2) % size};
  const int to[2] = {size - 1 - destinations[0], size - 1 - destinations[1]};
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  MPI_Dist_graph_create_adjacent(reversed, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &comm);
  all_calls(comm, to, 2);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&reversed);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  cartesian();
  graph();
  distributed();
  MPI_Finalize();
  return 0;
}
