/* What goes wrong goes wrong alike on all ranks, and leaves outputs alone. Usage: reorder_errors */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

static int rank, size;
static int handled; /* calls of the error handler */
static int last;    /* the one rank that is wrong */
static const char* subject = "";
static MPI_Comm comm;

static void fail(const char* text, int found) {
  fprintf(stderr, "rank %d: %s: %s, found %d\n", rank, subject, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void on_error(MPI_Comm* where, int* code, ...) {
  (void)where;
  (void)code;
  ++handled;
}

/* The call failed here, and with the same class everywhere; the handler was called once; the reason names its cause at
 * the rank that was wrong. */
static void expect(const char* what, int code, int expected, const char* part) {
  int error_class = MPI_SUCCESS, lowest, highest, length;
  char text[RANKTREE_MAX_ERROR_TEXT];
  subject = what;
  MPI_Error_class(code, &error_class);
  MPI_Allreduce(&error_class, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&error_class, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (lowest != highest) fail("error classes differ", lowest);
  if (error_class != expected) fail("not the expected error class", error_class);
  if (handled != 1) fail("expected one call of the error handler", handled);
  handled = 0;
  ranktree_Comm_get_message(comm, text, sizeof text, &length);
  if (rank == last && strstr(text, part) == NULL) {
    fprintf(stderr, "rank %d: %s: expected '%s' in '%s'\n", rank, what, part, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* -- a call with one wrong argument at the last rank -- */

static const int kSources[] = {0}, kDegrees[] = {2}, kDestinations[] = {0, 0}, kWeights[] = {1, 2};
static const double kAmounts[] = {1, 2};

typedef struct {
  int n;
  const int *sources, *degrees, *destinations, *weights;
  const double* amounts;
  MPI_Comm* made;
  MPI_Info info;
  int reorder;
} Arguments;

static MPI_Comm made;

static Arguments good(void) {
  const Arguments arguments = {1, kSources, kDegrees, kDestinations, kWeights, kAmounts, &made, MPI_INFO_NULL, 1};
  return arguments;
}

static void expect_dist(const char* what, Arguments wrong, const char* part) {
  Arguments a = rank == last ? wrong : good();
  made = MPI_COMM_WORLD;
  int newrank = 77;
  expect(
      what,
      ranktree_Dist_graph_create(comm, a.n, a.sources, a.degrees, a.destinations, a.weights, a.info, a.reorder, a.made),
      MPI_ERR_ARG, part);
  if (wrong.weights == kWeights && wrong.made != NULL && wrong.reorder == 1) {
    expect(what,
           ranktree_Comm_reorder(comm, a.n, a.sources, a.degrees, a.destinations, a.amounts, a.info, &newrank, a.made),
           MPI_ERR_ARG, part);
  }
  if (made != MPI_COMM_WORLD || newrank != 77) fail("an output was touched", newrank);
}

static void dist_graphs(void) {
  static const int negative[] = {-1, 2}, beyond[] = {0, 1 << 20}, minus[] = {1, -2};
  Arguments wrong = good();
  wrong.made = NULL;
  expect_dist("no place for the result", wrong, "comm_dist_graph: expected a pointer, found NULL");
  wrong = good();
  wrong.n = -1;
  expect_dist("a negative number", wrong, "n: expected 0 or more, found -1");
  wrong = good();
  wrong.sources = NULL;
  expect_dist("no sources", wrong, "sources: expected a pointer");
  wrong = good();
  wrong.sources = negative;
  expect_dist("a source below 0", wrong, "sources[0]: expected a vertex in 0..");
  wrong = good();
  wrong.degrees = NULL;
  expect_dist("no degrees", wrong, "degrees: expected a pointer");
  wrong = good();
  wrong.degrees = negative;
  expect_dist("a negative degree", wrong, "degrees[0]: expected 0 or more, found -1");
  wrong = good();
  wrong.destinations = NULL;
  expect_dist("no destinations", wrong, "destinations: expected a pointer");
  wrong = good();
  wrong.destinations = beyond;
  expect_dist("a destination too large", wrong, "destinations[1]: expected a vertex in 0..");
  wrong = good();
  wrong.weights = NULL;
  expect_dist("no weights", wrong, "weights: expected a pointer");
  wrong = good();
  wrong.weights = minus;
  expect_dist("a negative weight", wrong, "weights[1]: expected a weight of 0 or more, found -2");
  wrong = good();
  wrong.weights = MPI_WEIGHTS_EMPTY;
  expect_dist("no weights for edges", wrong, "weights: expected 2 weights, found MPI_WEIGHTS_EMPTY");
}

/* Every rank's arguments are good, but not the same. */
static void differing(void) {
  if (size == 1) return;
  Arguments wrong = good();
  wrong.weights = MPI_UNWEIGHTED;
  expect_dist("weights on some ranks only", wrong, "same arguments on all ranks");
  wrong = good();
  wrong.reorder = 0;
  expect_dist("reorder on some ranks only", wrong, "same arguments on all ranks");
  int newrank = 77;
  made = MPI_COMM_WORLD;
  Arguments a = good();
  expect("newcomm on some ranks only",
         ranktree_Comm_reorder(comm, 1, a.sources, a.degrees, a.destinations, a.amounts, MPI_INFO_NULL, &newrank,
                               rank == last ? NULL : &made),
         MPI_ERR_ARG, "same arguments on all ranks");
  if (made != MPI_COMM_WORLD || newrank != 77) fail("an output was touched", newrank);
}

static void amounts(void) {
  const double wrong[][2] = {{1, -1}, {1, NAN}, {INFINITY, 1}};
  int newrank = 77;
  for (int i = 0; i < 3; ++i) {
    made = MPI_COMM_WORLD;
    expect("an amount that is none",
           ranktree_Comm_reorder(comm, 1, kSources, kDegrees, kDestinations, rank == last ? wrong[i] : kAmounts,
                                 MPI_INFO_NULL, &newrank, &made),
           MPI_ERR_ARG, "expected a finite weight of 0 or more");
  }
  expect("no place for the new rank",
         ranktree_Comm_reorder(comm, 1, kSources, kDegrees, kDestinations, kAmounts, MPI_INFO_NULL,
                               rank == last ? NULL : &newrank, &made),
         MPI_ERR_ARG, "newrank: expected a pointer");
  if (made != MPI_COMM_WORLD || newrank != 77) fail("an output was touched", newrank);
}

static int adjacent(int in, const int* sources, const int* in_weights, int out, const int* destinations,
                    const int* out_weights) {
  static const int self[] = {0}, one[] = {1};
  made = MPI_COMM_WORLD;
  if (rank == last) {
    return ranktree_Dist_graph_create_adjacent(comm, in, sources, in_weights, out, destinations, out_weights,
                                               MPI_INFO_NULL, 1, &made);
  }
  return ranktree_Dist_graph_create_adjacent(comm, 1, self, one, 1, self, one, MPI_INFO_NULL, 1, &made);
}

static void adjacent_graphs(void) {
  static const int self[] = {0}, one[] = {1}, minus[] = {-1}, beyond[] = {1 << 20};
  expect("indegree", adjacent(-1, self, one, 1, self, one), MPI_ERR_ARG, "indegree: expected 0 or more");
  expect("outdegree", adjacent(1, self, one, -1, self, one), MPI_ERR_ARG, "outdegree: expected 0 or more");
  expect("sources", adjacent(1, beyond, one, 1, self, one), MPI_ERR_ARG, "sources[0]: expected a vertex");
  expect("destinations", adjacent(1, self, one, 1, minus, one), MPI_ERR_ARG, "destinations[0]: expected a vertex");
  expect("no sources", adjacent(1, NULL, one, 1, self, one), MPI_ERR_ARG, "sources: expected a pointer");
  expect("in weights", adjacent(1, self, minus, 1, self, one), MPI_ERR_ARG, "sourceweights[0]: expected a weight");
  expect("out weights", adjacent(1, self, one, 1, self, minus), MPI_ERR_ARG, "destweights[0]: expected a weight");
  expect("half weighted", adjacent(1, self, MPI_UNWEIGHTED, 1, self, one), MPI_ERR_ARG, "both or neither");
  expect("null weights", adjacent(1, self, one, 1, self, NULL), MPI_ERR_ARG, "destweights: expected a pointer");
  if (made != MPI_COMM_WORLD) fail("an output was touched", 0);
}

static int whole(int nodes, const int* index, const int* edges, MPI_Comm* into) {
  static const int one[] = {1}, zero[] = {0};
  made = MPI_COMM_WORLD;
  return rank == last ? ranktree_Graph_create(comm, nodes, index, edges, 1, into)
                      : ranktree_Graph_create(comm, 1, one, zero, 1, &made);
}

static void whole_graphs(void) {
  static const int zero[] = {0}, one[] = {1}, minus[] = {-1};
  expect("nodes", whole(-1, one, zero, &made), MPI_ERR_ARG, "nnodes: expected 0 or more");
  expect("too many nodes", whole(size + 1, one, zero, &made), MPI_ERR_ARG, "nnodes: expected at most");
  expect("no index", whole(1, NULL, zero, &made), MPI_ERR_ARG, "index: expected a pointer");
  expect("an index below 0", whole(1, minus, zero, &made), MPI_ERR_ARG, "index[0]: expected 0 or more");
  expect("no edges", whole(1, one, NULL, &made), MPI_ERR_ARG, "edges: expected a pointer");
  expect("an edge to nowhere", whole(1, one, one, &made), MPI_ERR_ARG, "edges[0]: expected a vertex in 0..0");
  expect("no result", whole(1, one, zero, NULL), MPI_ERR_ARG, "comm_graph: expected a pointer");
  if (size > 1) expect("another graph", whole(1, zero, zero, &made), MPI_ERR_ARG, "same arguments on all ranks");
  if (made != MPI_COMM_WORLD) fail("an output was touched", 0);
}

static void bad_info(void) {
  static const char* const wrong[][3] = {
      {"ranktree_reorder_mode", "best", "expected one of auto, central, node, distributed, found 'best'"},
      {"ranktree_preset", "slow", "expected one of fast, default, strong, found 'slow'"},
      {"ranktree_algorithm", "best", "expected one of engine, treematch, found 'best'"},
      {"ranktree_seed", "-1", "ranktree_seed: expected a whole number, 0 or more, found '-1'"},
      {"ranktree_seed", "12x", "found '12x'"},
      {"ranktree_time_limit_ms", "soon", "ranktree_time_limit_ms: expected a whole number"},
      {"ranktree_time_limit_ms", "99999999999999999999", "ranktree_time_limit_ms: expected a whole number"},
      {"ranktree_leftover", "all", "ranktree_leftover"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    Arguments arguments = good();
    MPI_Info_create(&arguments.info);
    MPI_Info_set(arguments.info, wrong[i][0], wrong[i][1]);
    expect_dist(wrong[i][0], arguments, wrong[i][2]);
    MPI_Info_free(&arguments.info);
  }
  if (size == 1) return;
  Arguments arguments = good();
  MPI_Info_create(&arguments.info);
  MPI_Info_set(arguments.info, "ranktree_seed", "2");
  expect_dist("another seed", arguments, "same arguments on all ranks");
  MPI_Info_free(&arguments.info);
}

static void patterns(const char* good_file, const char* bad_file) {
  int n = 77, *numbers[4] = {NULL, NULL, NULL, NULL};
#define READ(file, metric, count) \
  ranktree_read_pattern(file, comm, metric, count, &numbers[0], &numbers[1], &numbers[2], &numbers[3])
  const int wrong = rank == last;
  expect("no count", READ(good_file, "size", wrong ? NULL : &n), MPI_ERR_ARG, "n: expected a pointer");
  expect("no file", READ(wrong ? NULL : good_file, "size", &n), MPI_ERR_ARG, "file: expected a pointer");
  expect("no metric", READ(good_file, wrong ? NULL : "size", &n), MPI_ERR_ARG, "metric: expected a pointer");
  expect("metric", READ(good_file, wrong ? "bytes" : "size", &n), MPI_ERR_ARG, "expected size, msg or avg");
  expect("missing", READ("/nowhere/pattern.npz", "size", &n), MPI_ERR_FILE, "/nowhere/pattern.npz");
  expect("bad", READ(bad_file, "size", &n), MPI_ERR_FILE, bad_file);
  expect("ranks", READ(good_file, "size", &n), MPI_ERR_ARG, "ranks, found 99");
#undef READ
  if (n != 77 || numbers[0] != NULL || numbers[3] != NULL) fail("an output was touched", n);
}

/* The handler of MPI_COMM_SELF serves MPI_COMM_NULL in MPI 4, that of MPI_COMM_WORLD before. */
static void bad_communicators(MPI_Errhandler handler) {
  MPI_Comm half, inter, mine = comm;
  MPI_Info info = MPI_INFO_NULL;
  int newrank;
  made = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
#define CALLS(where)                                                                                                 \
  expect("dist", ranktree_Dist_graph_create(where, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &made), \
         MPI_ERR_COMM, "");                                                                                          \
  expect("graph", ranktree_Graph_create(where, 0, NULL, NULL, 1, &made), MPI_ERR_COMM, "");                          \
  expect("reorder", ranktree_Comm_reorder(where, 0, NULL, NULL, NULL, NULL, MPI_INFO_NULL, &newrank, &made),         \
         MPI_ERR_COMM, "");                                                                                          \
  expect("info", ranktree_Comm_get_info(where, &info), MPI_ERR_COMM, "");
  CALLS(MPI_COMM_NULL)
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  if (size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 5, &inter);
  MPI_Comm_set_errhandler(inter, handler);
  CALLS(inter)
#undef CALLS
  comm = mine;
  if (made != MPI_COMM_WORLD || info != MPI_INFO_NULL) fail("an output was touched", 0);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = size - 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  dist_graphs();
  differing();
  amounts();
  adjacent_graphs();
  whole_graphs();
  bad_info();
  last = 0; /* reads the file */
  if (argc > 2) patterns(argv[1], argv[2]);
  bad_communicators(handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  if (rank == 0) puts("errors agree");
  MPI_Finalize();
  return 0;
}
