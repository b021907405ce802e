#include "reorder_model.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

enum { kDepth = 24, kLevels = 32 };

typedef struct {
  int length;
  char types[kDepth][RANKTREE_MAX_TYPE];
  int64_t ids[kDepth];
} Place;

static Place places[kMostRanks];
static int place_count;
static int level_hops[kLevels]; /* by level_number() */

/* From the outside in. Groups are not in the machines of these tests. */
static const char* const kNames[] = {"Cluster", "Switch0", "Switch1", "Node",    "Package", "Die",  "NUMANode",
                                     "L5Cache", "L4Cache", "L3Cache", "L2Cache", "L1Cache", "Core", "PU"};
enum { kNameCount = sizeof kNames / sizeof *kNames };

static int level_number(const char* type) {
  for (int i = 0; i < kNameCount; ++i) {
    if (strcmp(kNames[i], type) == 0) return i;
  }
  fprintf(stderr, "a level named %s\n", type);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return -1;
}

static int shared_links(const Place* a, const Place* b) {
  int shared = 0;
  while (shared < a->length && shared < b->length && strcmp(a->types[shared], b->types[shared]) == 0 &&
         a->ids[shared] == b->ids[shared]) {
    ++shared;
  }
  return shared;
}

static int common_level(int a, int b) {
  const int shared = shared_links(&places[a], &places[b]);
  return shared == 0 ? 0 : level_number(places[a].types[shared - 1]);
}

/* A level branches where two ranks have their lowest common ancestor there. A path between two ranks climbs and
 * descends one edge for every level that branches, from the common ancestor down. */
static void count_hops(void) {
  int branches[kLevels] = {0};
  for (int a = 0; a < place_count; ++a) {
    for (int b = 0; b < a; ++b) branches[common_level(a, b)] = 1;
  }
  memset(level_hops, 0, sizeof level_hops);
  for (int level = kNameCount; level-- > 0;) level_hops[level] = level_hops[level + 1] + 2 * branches[level];
}

void use_nodes_of_environment(MPI_Comm comm) {
  const char* nodes = getenv("SPLIT_NODES");
  int rank;
  MPI_Info info;
  MPI_Comm part;
  if (nodes == NULL) return;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char name[2] = {nodes[rank], 0};
  setenv("RANKTREE_NODE_ID", name, 1);
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_node_id", "env");
  MPI_Info_set(info, "ranktree_network", "none");
  if (ranktree_Comm_hsplit(comm, 0, info, &part) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Info_free(&info);
}

void learn_machine(MPI_Comm comm) {
  MPI_Comm_size(comm, &place_count);
  for (int rank = 0; rank < place_count; ++rank) {
    Place* place = &places[rank];
    ranktree_Comm_get_location(comm, rank, kDepth, &place->length, place->types, place->ids);
  }
  count_hops();
}

int hops(int a, int b) { return a == b ? 0 : level_hops[common_level(a, b)]; }

int same_node(int a, int b) {
  const int shared = shared_links(&places[a], &places[b]);
  for (int i = 0; i < shared; ++i) {
    if (strcmp(places[a].types[i], "Node") == 0) return 1;
  }
  return 0;
}

double cost_of(const Graph* graph, const int* owner, int weighted) {
  double cost = 0;
  for (int i = 0; i < graph->edge_count; ++i) {
    const Edge* edge = &graph->edges[i];
    cost += (double)hops(owner[edge->source], owner[edge->destination]) * (weighted ? edge->weight : 1);
  }
  return cost;
}

int draw(unsigned long long* state, int bound) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((*state >> 33) % (unsigned long long)bound);
}

static void add_entry(Graph* graph, int declarer, int source) {
  const Entry entry = {declarer, source, 0};
  if (graph->entry_count == kMostEdges) MPI_Abort(MPI_COMM_WORLD, 1);
  graph->entries[graph->entry_count++] = entry;
}

/* Belongs to the entry added last. */
static void add_edge(Graph* graph, int destination, int weight) {
  Entry* entry = &graph->entries[graph->entry_count - 1];
  const Edge edge = {entry->declarer, entry->source, destination, weight};
  if (graph->edge_count == kMostEdges) MPI_Abort(MPI_COMM_WORLD, 1);
  graph->edges[graph->edge_count++] = edge;
  ++entry->degree;
}

static void add_random_entries(Graph* graph, int declarer, int most, unsigned long long* state) {
  const int count = draw(state, most + 1);
  for (int i = 0; i < count; ++i) {
    add_entry(graph, declarer, draw(state, graph->ranks));
    const int degree = draw(state, 4);
    for (int j = 0; j < degree; ++j) {
      const int destination = draw(state, graph->ranks);
      const int weight = draw(state, 3) * draw(state, 1000);
      add_edge(graph, destination, weight);
      if (draw(state, 5) == 0) add_edge(graph, destination, draw(state, 2) == 0 ? weight : 7);
    }
  }
}

/* By whichever rank: declarers ascend, so that entries stay sorted by them. */
static void add_known(Graph* graph, int kind, unsigned long long* state) {
  const int ranks = graph->ranks;
  for (int declarer = 0, vertex = 0; declarer < ranks; ++declarer) {
    int mine = declarer == ranks - 1 ? ranks - vertex : draw(state, 3);
    for (; mine > 0 && vertex < ranks; --mine, ++vertex) {
      add_entry(graph, declarer, vertex);
      add_edge(graph, kind == 3 ? (vertex + ranks / 2) % ranks : (vertex + 1) % ranks, 1000);
      if (kind == 3) add_edge(graph, (vertex + 1) % ranks, 1);
    }
  }
}

void make_graph(Graph* graph, int ranks, int kind, unsigned long long seed) {
  unsigned long long state = seed;
  for (int i = 0; i < 8; ++i) draw(&state, 2);
  graph->ranks = ranks;
  graph->entry_count = graph->edge_count = 0;
  if (kind == 0) {
    for (int rank = 0; rank < ranks; ++rank) add_random_entries(graph, rank, draw(&state, 3) == 0 ? 0 : 6, &state);
  } else if (kind == 1) {
    add_random_entries(graph, draw(&state, ranks), 4 * ranks, &state);
  } else if (kind > 2) {
    add_known(graph, kind, &state);
  }
}
