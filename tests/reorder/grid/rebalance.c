/* ranktree_Comm_rebalance against a model that knows what was sent. Usage: rebalance
 * recorded|broken|unrecorded */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"
#include "reorder_model.h"

static int rank, size;
static const char* subject = "";

static void fail(const char* text, double found) {
  fprintf(stderr, "rank %d: %s: %s, found %.17g\n", rank, subject, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect_success(int code) {
  if (code != MPI_SUCCESS) fail("a call failed", code);
}

/* Every rank sends so many bytes to another one of comm, in three messages, one of them by MPI_Put where comm has all
 * processes: windows of two communicators at a time share a file in Open MPI 4.1.4, and sometimes fail. */
static void send_bytes(MPI_Comm comm, int to, int from, int bytes) {
  char* out = calloc((size_t)bytes + 1, 1);
  char* in = calloc((size_t)bytes + 1, 1);
  const int half = bytes / 2, quarter = bytes / 4;
  MPI_Win window;
  MPI_Sendrecv(out, half, MPI_CHAR, to, 1, in, half, MPI_CHAR, from, 1, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, bytes - half - quarter, MPI_CHAR, to, 2, in, bytes - half - quarter, MPI_CHAR, from, 2, comm,
               MPI_STATUS_IGNORE);
  int processes;
  MPI_Comm_size(comm, &processes);
  if (processes < size) {
    MPI_Sendrecv(out, quarter, MPI_CHAR, to, 3, in, quarter, MPI_CHAR, from, 3, comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Win_create(in, bytes, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, quarter, MPI_CHAR, to, 0, quarter, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
  }
  free(out);
  free(in);
}

/* Rank i of comm sends to i + step; noted in the model, whose vertices are the ranks of comm. */
static void send_along(MPI_Comm comm, int step, int bytes, Graph* seen) {
  int i, n;
  MPI_Comm_rank(comm, &i);
  MPI_Comm_size(comm, &n);
  send_bytes(comm, (i + step) % n, (i + n - step % n) % n, bytes);
  for (int vertex = 0; vertex < n; ++vertex) {
    seen->edges[seen->edge_count++] = (Edge){0, vertex, (vertex + step) % n, bytes};
  }
}

typedef struct {
  MPI_Comm made;
  int newranks[kMostRanks];
  double gain, horizon, cost; /* by the message */
} Result;

static void rebalance(MPI_Comm comm, const char* horizon, const char* state, Result* result) {
  char text[RANKTREE_MAX_ERROR_TEXT];
  int length;
  MPI_Info info;
  MPI_Info_create(&info);
  if (horizon) MPI_Info_set(info, "ranktree_horizon", horizon);
  if (state) MPI_Info_set(info, "ranktree_state_bytes", state);
  result->made = MPI_COMM_SELF;
  for (int i = 0; i < kMostRanks; ++i) result->newranks[i] = -5;
  expect_success(ranktree_Comm_rebalance(comm, info, result->newranks, &result->made));
  ranktree_Comm_get_message(comm, text, sizeof text, &length);
  if (sscanf(text, "rebalance: gain %lf hop-bytes at horizon %lf, cost %lf", &result->gain, &result->horizon,
             &result->cost) != 3) {
    fprintf(stderr, "message: %s\n", text);
    fail("the message has no figures", 0);
  }
  MPI_Info_free(&info);
}

static void expect_close(const char* what, double found, double expected) {
  if (fabs(found - expected) > 1e-4 * fabs(expected) + 1e-9) fail(what, found);
}

/* The new order has the gain and cost that it reports, by the model applied to the recorded bytes. */
static void expect_better(MPI_Comm comm, const Graph* seen, double state, const Result* result) {
  int i, n, new_rank, owner[kMostRanks], same[kMostRanks], used[kMostRanks] = {0};
  double moved = 0;
  if (result->made == MPI_COMM_NULL || result->made == MPI_COMM_SELF) fail("expected a new order", 0);
  MPI_Comm_rank(comm, &i);
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(result->made, &new_rank);
  if (result->newranks[i] != new_rank) fail("newranks is not the rank in newcomm", new_rank);
  learn_machine(comm);
  for (int process = 0; process < n; ++process) {
    const int role = result->newranks[process];
    if (role < 0 || role >= n || used[role]++) fail("not a permutation", role);
    owner[role] = same[process] = process;
    moved += hops(process, role) * state;
  }
  const double before = cost_of(seen, same, 1), after = cost_of(seen, owner, 1);
  expect_close("the gain", result->gain, (before - after) * result->horizon);
  expect_close("the cost", result->cost, moved);
  if (result->gain <= result->cost) fail("it does not pay", result->gain);
}

static void expect_none(const Result* result) {
  if (result->made != MPI_COMM_NULL) fail("expected no new order", 0);
  if (result->newranks[0] != -5) fail("newranks was touched", result->newranks[0]);
}

static void with_records(void) {
  static Graph seen;
  Result result, again;
  subject = "far pairs";
  send_along(MPI_COMM_WORLD, size / 2, 4000, &seen);
  send_along(MPI_COMM_WORLD, 1, 4, &seen);
  rebalance(MPI_COMM_WORLD, NULL, NULL, &result);
  expect_better(MPI_COMM_WORLD, &seen, 0, &result);
  if (result.horizon != 1) fail("expected a horizon of 1", result.horizon);

  subject = "nothing since";
  rebalance(result.made, NULL, NULL, &again);
  expect_none(&again);
  expect_close("the gain", again.gain, 0);

  subject = "the same traffic in the new order";
  seen.edge_count = 0;
  send_along(result.made, size / 2, 4000, &seen);
  rebalance(result.made, NULL, NULL, &again);
  expect_none(&again);

  subject = "another traffic that does not pay";
  seen.edge_count = 0;
  send_along(result.made, 1, 4000, &seen);
  rebalance(result.made, "2", "1e9", &again);
  expect_none(&again);
  if (!(again.gain > 0) || !(again.cost >= 1e9) || again.horizon != 2) fail("figures", again.gain);

  subject = "that was counted once";
  rebalance(result.made, NULL, NULL, &again);
  expect_none(&again);
  expect_close("the gain", again.gain, 0);

  subject = "another traffic that pays";
  seen.edge_count = 0;
  send_along(result.made, 1, 40000, &seen);
  rebalance(result.made, "2.5", "10", &again);
  expect_better(result.made, &seen, 10, &again);
  MPI_Comm_free(&again.made);
  MPI_Comm_free(&result.made);

  subject = "half of the processes";
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  rebalance(half, NULL, NULL, &again);
  if (again.made != MPI_COMM_NULL) MPI_Comm_free(&again.made);
  seen.edge_count = 0;
  send_along(half, size / 4, 3000, &seen);
  send_bytes(MPI_COMM_WORLD, rank ^ 1, rank ^ 1, 100000); /* with the other half: not of this communicator */
  rebalance(half, NULL, NULL, &again);
  expect_better(half, &seen, 0, &again);
  MPI_Comm_free(&again.made);
  MPI_Comm_free(&half);
}

static void without_records(void) {
  char text[RANKTREE_MAX_ERROR_TEXT];
  int error_class, length, newranks[kMostRanks] = {-5};
  MPI_Comm made = MPI_COMM_SELF;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(ranktree_Comm_rebalance(MPI_COMM_WORLD, MPI_INFO_NULL, newranks, &made), &error_class);
  if (error_class != MPI_ERR_UNSUPPORTED_OPERATION) fail("not the class unsupported", error_class);
  if (made != MPI_COMM_SELF || newranks[0] != -5) fail("outputs were touched", 0);
  ranktree_Comm_get_message(MPI_COMM_WORLD, text, sizeof text, &length);
  if (strstr(text, "ranktree trace") == NULL) fail(text, 0);
}

/* Where one rank cannot be found, nothing moves, all report the reason, and the next call succeeds. */
static void broken_hwloc(void) {
  static Graph seen;
  char text[RANKTREE_MAX_ERROR_TEXT];
  int length, newranks[kMostRanks] = {-5};
  MPI_Comm made = MPI_COMM_SELF;
  Result result;
  subject = "hwloc failing on one rank";
  if (rank == size - 1) setenv("HWLOC_COMPONENTS", "stop", 1);
  send_along(MPI_COMM_WORLD, size / 2, 4000, &seen);
  expect_success(ranktree_Comm_rebalance(MPI_COMM_WORLD, MPI_INFO_NULL, newranks, &made));
  if (made != MPI_COMM_NULL || newranks[0] != -5) fail("expected no new order", newranks[0]);
  ranktree_Comm_get_message(MPI_COMM_WORLD, text, sizeof text, &length);
  if (strstr(text, "hwloc") == NULL) fail(text, length);
  unsetenv("HWLOC_COMPONENTS");
  subject = "hwloc working again";
  seen.edge_count = 0;
  send_along(MPI_COMM_WORLD, size / 2, 4000, &seen);
  rebalance(MPI_COMM_WORLD, NULL, NULL, &result);
  expect_better(MPI_COMM_WORLD, &seen, 0, &result);
  MPI_Comm_free(&result.made);
}

/* One rank's argument is wrong, or differs. */
static void wrong_values(void) {
  static const char* const values[] = {"-1", "nan", "inf", "much", "2"};
  int error_class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < (int)(sizeof values / sizeof *values); ++i) {
    MPI_Comm made = MPI_COMM_SELF;
    MPI_Info info = MPI_INFO_NULL;
    subject = values[i];
    if (rank == size - 1) MPI_Info_create(&info);
    if (rank == size - 1) MPI_Info_set(info, i % 2 ? "ranktree_horizon" : "ranktree_state_bytes", values[i]);
    MPI_Error_class(ranktree_Comm_rebalance(MPI_COMM_WORLD, info, NULL, &made), &error_class);
    if (error_class != MPI_ERR_ARG || made != MPI_COMM_SELF) fail("not an error of the arguments", error_class);
    if (rank == size - 1) MPI_Info_free(&info);
  }
  int newranks[kMostRanks];
  MPI_Comm made = MPI_COMM_SELF;
  subject = "newranks at one rank";
  MPI_Error_class(ranktree_Comm_rebalance(MPI_COMM_WORLD, MPI_INFO_NULL, rank == 0 ? newranks : NULL, &made),
                  &error_class);
  if (error_class != MPI_ERR_ARG) fail("not an error of the arguments", error_class);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "recorded") == 0) {
    wrong_values();
    with_records();
  } else if (argc > 1 && strcmp(argv[1], "broken") == 0) {
    broken_hwloc();
  } else {
    without_records();
  }
  if (rank == 0) printf("rebalancing agrees\n");
  MPI_Finalize();
  return 0;
}
