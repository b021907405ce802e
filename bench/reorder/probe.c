/* The graph k <-> k + P/2 with weight 1000, k -> k + 1 with weight 1: the result of a call with reorder=1.
 *
 *   bench_reorder_probe_<mpi> stock|ours
 *
 * Prints lines: heavy and light edges between nodes, before by the declaration and after by the lists of the new
 * communicator; whether every rank has the neighbours that were declared for it; whether MPI_Neighbor_alltoall
 * delivered.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

enum { kHeavy = 1000, kMostRanks = 64 };

static int size;

/* The node of every rank of comm, by a number. */
static void nodes_of(MPI_Comm comm, int own, int* nodes) { MPI_Allgather(&own, 1, MPI_INT, nodes, 1, MPI_INT, comm); }

static void count_declared(const int* nodes, int* heavy, int* light) {
  *heavy = *light = 0;
  for (int k = 0; k < size; ++k) {
    *heavy += nodes[k] != nodes[(k + size / 2) % size];
    *light += nodes[k] != nodes[(k + 1) % size];
  }
}

/* The edges between nodes in the lists of the communicator, and whether they equal the declared ones. */
static int count_real(MPI_Comm graph, const int* nodes, int* heavy, int* light) {
  int rank, in, out, weighted, sources[kMostRanks], in_weights[kMostRanks], to[kMostRanks], weights[kMostRanks];
  int sums[3] = {0, 0, 0}; /* heavy, light, wrong */
  MPI_Comm_rank(graph, &rank);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  if (in > kMostRanks || out > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Dist_graph_neighbors(graph, in, sources, in_weights, out, to, weights);
  sums[2] = in != 2 || out != 2;
  for (int i = 0; i < out; ++i) {
    const int known = to[i] >= 0 && to[i] < size;
    const int far = weights[i] == kHeavy;
    if (known && nodes[to[i]] != nodes[rank]) ++sums[far ? 0 : 1];
    sums[2] += to[i] != (rank + (far ? size / 2 : 1)) % size;
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT, MPI_SUM, graph);
  *heavy = sums[0];
  *light = sums[1];
  return sums[2] == 0;
}

int main(int argc, char** argv) {
  int rank, own, new_rank, nodes[kMostRanks], heavy[2], light[2];
  MPI_Comm node, graph;
  cpu_set_t before, after;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 3 || size > kMostRanks || argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  sched_getaffinity(0, sizeof before, &before);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Allreduce(&rank, &own, 1, MPI_INT, MPI_MIN, node);
  nodes_of(MPI_COMM_WORLD, own, nodes);
  count_declared(nodes, &heavy[0], &light[0]);
  if (rank == 0) printf("before %d %d\n", heavy[0], light[0]);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);

  const int degree = 2, destinations[] = {(rank + size / 2) % size, (rank + 1) % size}, weights[] = {kHeavy, 1};
  if (strcmp(argv[1], "ours") == 0) {
    ranktree_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, destinations, weights, MPI_INFO_NULL, 1, &graph);
  } else {
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, destinations, weights, MPI_INFO_NULL, 1, &graph);
  }
  nodes_of(graph, own, nodes);
  const int right = count_real(graph, nodes, &heavy[1], &light[1]);
  sched_getaffinity(0, sizeof after, &after);
  int rebound = !CPU_EQUAL(&before, &after);
  MPI_Allreduce(MPI_IN_PLACE, &rebound, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(graph, &new_rank);
  if (new_rank == 0) printf("after %d %d declared %d rebound %d\n", heavy[1], light[1], right, rebound);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);

  int sent[8] = {new_rank, new_rank, new_rank, new_rank}, received[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, graph);
  int delivered = received[0] >= 0 && received[1] >= 0;
  for (int i = 0; i < 2; ++i) {
    delivered =
        delivered && (received[i] == (new_rank + size / 2) % size || received[i] == (new_rank + size - 1) % size ||
                      received[i] == (new_rank + size - size / 2) % size);
  }
  MPI_Allreduce(MPI_IN_PLACE, &delivered, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (new_rank == 0) printf("delivered %d\n", delivered);
  fflush(stdout);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
