/* A brute-force model of graph communicators: every rank knows the whole declared graph, and the machine's tree by
 * comparing the chains of all ranks.
 */
#ifndef REORDER_MODEL_H
#define REORDER_MODEL_H

#include <mpi.h>

enum { kMostEdges = 8192, kMostRanks = 64 };

typedef struct {
  int declarer; /* the rank that declares it to MPI_Dist_graph_create */
  int source, destination, weight;
} Edge;

/* An entry of MPI_Dist_graph_create: so many edges of one source. */
typedef struct {
  int declarer, source, degree;
} Entry;

typedef struct {
  int ranks, entry_count, edge_count;
  Entry entries[kMostEdges]; /* by declarer */
  Edge edges[kMostEdges];    /* in the order of the entries */
} Graph;

/* The same on every rank. Kinds 0 ..: everything at random, all by one rank, empty, pairs of far ranks, a ring. */
enum { kGraphKinds = 5 };
void make_graph(Graph* graph, int ranks, int kind, unsigned long long seed);

/* A number below `bound` from a state that moves on. */
int draw(unsigned long long* state, int bound);

/* Collective, a split of comm: the environment variable SPLIT_NODES, "aab", names the node of each rank of
 * MPI_COMM_WORLD; where it is not set, nothing. Later calls on comm know these nodes. */
void use_nodes_of_environment(MPI_Comm comm);

/* Collective: where all ranks of comm are. */
void learn_machine(MPI_Comm comm);

/* Hops between two ranks of that communicator. */
int hops(int a, int b);
int same_node(int a, int b);

/* Sum over edges of weight x hops when vertex v is owned by rank owner[v]; every edge weighs 1 without weights. */
double cost_of(const Graph* graph, const int* owner, int weighted);

#endif
