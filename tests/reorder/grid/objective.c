/* The info key ranktree_objective: it changes the order of some graphs, what it names falls, and bad values are
 * refused. Usage: objective SEED ROUNDS. Prints for each objective in how many graphs the order by bytes was improved.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"
#include "reorder_model.h"

enum { kObjectives = 3 };
static const char* const objectives[kObjectives] = {"messages", "bottleneck", "time"};

static int rank, size, round_number;
static const char* pattern;    /* the key ranktree_pattern, unless NULL */
static const char* parameters; /* the key ranktree_parameters, unless NULL */

/* Of all pairs, the same on all ranks; entries below the diagonal. */
static double weights[kMostRanks][kMostRanks];

static void fail(const char* text, double found) {
  fprintf(stderr, "rank %d, round %d: %s, found %.17g\n", rank, round_number, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Info keys(const char* objective, const char* mode) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_objective", objective);
  MPI_Info_set(info, "ranktree_reorder_mode", mode);
  if (pattern != NULL) MPI_Info_set(info, "ranktree_pattern", pattern);
  if (parameters != NULL) MPI_Info_set(info, "ranktree_parameters", parameters);
  if (getenv("SPLIT_NODES") == NULL) return info;
  MPI_Info_set(info, "ranktree_node_id", "env");
  MPI_Info_set(info, "ranktree_network", "none");
  return info;
}

static double number_of(MPI_Comm comm, const char* key) {
  char text[MPI_MAX_INFO_VAL];
  int found = 0;
  MPI_Info info;
  ranktree_Comm_get_info(comm, &info);
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, text, &found);
  MPI_Info_free(&info);
  if (!found) fail(key, 0);
  return atof(text);
}

static int is_unchanged(MPI_Comm comm) {
  char text[MPI_MAX_INFO_VAL] = "";
  int found = 0;
  MPI_Info info;
  ranktree_Comm_get_info(comm, &info);
  MPI_Info_get(info, "ranktree_reorder", MPI_MAX_INFO_VAL - 1, text, &found);
  MPI_Info_free(&info);
  return strcmp(text, "identity") == 0;
}

/* The topologies of the same graph are in the same order as `expected`. */
static void expect_graphs(MPI_Comm comm, MPI_Info info, MPI_Comm expected) {
  int mine, in = 0, out = 0, from[kMostRanks], to[kMostRanks], received[kMostRanks], sent[kMostRanks];
  MPI_Comm graphs[2];
  MPI_Comm_rank(comm, &mine);
  for (int i = 0; i < size; ++i) {
    if (i < mine && weights[mine][i] > 0) to[out] = i, sent[out++] = (int)weights[mine][i];
    if (i > mine && weights[i][mine] > 0) from[in] = i, received[in++] = (int)weights[i][mine];
  }
  ranktree_Dist_graph_create(comm, 1, &mine, &out, to, sent, info, 1, &graphs[0]);
  ranktree_Dist_graph_create_adjacent(comm, in, from, received, out, to, sent, info, 1, &graphs[1]);
  for (int k = 0; k < 2; ++k) {
    int same = MPI_UNEQUAL;
    MPI_Comm_compare(graphs[k], expected, &same);
    if (same != MPI_CONGRUENT) fail("a graph in another order than ranktree_Comm_reorder", k);
    MPI_Comm_free(&graphs[k]);
  }
}

/* Vertex v of the graph is rank v of comm: each rank declares its edges to lower ones. */
static MPI_Comm reordered(MPI_Comm comm, const char* objective) {
  int mine, newrank, degree = 0, to[kMostRanks];
  double amounts[kMostRanks];
  MPI_Comm made;
  MPI_Comm_rank(comm, &mine);
  for (int i = 0; i < mine; ++i) {
    if (weights[mine][i] > 0) to[degree] = i, amounts[degree++] = weights[mine][i];
  }
  MPI_Info info = keys(objective, "auto");
  if (ranktree_Comm_reorder(comm, 1, &mine, &degree, to, amounts, info, &newrank, &made) != MPI_SUCCESS) {
    fail("a call failed", 0);
  }
  expect_graphs(comm, info, made);
  MPI_Info_free(&info);
  return made;
}

/* Hops of all edges, each once, or times its weight. */
static double model(MPI_Comm comm, int weighted) {
  int owner[kMostRanks];
  double cost = 0;
  MPI_Allgather(&rank, 1, MPI_INT, owner, 1, MPI_INT, comm);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < i; ++j) {
      if (weights[i][j] > 0) cost += hops(owner[i], owner[j]) * (weighted ? weights[i][j] : 1);
    }
  }
  return cost;
}

static void one_round(unsigned long long* state, int* improved) {
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < i; ++j) weights[i][j] = draw(state, 2) == 0 ? 0 : 1 + draw(state, 100000);
  }
  MPI_Comm by_bytes = reordered(MPI_COMM_WORLD, "bytes");
  if (number_of(by_bytes, "ranktree_reorder_after") != model(by_bytes, 1)) fail("not the model's bytes", 0);
  for (int k = 0; k < kObjectives; ++k) {
    MPI_Comm made = reordered(by_bytes, objectives[k]);
    const double before = number_of(made, "ranktree_reorder_before"), after = number_of(made, "ranktree_reorder_after");
    if (is_unchanged(made) ? after != before : !(after < before)) fail(objectives[k], after - before);
    improved[k] += !is_unchanged(made);
    if (k == 0 && (before != model(by_bytes, 0) || after != model(made, 0))) fail("not the model's messages", after);
    MPI_Comm_free(&made);
  }
  MPI_Comm_free(&by_bytes);
}

/* -- what links cost -- */

/* The seconds of the current order of all pairs, or of a row of all ranks. */
static double seconds_by(const char* links, int grid) {
  int dims[1] = {0}, newrank, degree = 0, to[kMostRanks];
  const int periods[1] = {0};
  double amounts[kMostRanks];
  MPI_Comm made;
  parameters = links;
  for (int i = 0; i < rank; ++i) to[degree] = i, amounts[degree++] = 1e6;
  MPI_Info info = keys("time", "auto");
  const int code = grid ? ranktree_Cart_create_weighted(MPI_COMM_WORLD, 1, NULL, periods, info, dims, &made)
                        : ranktree_Comm_reorder(MPI_COMM_WORLD, 1, &rank, &degree, to, amounts, info, &newrank, &made);
  if (code != MPI_SUCCESS) fail("a call failed", code);
  const double seconds = number_of(made, "ranktree_reorder_before");
  MPI_Comm_free(&made);
  MPI_Info_free(&info);
  return seconds;
}

static void expect_faster_links(void) {
  for (int grid = 0; grid < 2; ++grid) {
    const double slow = seconds_by("ethernet-1g", grid), fast = seconds_by("infiniband-100g", grid);
    if (!(fast < slow / 4)) fail("links of 100 Gbit/s hardly faster than of 1 Gbit/s", slow / fast);
  }
}

/* -- values that are refused -- */

static void expect_refusal(const char* objective, const char* mode, int rebalance, const char* text) {
  int newrank, found, length, none = 0;
  char reason[1024];
  MPI_Comm comm, made = MPI_COMM_SELF;
  MPI_Info info = keys(objective, mode);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int code = rebalance ? ranktree_Comm_rebalance(comm, info, NULL, &made)
                             : ranktree_Comm_reorder(comm, 0, &none, &none, &none, NULL, info, &newrank, &made);
  MPI_Error_class(code, &found);
  if (found != MPI_ERR_ARG || made != MPI_COMM_SELF) fail("not refused", found);
  ranktree_Comm_get_message(comm, reason, sizeof reason, &length);
  if (strstr(reason, text) == NULL) fail(reason, 0);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
}

/* A file that cannot be read: the order stays, and the reason names it. */
static void expect_same_order(const char* file) {
  int newrank, none = 0;
  MPI_Comm made;
  MPI_Info info = keys("time", "auto");
  if (ranktree_Comm_reorder(MPI_COMM_WORLD, 0, &none, &none, &none, NULL, info, &newrank, &made) != MPI_SUCCESS ||
      newrank != rank || !is_unchanged(made))
    fail("another order", newrank);
  char reason[MPI_MAX_INFO_VAL] = "";
  int found = 0;
  MPI_Info of_order;
  ranktree_Comm_get_info(made, &of_order);
  MPI_Info_get(of_order, "ranktree_reorder_reason", MPI_MAX_INFO_VAL - 1, reason, &found);
  if (strstr(reason, file) == NULL) fail(reason, found);
  MPI_Info_free(&of_order);
  MPI_Comm_free(&made);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  int improved[kObjectives] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned long long state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 1;
  use_nodes_of_environment(MPI_COMM_WORLD);
  learn_machine(MPI_COMM_WORLD);
  for (round_number = 0; round_number < rounds; ++round_number) one_round(&state, improved);
  expect_refusal("speed", "auto", 0, "expected one of bytes, messages, bottleneck, time, found 'speed'");
  expect_refusal("time", "distributed", 0, "expected bytes or messages beside ranktree_reorder_mode = distributed");
  expect_refusal("bottleneck", "node", 0, "expected bytes or messages beside ranktree_reorder_mode = node");
  expect_refusal("time", "auto", 1, "ranktree_Comm_rebalance expects bytes, found 'time'");
  pattern = "/nowhere.npz";
  expect_refusal("bytes", "auto", 0, "ranktree_pattern: expected ranktree_objective = bottleneck or time beside it");
  expect_same_order(pattern);
  pattern = NULL;
  parameters = "/nowhere.json";
  expect_refusal("bytes", "auto", 0, "ranktree_parameters: expected ranktree_objective = bottleneck or time beside it");
  expect_same_order(parameters);
  if (getenv("SPLIT_NODES") != NULL) expect_faster_links();
  if (rank == 0) {
    for (int k = 0; k < kObjectives; ++k) printf("%s %d, ", objectives[k], improved[k]);
    printf("refusals agree\n");
  }
  MPI_Finalize();
  return 0;
}
