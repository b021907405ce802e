/* How many collective operations of the MPI one call takes, and how long it takes. Usage: reorder_counts [REPETITIONS]
 * prints at rank 0, a line for each call: its name, allreduces (nonblocking ones included), other collective
 * operations, communicators made, and the median time in microseconds of the slowest rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "ranktree/mpi.h"

static int allreduces, others, communicators;
static int depth; /* within one of these: MPIs call them of one another */

/* Defines a call under both its names, counts it and passes it on. */
#define COUNT_NAME(counter, name, parameters, arguments)        \
  int name parameters {                                         \
    static int(*next) parameters;                               \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name); \
    if (depth++ == 0) ++counter;                                \
    const int code = next arguments;                            \
    --depth;                                                    \
    return code;                                                \
  }
#define COUNT(counter, name, parameters, arguments)      \
  COUNT_NAME(counter, MPI_##name, parameters, arguments) \
  COUNT_NAME(counter, PMPI_##name, parameters, arguments)

COUNT(allreduces, Allreduce, (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (in, out, n, type, op, comm))
COUNT(allreduces, Iallreduce,
      (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
      (in, out, n, type, op, comm, request))
COUNT(others, Barrier, (MPI_Comm comm), (comm))
COUNT(others, Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))
COUNT(others, Bcast, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm), (data, n, type, root, comm))
COUNT(others, Reduce, (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
      (in, out, n, type, op, root, comm))
COUNT(others, Gather,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, int root, MPI_Comm comm),
      (in, n, type, out, m, to, root, comm))
COUNT(others, Gatherv,
      (const void* in, int n, MPI_Datatype type, void* out, const int m[], const int at[], MPI_Datatype to, int root,
       MPI_Comm comm),
      (in, n, type, out, m, at, to, root, comm))
COUNT(others, Allgather, (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, MPI_Comm comm),
      (in, n, type, out, m, to, comm))
COUNT(others, Scatter,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, int root, MPI_Comm comm),
      (in, n, type, out, m, to, root, comm))
COUNT(others, Iscatter,
      (const void* in, int n, MPI_Datatype type, void* out, int m, MPI_Datatype to, int root, MPI_Comm comm,
       MPI_Request* request),
      (in, n, type, out, m, to, root, comm, request))
COUNT(communicators, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
COUNT(communicators, Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
      (comm, type, key, info, made))
COUNT(communicators, Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
COUNT(communicators, Dist_graph_create_adjacent,
      (MPI_Comm comm, int indegree, const int sources[], const int in_weights[], int outdegree,
       const int destinations[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm* made),
      (comm, indegree, sources, in_weights, outdegree, destinations, out_weights, info, reorder, made))
COUNT(communicators, Graph_create,
      (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm* made),
      (comm, nodes, index, edges, reorder, made))
COUNT(communicators, Cart_create,
      (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* made),
      (comm, ndims, dims, periods, reorder, made))

static int rank, size, partner;

/* -- the calls, about pairs of ranks that are half the ranks apart -- */

static void dist_graph(MPI_Comm comm, int reorder, MPI_Comm* made) {
  const int one = 1, weight = 1000;
  ranktree_Dist_graph_create(comm, 1, &rank, &one, &partner, &weight, MPI_INFO_NULL, reorder, made);
}
static void dist_graph_reordered(MPI_Comm comm, MPI_Comm* made) { dist_graph(comm, 1, made); }
static void dist_graph_as_it_is(MPI_Comm comm, MPI_Comm* made) { dist_graph(comm, 0, made); }
static void adjacent(MPI_Comm comm, MPI_Comm* made) {
  const int weight = 1000;
  ranktree_Dist_graph_create_adjacent(comm, 1, &partner, &weight, 1, &partner, &weight, MPI_INFO_NULL, 1, made);
}
static void graph(MPI_Comm comm, MPI_Comm* made) {
  int *index = malloc((size_t)size * sizeof(int)), *edges = malloc((size_t)size * sizeof(int));
  for (int i = 0; i < size; ++i) index[i] = i + 1, edges[i] = (i + size / 2) % size;
  ranktree_Graph_create(comm, size, index, edges, 1, made);
  free(index);
  free(edges);
}
static void cart(MPI_Comm comm, MPI_Comm* made) {
  const int dims[] = {2, size / 2}, periods[] = {0, 0};
  ranktree_Cart_create(comm, 2, dims, periods, 1, made);
}
static void reorder(MPI_Comm comm, MPI_Comm* made) {
  const int one = 1;
  int newrank;
  ranktree_Comm_reorder(comm, 1, &rank, &one, &partner, NULL, MPI_INFO_NULL, &newrank, made);
}
static void in_mode(const char* mode, MPI_Comm comm, MPI_Comm* made) {
  const int one = 1, weight = 1000;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_reorder_mode", mode);
  ranktree_Dist_graph_create(comm, 1, &rank, &one, &partner, &weight, info, 1, made);
  MPI_Info_free(&info);
}
static void in_nodes(MPI_Comm comm, MPI_Comm* made) { in_mode("node", comm, made); }
static void distributed(MPI_Comm comm, MPI_Comm* made) { in_mode("distributed", comm, made); }
static void hsplit(MPI_Comm comm, MPI_Comm* made) { ranktree_Comm_hsplit(comm, 0, MPI_INFO_NULL, made); }
static void location(MPI_Comm comm, MPI_Comm* made) {
  char type[RANKTREE_MAX_TYPE];
  int length;
  (void)made;
  ranktree_Comm_get_min_hlevel(comm, 1, &partner, type, sizeof type, &length);
}

typedef struct {
  const char* name;
  void (*call)(MPI_Comm comm, MPI_Comm* made);
} Named;
static const Named kCalls[] = {{"Dist_graph_create", dist_graph_reordered},
                               {"Dist_graph_create(reorder=0)", dist_graph_as_it_is},
                               {"Dist_graph_create_adjacent", adjacent},
                               {"Dist_graph_create(node)", in_nodes},
                               {"Dist_graph_create(distributed)", distributed},
                               {"Graph_create", graph},
                               {"Cart_create", cart},
                               {"Comm_reorder", reorder},
                               {"Comm_hsplit", hsplit},
                               {"Comm_get_min_hlevel", location}};

static int compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

/* The time of the slowest rank; the communicator is freed outside of it. */
static double once(const Named* named, MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Barrier(comm);
  allreduces = others = communicators = 0;
  const double start = MPI_Wtime();
  named->call(comm, &made);
  double seconds = MPI_Wtime() - start;
  const int counts[] = {allreduces, others, communicators};
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  allreduces = counts[0], others = counts[1], communicators = counts[2];
  return seconds;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  partner = (rank + size / 2) % size;
  const int repetitions = argc > 1 ? atoi(argv[1]) : 1;
  double* seconds = malloc((size_t)repetitions * sizeof(double));
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (size_t i = 0; i < sizeof kCalls / sizeof kCalls[0]; ++i) {
    once(&kCalls[i], comm); /* what is learnt once is learnt */
    for (int j = 0; j < repetitions; ++j) seconds[j] = once(&kCalls[i], comm);
    qsort(seconds, (size_t)repetitions, sizeof(double), compare);
    if (rank == 0)
      printf("%s %d %d %d %.1f\n", kCalls[i].name, allreduces, others, communicators, 1e6 * seconds[repetitions / 2]);
  }
  free(seconds);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
