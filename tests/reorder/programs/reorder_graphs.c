/* Random graphs through every call, checked against the model. Usage: reorder_graphs SEED ROUNDS [MODE [KIND]] */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"
#include "reorder_model.h"

static int rank, size;
static int round_number;
static int renumbered; /* rounds in which some rank has changed */
static const char* call = "";
static Graph graph;

static void fail(const char* text, double found) {
  fprintf(stderr, "rank %d, round %d, %s: %s, found %.17g\n", rank, round_number, call, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect_success(int code) {
  if (code != MPI_SUCCESS) fail("the call failed", code);
}

/* -- what the calls get -- */

typedef struct {
  int n, edges, sources[kMostEdges], degrees[kMostEdges], destinations[kMostEdges], weights[kMostEdges];
  double amounts[kMostEdges];
} Declared;

/* A power of two, so that nothing but the size of the numbers changes: no double holds the sum of some of them. */
static const double kHuge = 0x1p1012;

static void declare(Declared* mine) {
  mine->n = mine->edges = 0;
  for (int i = 0; i < graph.entry_count; ++i) {
    if (graph.entries[i].declarer != rank) continue;
    mine->sources[mine->n] = graph.entries[i].source;
    mine->degrees[mine->n++] = graph.entries[i].degree;
  }
  for (int i = 0; i < graph.edge_count; ++i) {
    if (graph.edges[i].declarer != rank) continue;
    mine->destinations[mine->edges] = graph.edges[i].destination;
    mine->weights[mine->edges] = graph.edges[i].weight;
    mine->amounts[mine->edges++] = graph.edges[i].weight;
  }
}

typedef struct {
  int in, out;
  int sources[kMostEdges], source_weights[kMostEdges], destinations[kMostEdges], destination_weights[kMostEdges];
} Neighbours;

/* The neighbours of a vertex by the model. */
static void neighbours_of(int vertex, int weighted, Neighbours* neighbours) {
  neighbours->in = neighbours->out = 0;
  for (int i = 0; i < graph.edge_count; ++i) {
    const Edge* edge = &graph.edges[i];
    const int weight = weighted ? edge->weight : 0;
    if (edge->destination == vertex) {
      neighbours->source_weights[neighbours->in] = weight;
      neighbours->sources[neighbours->in++] = edge->source;
    }
    if (edge->source == vertex) {
      neighbours->destination_weights[neighbours->out] = weight;
      neighbours->destinations[neighbours->out++] = edge->destination;
    }
  }
}

/* -- the result -- */

static int compare_pairs(const void* a, const void* b) {
  const int *first = a, *second = b;
  if (first[0] != second[0]) return first[0] < second[0] ? -1 : 1;
  return (first[1] > second[1]) - (first[1] < second[1]);
}

static void expect_same(int count, const int* peers, const int* weights, const int* expected_peers,
                        const int* expected_weights, int ordered) {
  static int found[kMostEdges][2], expected[kMostEdges][2];
  for (int i = 0; i < count; ++i) {
    found[i][0] = peers[i];
    found[i][1] = weights[i];
    expected[i][0] = expected_peers[i];
    expected[i][1] = expected_weights[i];
  }
  if (!ordered) qsort(found, (size_t)count, sizeof *found, compare_pairs);
  if (!ordered) qsort(expected, (size_t)count, sizeof *expected, compare_pairs);
  for (int i = 0; i < count; ++i) {
    if (found[i][0] != expected[i][0]) fail("not the neighbour declared", found[i][0]);
    if (found[i][1] != expected[i][1]) fail("not the weight declared", found[i][1]);
  }
}

static void expect_neighbours(MPI_Comm comm, int weighted, int ordered) {
  static Neighbours expected, found;
  int topology, in, out, is_weighted, vertex;
  MPI_Comm_rank(comm, &vertex);
  MPI_Topo_test(comm, &topology);
  if (topology != MPI_DIST_GRAPH) fail("not a distributed graph", topology);
  neighbours_of(vertex, weighted, &expected);
  expect_success(MPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted));
  if (in != expected.in) fail("not the indegree declared", in);
  if (out != expected.out) fail("not the outdegree declared", out);
  if (!is_weighted != !weighted) fail("weighted", is_weighted);
  memset(&found, 0, sizeof found);
  expect_success(MPI_Dist_graph_neighbors(comm, in, found.sources, weighted ? found.source_weights : MPI_UNWEIGHTED,
                                          out, found.destinations,
                                          weighted ? found.destination_weights : MPI_UNWEIGHTED));
  expect_same(in, found.sources, found.source_weights, expected.sources, expected.source_weights, ordered);
  expect_same(out, found.destinations, found.destination_weights, expected.destinations, expected.destination_weights,
              ordered);
}

/* Every rank sends its number along its edges. */
static void expect_messages(MPI_Comm comm, int weighted) {
  static Neighbours expected;
  static int sent[kMostEdges], received[kMostEdges];
  int vertex;
  MPI_Comm_rank(comm, &vertex);
  neighbours_of(vertex, weighted, &expected);
  for (int i = 0; i < expected.out; ++i) sent[i] = vertex;
  memset(received, 0xff, sizeof received);
  expect_success(MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm));
  static const int zeros[kMostEdges];
  expect_same(expected.in, received, zeros, expected.sources, zeros, 0);
}

static int value_of(MPI_Info info, const char* key, char* value) {
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, value, &found);
  return found;
}

/* Who is which rank now; 1 where some rank has changed. */
static int expect_permutation(int new_rank, int* owner) {
  int new_ranks[kMostRanks], seen[kMostRanks] = {0}, changed = 0;
  MPI_Allgather(&new_rank, 1, MPI_INT, new_ranks, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) {
    if (new_ranks[i] < 0 || new_ranks[i] >= size || seen[new_ranks[i]]++) fail("not a permutation", new_ranks[i]);
    owner[new_ranks[i]] = i;
    changed |= new_ranks[i] != i;
  }
  return changed;
}

static void expect_costs(MPI_Info info, const int* owner, int weighted, int changed) {
  static char text[MPI_MAX_INFO_VAL];
  int same[kMostRanks];
  for (int i = 0; i < size; ++i) same[i] = i;
  const double before = cost_of(&graph, same, weighted), after = cost_of(&graph, owner, weighted);
  if (changed ? after >= before : after != before) fail("the cost rose", after - before);
  if (!value_of(info, "ranktree_reorder_before", text) || atof(text) != before) fail(text, before);
  if (!value_of(info, "ranktree_reorder_after", text) || atof(text) != after) fail(text, after);
}

/* A cost too large for a double is not reported. */
static void expect_huge_cost(MPI_Info info, const char* key, double expected) {
  static char text[MPI_MAX_INFO_VAL];
  const int reported = value_of(info, key, text);
  if (!reported != !isfinite(expected)) fail(key, expected);
  if (reported && atof(text) != expected) fail(text, expected);
}

/* The processes are all there; the cost is what the model computes, and no more than before. */
static void expect_order(MPI_Comm comm, int new_rank, int weighted, const char* mode, int reorder) {
  static char text[MPI_MAX_INFO_VAL];
  int owner[kMostRanks];
  MPI_Info info;
  const int changed = expect_permutation(new_rank, owner);
  renumbered += changed;
  if (!reorder && changed) fail("reordered though reorder = 0", 0);
  expect_success(ranktree_Comm_get_info(comm, &info));
  if (!value_of(info, "ranktree_reorder", text)) fail("expected the key ranktree_reorder", 0);
  if (changed != (strcmp(text, "identity") != 0)) fail(text, changed);
  if (changed && strcmp(mode, "auto") != 0 && strcmp(text, mode) != 0) fail(text, 0);
  if (strcmp(mode, "node") == 0 && !same_node(rank, owner[rank])) fail("changed nodes", rank);
  if (value_of(info, "ranktree_reorder_reason", text) == changed) fail("a reason, or none", changed);
  if (reorder) expect_costs(info, owner, weighted, changed);
  if (!reorder && value_of(info, "ranktree_reorder_before", text)) fail("a cost though reorder = 0", 0);
  MPI_Info_free(&info);
}

/* -- the calls -- */

static void try_dist_graph(int weighted, int reorder, MPI_Info info, const char* mode) {
  static Declared mine;
  MPI_Comm comm = MPI_COMM_NULL;
  int new_rank;
  declare(&mine);
  call = "Dist_graph_create";
  /* As C++ programs pass empty vectors: sources without edges, and no weights. */
  const int* none = mine.n == 0 ? MPI_WEIGHTS_EMPTY : NULL;
  const int* weights = !weighted ? MPI_UNWEIGHTED : mine.edges == 0 ? none : mine.weights;
  expect_success(ranktree_Dist_graph_create(MPI_COMM_WORLD, mine.n, mine.n > 0 ? mine.sources : NULL, mine.degrees,
                                            mine.edges > 0 ? mine.destinations : NULL, weights, info, reorder, &comm));
  expect_neighbours(comm, weighted, 0);
  expect_messages(comm, weighted);
  MPI_Comm_rank(comm, &new_rank);
  expect_order(comm, new_rank, weighted, mode, reorder);
  MPI_Comm_free(&comm);
}

static void try_adjacent(int weighted, int reorder, MPI_Info info, const char* mode) {
  static Neighbours mine;
  MPI_Comm comm = MPI_COMM_NULL;
  int new_rank;
  neighbours_of(rank, weighted, &mine);
  call = "Dist_graph_create_adjacent";
  const int* in = !weighted ? MPI_UNWEIGHTED : mine.in == 0 ? MPI_WEIGHTS_EMPTY : mine.source_weights;
  const int* out = !weighted ? MPI_UNWEIGHTED : mine.out == 0 ? MPI_WEIGHTS_EMPTY : mine.destination_weights;
  expect_success(ranktree_Dist_graph_create_adjacent(MPI_COMM_WORLD, mine.in, mine.sources, in, mine.out,
                                                     mine.destinations, out, info, reorder, &comm));
  expect_neighbours(comm, weighted, 1);
  expect_messages(comm, weighted);
  MPI_Comm_rank(comm, &new_rank);
  expect_order(comm, new_rank, weighted, mode, reorder);
  MPI_Comm_free(&comm);
}

/* Weights up to the largest double give the order that small ones do. */
static void try_huge(Declared* mine, int expected, MPI_Info info) {
  int new_rank = -1, owner[kMostRanks], same[kMostRanks], edges = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info reported;
  call = "Comm_reorder, huge weights";
  for (int i = 0; i < mine->n; ++i) edges += mine->degrees[i];
  for (int i = 0; i < edges; ++i) mine->amounts[i] *= kHuge;
  expect_success(ranktree_Comm_reorder(MPI_COMM_WORLD, mine->n, mine->sources, mine->degrees, mine->destinations,
                                       mine->amounts, info, &new_rank, &comm));
  if (new_rank != expected) fail("not the rank that small weights give", new_rank);
  expect_permutation(new_rank, owner);
  for (int i = 0; i < size; ++i) same[i] = i;
  expect_success(ranktree_Comm_get_info(comm, &reported));
  expect_huge_cost(reported, "ranktree_reorder_before", cost_of(&graph, same, 1) * kHuge);
  expect_huge_cost(reported, "ranktree_reorder_after", cost_of(&graph, owner, 1) * kHuge);
  MPI_Info_free(&reported);
  MPI_Comm_free(&comm);
}

static void try_reorder(int weighted, MPI_Info info, const char* mode) {
  static Declared mine;
  MPI_Comm comm = MPI_COMM_NULL;
  int new_rank = -1, rank_in_comm, again = -1;
  declare(&mine);
  call = "Comm_reorder";
  double nothing = 0;
  const double* weights = !weighted ? NULL : mine.n == 0 ? &nothing : mine.amounts;
  expect_success(ranktree_Comm_reorder(MPI_COMM_WORLD, mine.n, mine.sources, mine.degrees, mine.destinations, weights,
                                       info, &new_rank, &comm));
  MPI_Comm_rank(comm, &rank_in_comm);
  if (rank_in_comm != new_rank) fail("newrank is not the rank in newcomm", new_rank);
  expect_order(comm, new_rank, weighted, mode, 1);
  expect_success(ranktree_Comm_reorder(MPI_COMM_WORLD, mine.n, mine.sources, mine.degrees, mine.destinations, weights,
                                       info, &again, NULL));
  if (again != new_rank) fail("the same arguments gave another rank", again);
  MPI_Comm_free(&comm);
  if (weighted) try_huge(&mine, new_rank, info);
}

/* The edges among the first `nodes` vertices; every edge also reversed where `symmetric`. */
static void keep_first(int nodes, int symmetric) {
  int kept = 0;
  for (int i = 0; i < graph.edge_count; ++i) {
    if (graph.edges[i].source < nodes && graph.edges[i].destination < nodes) graph.edges[kept++] = graph.edges[i];
  }
  graph.edge_count = kept;
  for (int i = 0; symmetric && i < kept; ++i) {
    const Edge* edge = &graph.edges[i];
    if (edge->source == edge->destination) continue;
    if (graph.edge_count == kMostEdges) fail("too many edges", kept);
    graph.edges[graph.edge_count++] = (Edge){edge->declarer, edge->destination, edge->source, edge->weight};
  }
}

/* Every process of a symmetric graph sends its number to its neighbours. */
static void expect_graph_messages(MPI_Comm comm, const int* neighbours, int many) {
  static int sent[kMostEdges], received[kMostEdges];
  int vertex;
  MPI_Comm_rank(comm, &vertex);
  for (int i = 0; i < many; ++i) sent[i] = vertex, received[i] = -7;
  expect_success(MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm));
  for (int i = 0; i < many; ++i) {
    if (received[i] != neighbours[i]) fail("not the neighbour's number", received[i]);
  }
}

/* Collective over all ranks: those that own a vertex, each another one, at the cost that is reported and no more than
 * before. */
static void expect_graph_order(MPI_Comm comm, int nodes, int reorder) {
  static char text[MPI_MAX_INFO_VAL];
  int vertex = -1, vertices[kMostRanks], owner[kMostRanks], seen[kMostRanks] = {0}, changed = 0, owned = 0;
  MPI_Info info;
  if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &vertex);
  MPI_Allgather(&vertex, 1, MPI_INT, vertices, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) {
    if (vertices[i] < 0) continue;
    if (vertices[i] >= nodes || seen[vertices[i]]++) fail("not a vertex of its own", vertices[i]);
    owner[vertices[i]] = i;
    changed |= vertices[i] != i;
    ++owned;
  }
  if (owned != nodes) fail("not so many ranks as nodes", owned);
  if (!reorder && changed) fail("reordered though reorder = 0", 0);
  renumbered += changed;
  if (comm == MPI_COMM_NULL) return;
  expect_success(ranktree_Comm_get_info(comm, &info));
  if (!value_of(info, "ranktree_reorder", text)) fail("expected the key ranktree_reorder", 0);
  if (changed && strcmp(text, "identity") == 0) fail(text, changed);
  if (!reorder && strcmp(text, "identity") != 0) fail(text, reorder);
  if (!reorder && (!value_of(info, "ranktree_reorder_reason", text) || !strstr(text, "reorder is 0"))) fail(text, 0);
  if (reorder) expect_costs(info, owner, 0, changed);
  MPI_Info_free(&info);
}

/* The first `nodes` vertices of the graph, every edge once. */
static void try_graph(int nodes, int reorder, int symmetric) {
  static int index[kMostRanks + 1], edges[kMostEdges], found[kMostEdges];
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Group group;
  int count = 0, topology, vertex = -1, many, members;
  keep_first(nodes, symmetric);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < graph.edge_count; ++j) {
      if (graph.edges[j].source == i) edges[count++] = graph.edges[j].destination;
    }
    index[i] = count;
  }
  call = "Graph_create";
  expect_success(ranktree_Graph_create(MPI_COMM_WORLD, nodes, index, edges, reorder, &comm));
  expect_graph_order(comm, nodes, reorder);
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &vertex);
  MPI_Topo_test(comm, &topology);
  if (topology != MPI_GRAPH) fail("not a graph", topology);
  MPI_Comm_group(comm, &group);
  MPI_Group_size(group, &members);
  if (members != nodes) fail("a group of other processes", members);
  MPI_Group_free(&group);
  expect_success(MPI_Graph_neighbors_count(comm, vertex, &many));
  const int begin = vertex == 0 ? 0 : index[vertex - 1];
  if (many != index[vertex] - begin) fail("not so many neighbours", many);
  expect_success(MPI_Graph_neighbors(comm, vertex, many, found));
  for (int i = 0; i < many; ++i) {
    if (found[i] != edges[begin + i]) fail("not the neighbour declared", found[i]);
  }
  if (symmetric) expect_graph_messages(comm, found, many);
  MPI_Comm_free(&comm);
}

/* SPLIT_NODES names the node of each rank, "aab": nodes by the environment, from now on. In the folder
 * SPLIT_NETWORKS each has a file of its switches. */
static MPI_Info nodes_of_environment(void) {
  const char* nodes = getenv("SPLIT_NODES");
  MPI_Info info;
  MPI_Comm part;
  MPI_Info_create(&info);
  if (nodes == NULL) return info;
  const char name[2] = {nodes[rank], 0};
  setenv("RANKTREE_NODE_ID", name, 1);
  MPI_Info_set(info, "ranktree_node_id", "env");
  const char* folder = getenv("SPLIT_NETWORKS");
  char path[4096] = "";
  if (folder != NULL) snprintf(path, sizeof path, "%s/%s", folder, name);
  if (folder != NULL) setenv("RANKTREE_NETWORK", path, 1);
  MPI_Info_set(info, "ranktree_network", folder != NULL ? "auto" : "none");
  call = "Comm_hsplit";
  expect_success(ranktree_Comm_hsplit(MPI_COMM_WORLD, 0, info, &part));
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  return info;
}

static void one_round(unsigned long long* state, MPI_Info nodes, const char* mode, int kind) {
  static const char* const modes[] = {"auto", "central", "node", "distributed"};
  static const char* const presets[] = {"fast", "default"};
  const char* chosen = modes[draw(state, (int)(sizeof modes / sizeof *modes))];
  if (strcmp(mode, "any") != 0) chosen = mode;
  const int chosen_kind = draw(state, kGraphKinds), weighted = draw(state, 3) > 0, reorder = draw(state, 6) > 0;
  MPI_Info info;
  MPI_Info_dup(nodes, &info);
  MPI_Info_set(info, "ranktree_reorder_mode", chosen);
  MPI_Info_set(info, "ranktree_preset", presets[draw(state, 2)]);
  const int central = strcmp(chosen, "auto") == 0 || strcmp(chosen, "central") == 0;
  if (central && draw(state, 3) == 0) MPI_Info_set(info, "ranktree_algorithm", "treematch");
  make_graph(&graph, size, kind >= 0 ? kind : chosen_kind, *state);
  try_dist_graph(weighted, reorder, info, chosen);
  try_adjacent(weighted, reorder, info, chosen);
  try_reorder(weighted, info, chosen);
  const int vertices = draw(state, size + 1);
  try_graph(vertices, reorder, draw(state, 2));
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  cpu_set_t before, after;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned long long state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 1;
  if (size > kMostRanks) fail("too many ranks", size);
  MPI_Info nodes = nodes_of_environment();
  learn_machine(MPI_COMM_WORLD);
  sched_getaffinity(0, sizeof before, &before);
  for (round_number = 0; round_number < rounds; ++round_number) {
    one_round(&state, nodes, argc > 3 ? argv[3] : "any", argc > 4 ? atoi(argv[4]) : -1);
  }
  sched_getaffinity(0, sizeof after, &after);
  MPI_Info_free(&nodes);
  if (!CPU_EQUAL(&before, &after)) fail("the binding was changed", 0);
  if (rank == 0) printf("%d rounds agree, %d orders changed\n", rounds, renumbered);
  MPI_Finalize();
  return 0;
}
