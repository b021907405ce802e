/* Process topologies on MPI_COMM_WORLD, and collective operations among neighbours. */
#include "report.h"

static void neighbours(const char* name, MPI_Comm comm, int in_degree, int out_degree) {
  int out[64], in[64];
  for (int i = 0; i < 64; ++i) out[i] = 100 * my_rank + i, in[i] = -1;
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  report_all(name, in, in_degree);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  report_all(name, in, in_degree);
  MPI_Request request;
  MPI_Ineighbor_alltoall(out + out_degree, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report_all(name, in, in_degree);
}

static void grid(int dimensions) {
  int sizes[3] = {0, 0, 0}, periods[3] = {1, 0, 1}, at[3] = {0, 0, 0}, rank, source, destination;
  MPI_Comm cart, row;
  MPI_Dims_create(ranks, dimensions, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, 0, &cart);
  MPI_Comm_rank(cart, &rank);
  report("grid rank", rank);
  MPI_Cart_coords(cart, rank, dimensions, at);
  report_all("coordinates", at, dimensions);
  for (int i = 0; i < dimensions; ++i) {
    MPI_Cart_shift(cart, i, 1, &source, &destination);
    report("source", source);
    report("destination", destination);
  }
  int remain[3] = {1, 0, 0}, size;
  MPI_Cart_sub(cart, remain, &row);
  MPI_Comm_size(row, &size);
  report("row", size);
  neighbours("grid", cart, 2 * dimensions, 2 * dimensions);
  MPI_Comm_free(&row);
  MPI_Comm_free(&cart);
}

/* Rank i -> i + 1 and i + 2, by the adjacent call and edge by edge from the last rank. */
static void graphs(void) {
  int from[2] = {(my_rank + ranks - 1) % ranks, (my_rank + ranks - 2 + ranks) % ranks};
  int to[2] = {(my_rank + 1) % ranks, (my_rank + 2) % ranks};
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  neighbours("adjacent", graph, 2, 2);
  MPI_Comm_free(&graph);
  int sources[64], degrees[64], destinations[64], n = my_rank == ranks - 1 ? ranks : 0;
  for (int i = 0; i < n; ++i) sources[i] = i, degrees[i] = 1, destinations[i] = (i * 3 + 1) % ranks;
  MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  int in_degree, out_degree, weighted;
  MPI_Dist_graph_neighbors_count(graph, &in_degree, &out_degree, &weighted);
  report("in", in_degree);
  report("out", out_degree);
  MPI_Comm_free(&graph);
  int index[64], edges[128];
  for (int i = 0; i < ranks; ++i)
    index[i] = 2 * (i + 1), edges[2 * i] = (i + 1) % ranks, edges[2 * i + 1] = (i + ranks - 1) % ranks;
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &graph);
  neighbours("graph", graph, 2, 2);
  int kind;
  MPI_Topo_test(graph, &kind);
  report("is a graph", kind == MPI_GRAPH);
  MPI_Comm_free(&graph);
  MPI_Topo_test(MPI_COMM_WORLD, &kind);
  report("world has none", kind == MPI_UNDEFINED);
}

static void maps(void) {
  int sizes[2] = {0, 0}, periods[2] = {0, 0}, rank;
  MPI_Dims_create(ranks, 2, sizes);
  MPI_Cart_map(MPI_COMM_WORLD, 2, sizes, periods, &rank);
  report("cart_map", rank);
  int index[1] = {1}, edges[1] = {0};
  MPI_Graph_map(MPI_COMM_WORLD, 1, index, edges, &rank);
  report("graph_map", rank);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  for (int dimensions = 1; dimensions <= 3; ++dimensions) grid(dimensions);
  graphs();
  maps();
  return end();
}
