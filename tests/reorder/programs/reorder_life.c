/* Communicators come and go; what is known of them. Usage: reorder_life CASE [ARGUMENT] */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

static int rank, size;

static void fail(const char* text, double found) {
  fprintf(stderr, "rank %d: %s, found %g\n", rank, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static long resident_kilobytes(void) {
  long kilobytes = 0;
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "VmRSS: %ld", &kilobytes);
  if (status != NULL) fclose(status);
  return kilobytes;
}

static char* value_of(MPI_Comm comm, const char* key) {
  static char value[MPI_MAX_INFO_VAL];
  MPI_Info info = MPI_INFO_NULL;
  int found = 0;
  if (ranktree_Comm_get_info(comm, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) fail("no info", 0);
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, value, &found);
  MPI_Info_free(&info);
  return found ? value : NULL;
}

static void expect_value(MPI_Comm comm, const char* key, const char* expected) {
  const char* found = value_of(comm, key);
  if ((found == NULL) != (expected == NULL) || (found != NULL && strstr(found, expected) == NULL)) {
    fprintf(stderr, "rank %d: %s: expected %s, found %s\n", rank, key, expected ? expected : "none",
            found ? found : "none");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* k with k + P/2: what round robin over two halves of a machine places apart. */
static MPI_Comm far_pairs(MPI_Info info, int reorder) {
  MPI_Comm comm = MPI_COMM_NULL;
  const int one = 1, partner = (rank + size / 2) % size, weight = 1000;
  if (ranktree_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &partner, &weight, info, reorder, &comm) !=
      MPI_SUCCESS) {
    fail("the call failed", 0);
  }
  return comm;
}

/* An MPI has some thousand communicators in all: a lost one would be missed long before the end. */
static void repeat(int times) {
  long before = 0;
  static const char* const modes[] = {"central", "node", "distributed"};
  for (int i = 0; i < times; ++i) {
    MPI_Comm made, only_order;
    MPI_Info info;
    int newrank;
    const int one = 1, partner = (rank + size / 2) % size;
    const int index[] = {1, 2}, edges[] = {1, 0};
    MPI_Info_create(&info);
    MPI_Info_set(info, "ranktree_reorder_mode", modes[i % 3]);
    made = far_pairs(info, i % 5 != 0);
    MPI_Comm_free(&made);
    ranktree_Comm_reorder(MPI_COMM_WORLD, 1, &rank, &one, &partner, NULL, info, &newrank, &only_order);
    MPI_Comm_free(&only_order);
    ranktree_Graph_create(MPI_COMM_WORLD, size < 2 ? 0 : 2, index, edges, 1, &made);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Info_free(&info);
    if (i == times / 10) before = resident_kilobytes();
  }
  const long grown = resident_kilobytes() - before;
  if (grown > 4096) fail("expected no growth, kilobytes", (double)grown);
}

/* Four ranks on two packages, round robin. */
static void info(void) {
  MPI_Comm plain, made, copy, same;
  const char* changed = size == 4 ? "central" : "identity";
  expect_value(MPI_COMM_WORLD, "ranktree_reorder", NULL);
  made = far_pairs(MPI_INFO_NULL, 1);
  expect_value(made, "ranktree_reorder", changed);
  MPI_Comm_dup(made, &copy);
  MPI_Comm_split(made, 0, 0, &plain);
  expect_value(copy, "ranktree_reorder", changed);
  expect_value(plain, "ranktree_reorder", NULL);
  MPI_Comm part;
  ranktree_Comm_split_type(made, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
  expect_value(part, "ranktree_reorder", NULL);
  MPI_Comm_free(&part);
  if (size == 4) {
    /* Pairs 0-2 and 1-3, twice 1000 each, meet in their packages already when ranks alternate; not when packed. */
    expect_value(copy, "ranktree_reorder_before", "16000");
    expect_value(copy, "ranktree_reorder_after", "8000");
    expect_value(copy, "ranktree_reorder_reason", NULL);
  }
  same = far_pairs(MPI_INFO_NULL, 0);
  expect_value(same, "ranktree_reorder", "identity");
  expect_value(same, "ranktree_reorder_reason", "reorder is 0");
  expect_value(same, "ranktree_reorder_before", NULL);
  MPI_Comm_free(&plain);
  MPI_Comm_free(&made);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&same);
}

/* hwloc fails on the rank that SPLIT_BROKEN_RANK names, then no longer. */
static void broken_hwloc(void) {
  const int broken = atoi(getenv("SPLIT_BROKEN_RANK"));
  int newrank;
  if (rank == broken) setenv("HWLOC_COMPONENTS", "stop", 1);
  MPI_Comm made = far_pairs(MPI_INFO_NULL, 1);
  MPI_Comm_rank(made, &newrank);
  if (newrank != rank) fail("renumbered though the slots of some ranks are unknown", newrank);
  expect_value(made, "ranktree_reorder", "identity");
  expect_value(made, "ranktree_reorder_reason", "hwloc");
  MPI_Comm_free(&made);
  unsetenv("HWLOC_COMPONENTS");
  made = far_pairs(MPI_INFO_NULL, 1);
  expect_value(made, "ranktree_reorder_reason", size == 4 ? NULL : "no order");
  MPI_Comm_free(&made);
}

/* A million edges cannot be placed in one millisecond. */
static void late(const char* mode) {
  enum { kEdges = 300000 };
  int* destinations = malloc(kEdges * sizeof(int));
  const int degree = kEdges;
  int newrank;
  MPI_Comm made;
  MPI_Info limit;
  for (int i = 0; i < kEdges; ++i) destinations[i] = (int)(((long)i * 7919 + rank) % size);
  MPI_Info_create(&limit);
  MPI_Info_set(limit, "ranktree_time_limit_ms", "1");
  MPI_Info_set(limit, "ranktree_reorder_mode", mode);
  ranktree_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, destinations, MPI_UNWEIGHTED, limit, 1, &made);
  MPI_Comm_rank(made, &newrank);
  if (newrank != rank) fail("renumbered after the time limit", newrank);
  expect_value(made, "ranktree_reorder", "identity");
  expect_value(made, "ranktree_reorder_reason", "time limit of 1 ms");
  /* Where every rank looks at the clock before anything is counted, the cost is not known. */
  if (strcmp(mode, "distributed") == 0) expect_value(made, "ranktree_reorder_before", NULL);
  if (strcmp(mode, "distributed") == 0) expect_value(made, "ranktree_reorder_after", NULL);
  MPI_Comm_free(&made);
  MPI_Info_free(&limit);
  free(destinations);
}

/* Rank 0 gets the whole file: 0 -> 1 with 5 bytes in 2 messages and 2 -> 0 with 3e9 bytes in 1, of 3 ranks. */
static void pattern(const char* file) {
  int n = -1, *sources = &n, *degrees = &n, *destinations = &n, *weights = &n;
  if (ranktree_read_pattern(file, MPI_COMM_WORLD, "size", &n, &sources, &degrees, &destinations, &weights) !=
      MPI_SUCCESS) {
    fail("the call failed", 0);
  }
  if (rank > 0) {
    if (n != 0 || sources || degrees || destinations || weights) fail("not empty", n);
    return;
  }
  if (n != 3) fail("not the number of ranks", n);
  for (int i = 0; i < 3; ++i) {
    if (sources[i] != i) fail("not a source", sources[i]);
    if (degrees[i] != (i == 1 ? 0 : 1)) fail("not a degree", degrees[i]);
  }
  if (destinations[0] != 1 || destinations[1] != 0) fail("not a destination", destinations[0]);
  /* 3e9 becomes 2^31-1, and 5 shrinks with it to 3.58. */
  if (weights[0] != 4 || weights[1] != 2147483647) fail("not a weight", weights[0]);
  free(sources);
  free(degrees);
  free(destinations);
  free(weights);
}

static void metrics(const char* file) {
  static const struct {
    const char* metric;
    int first, second;
  } expected[] = {{"size", 7, 9}, {"msg", 2, 3}, {"avg", 4, 3}}; /* 7 / 2 is rounded up */
  for (int i = 0; i < 3; ++i) {
    int n, *sources, *degrees, *destinations, *weights;
    if (ranktree_read_pattern(file, MPI_COMM_WORLD, expected[i].metric, &n, &sources, &degrees, &destinations,
                              &weights) != MPI_SUCCESS) {
      fail("the call failed", i);
    }
    if (rank > 0) continue;
    if (weights[0] != expected[i].first || weights[1] != expected[i].second) fail("not a weight", weights[0]);
    free(sources);
    free(degrees);
    free(destinations);
    free(weights);
  }
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(name, "repeat") == 0) repeat(atoi(argument));
  if (strcmp(name, "info") == 0) info();
  if (strcmp(name, "broken") == 0) broken_hwloc();
  if (strcmp(name, "late") == 0) late(argument);
  if (strcmp(name, "pattern") == 0) pattern(argument);
  if (strcmp(name, "metrics") == 0) metrics(argument);
  if (rank == 0) printf("%s done\n", name);
  MPI_Finalize();
  return 0;
}
