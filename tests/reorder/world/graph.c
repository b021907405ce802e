/* Four ranks in two pairs that exchange much, 0 with 1 and 2 with 3, as a graph made by the call that the first word
 * names: dist, adjacent or graph; "reorder": with reorder = 1. "vertex, PU, rank in the world, whether it hears from
 * its partner". */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#include "report.h"

static MPI_Comm made(const char* call, int reorder) {
  const int partner = my_rank ^ 1, one = 1, little = (my_rank + 2) % 4, both[2] = {partner, little};
  const int weights[2] = {100, 1}, index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2}, two = 2;
  MPI_Comm graph;
  if (strcmp(call, "dist") == 0) {
    MPI_Dist_graph_create(MPI_COMM_WORLD, one, &my_rank, &two, both, weights, MPI_INFO_NULL, reorder, &graph);
  } else if (strcmp(call, "adjacent") == 0) {
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, weights, 2, both, weights, MPI_INFO_NULL, reorder, &graph);
  } else {
    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, reorder, &graph);
  }
  return graph;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm graph = made(argv[1], argc > 2);
  int vertex, heard[2] = {-1, -1};
  MPI_Comm_rank(graph, &vertex);
  MPI_Neighbor_allgather(&vertex, 1, MPI_INT, heard, 1, MPI_INT, graph);
  printf("%d %d %d %d\n", vertex, sched_getcpu(), my_rank, heard[0] == (vertex ^ 1) || heard[1] == (vertex ^ 1));
  MPI_Comm_free(&graph);
  return end();
}
