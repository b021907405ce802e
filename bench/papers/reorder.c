// The time of a call that reorders the ranks of MPI_COMM_WORLD by a recorded pattern, as reorder-2011 §3.2 reads it:
//
//   reorder PATTERN MODE
//
// MODE: central, node or distributed. Writes "reordered,MODE,SECONDS,BEFORE,AFTER": what the call did, the time of the
// slowest rank without that of reading the file, and the costs in hops x messages.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "ranktree/mpi.h"

static void check(int code, const char* call) {
  if (code != MPI_SUCCESS) {
    fprintf(stderr, "reorder: %s: error %d\n", call, code);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

typedef struct {
  int count;  // of sources: 0 on all ranks but rank 0
  int* sources;
  int* degrees;
  int* destinations;
  double* weights;
} Graph;

static Graph read_graph(const char* file) {
  Graph graph = {0};
  int* weights = NULL;
  check(ranktree_read_pattern(file, MPI_COMM_WORLD, "msg", &graph.count, &graph.sources, &graph.degrees,
                              &graph.destinations, &weights),
        "ranktree_read_pattern");
  size_t edges = 0;
  for (int i = 0; i < graph.count; ++i) {
    edges += (size_t)graph.degrees[i];
  }
  graph.weights = calloc(edges + 1, sizeof *graph.weights);
  if (!graph.weights) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (size_t i = 0; i < edges; ++i) {
    graph.weights[i] = weights[i];
  }
  free(weights);
  return graph;
}

static double reordered(const Graph* graph, const char* mode, MPI_Comm* comm) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_reorder_mode", mode);
  int rank;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  check(ranktree_Comm_reorder(MPI_COMM_WORLD, graph->count, graph->sources, graph->degrees, graph->destinations,
                              graph->weights, info, &rank, comm),
        "ranktree_Comm_reorder");
  const double seconds = MPI_Wtime() - begin;
  MPI_Info_free(&info);
  double longest = 0;
  MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return longest;
}

static void print_result(MPI_Comm comm, double seconds) {
  static const char* const keys[] = {"ranktree_reorder", "ranktree_reorder_before", "ranktree_reorder_after"};
  char values[3][MPI_MAX_INFO_VAL];
  MPI_Info info;
  check(ranktree_Comm_get_info(comm, &info), "ranktree_Comm_get_info");
  for (int i = 0; i < 3; ++i) {
    int found = 0;
    MPI_Info_get(info, keys[i], MPI_MAX_INFO_VAL - 1, values[i], &found);
    if (!found) {
      values[i][0] = '\0';
    }
  }
  MPI_Info_free(&info);
  printf("reordered,%s,%.9g,%s,%s\n", values[0], seconds, values[1], values[2]);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  if (count != 3) {
    fprintf(stderr, "usage: reorder PATTERN MODE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  Graph graph = read_graph(arguments[1]);
  MPI_Comm comm;
  const double seconds = reordered(&graph, arguments[2], &comm);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    print_result(comm, seconds);
  }
  MPI_Comm_free(&comm);
  free(graph.sources);
  free(graph.degrees);
  free(graph.destinations);
  free(graph.weights);
  MPI_Finalize();
  return 0;
}
