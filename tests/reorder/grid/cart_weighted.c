/* Grids chosen for random traffic against all grids in all orders, then wrong arguments.
 * Usage: cart_weighted SEED ROUNDS [KEY=VALUE...]: info keys of every call. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"
#include "reorder_model.h"

enum { kMostDims = 3, kMostTried = 6 }; /* ranks whose orders are all tried */

static int rank, size, round_number, renumbered;
static MPI_Info info = MPI_INFO_NULL;

typedef struct {
  int ndims, dims[kMostDims + 1], periods[kMostDims + 1];
  double weights[kMostDims + 1];
  const double* given; /* the weights, or NULL */
} Traffic;

static void fail(const char* text, double found) {
  fprintf(stderr, "rank %d, round %d: %s, found %.17g\n", rank, round_number, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect_success(int code) {
  if (code != MPI_SUCCESS) fail("a call failed", code);
}

/* -- the model -- */

/* Each plane's weight, shared by its links, times the hops of their ends; vertex v is at the place of owner[v]. */
static double cost_of_grid(const Traffic* traffic, const int* dims, const int* owner) {
  double cost = 0;
  int vertices = 1;
  for (int j = 0; j < traffic->ndims; ++j) vertices *= dims[j];
  for (int vertex = 0; vertex < vertices; ++vertex) {
    int stride = 1;
    for (int j = traffic->ndims; j-- > 0; stride *= dims[j]) {
      const int place = vertex / stride % dims[j], last = place + 1 == dims[j];
      if (dims[j] == 1 || (last && !traffic->periods[j])) continue;
      const int up = last ? vertex - place * stride : vertex + stride;
      const double plane = traffic->given ? traffic->weights[j] : 1;
      cost += plane / (vertices / dims[j]) * hops(owner[vertex], owner[up]);
    }
  }
  return cost;
}

static double least_of_orders(const Traffic* traffic, const int* dims, int* owner, int fixed, int vertices) {
  if (fixed == vertices) return cost_of_grid(traffic, dims, owner);
  double least = INFINITY;
  for (int i = fixed; i < vertices; ++i) {
    const int taken = owner[i];
    owner[i] = owner[fixed], owner[fixed] = taken;
    least = fmin(least, least_of_orders(traffic, dims, owner, fixed + 1, vertices));
    owner[fixed] = owner[i], owner[i] = taken;
  }
  return least;
}

/* Over all grids that keep the dimensions given, in all orders. */
static double least_of_grids(const Traffic* traffic, int* dims, int from, int rest) {
  int owner[kMostRanks];
  if (from == traffic->ndims) {
    for (int i = 0; i < size; ++i) owner[i] = i;
    return rest == 1 ? least_of_orders(traffic, dims, owner, 0, size) : INFINITY;
  }
  double least = INFINITY;
  for (int length = 1; length <= rest; ++length) {
    if (rest % length != 0 || (traffic->dims[from] != 0 && traffic->dims[from] != length)) continue;
    dims[from] = length;
    least = fmin(least, least_of_grids(traffic, dims, from + 1, rest / length));
  }
  return least;
}

/* -- the result -- */

static Traffic random_traffic(unsigned long long* state) {
  Traffic traffic = {1 + draw(state, kMostDims), {0}, {0}, {0}, NULL};
  for (int j = 0; j < traffic.ndims; ++j) {
    traffic.periods[j] = draw(state, 2);
    traffic.weights[j] = draw(state, 20);
  }
  if (draw(state, 3) == 0) {
    const int length = 1 + draw(state, size);
    if (size % length == 0 && traffic.ndims > 1) traffic.dims[draw(state, traffic.ndims)] = length;
  }
  return traffic;
}

static double number_of(MPI_Info of, const char* key) {
  char text[MPI_MAX_INFO_VAL];
  int found = 0;
  MPI_Info_get(of, key, MPI_MAX_INFO_VAL - 1, text, &found);
  if (!found) fail(key, 0);
  return atof(text);
}

static void expect_near(const char* what, double found, double expected) {
  if (fabs(found - expected) > 1e-9 * (1 + expected)) {
    fprintf(stderr, "expected %.17g: ", expected);
    fail(what, found);
  }
}

/* The new communicator is the grid, its costs are the model's, and no grid in no order costs less. */
static void expect_grid(const Traffic* traffic, const int* dims, MPI_Comm cart) {
  int got[kMostDims + 1], periods[kMostDims + 1], coordinates[kMostDims + 1], all[kMostDims + 1];
  int vertex, vertices[kMostRanks], owner[kMostRanks], same[kMostRanks], product = 1, changed = 0;
  expect_success(MPI_Cart_get(cart, traffic->ndims, got, periods, coordinates));
  MPI_Allreduce(dims, all, traffic->ndims, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int j = 0; j < traffic->ndims; ++j) {
    product *= dims[j];
    if (got[j] != dims[j] || all[j] != dims[j]) fail("not the same dimension everywhere", got[j]);
    if (traffic->dims[j] != 0 && traffic->dims[j] != dims[j]) fail("not the dimension given", dims[j]);
    if (!periods[j] != !traffic->periods[j]) fail("not the period given", periods[j]);
  }
  if (product != size) fail("not all ranks", product);
  MPI_Comm_rank(cart, &vertex);
  MPI_Allgather(&vertex, 1, MPI_INT, vertices, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) owner[vertices[i]] = same[i] = i, changed |= vertices[i] != i;
  renumbered += changed;
  MPI_Info known;
  expect_success(ranktree_Comm_get_info(cart, &known));
  expect_near("the cost before", number_of(known, "ranktree_reorder_before"), cost_of_grid(traffic, dims, same));
  expect_near("the cost after", number_of(known, "ranktree_reorder_after"), cost_of_grid(traffic, dims, owner));
  MPI_Info_free(&known);
  if (size > kMostTried) return;
  double least = rank == 0 ? least_of_grids(traffic, all, 0, size) : 0;
  MPI_Bcast(&least, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  expect_near("not the least of all grids and orders", cost_of_grid(traffic, dims, owner), least);
}

static void try_traffic(Traffic traffic, int weighted) {
  int dims[kMostDims + 1], again[kMostDims + 1];
  MPI_Comm cart = MPI_COMM_NULL;
  traffic.given = weighted ? traffic.weights : NULL;
  memcpy(dims, traffic.dims, sizeof dims), memcpy(again, traffic.dims, sizeof again);
  expect_success(
      ranktree_Cart_create_weighted(MPI_COMM_WORLD, traffic.ndims, traffic.given, traffic.periods, info, dims, &cart));
  expect_success(ranktree_Dims_create(MPI_COMM_WORLD, traffic.ndims, traffic.given, traffic.periods, info, again));
  for (int j = 0; j < traffic.ndims; ++j) {
    if (dims[j] != again[j]) fail("ranktree_Dims_create has another dimension", again[j]);
  }
  expect_grid(&traffic, dims, cart);
  MPI_Comm_free(&cart);
}

/* -- wrong arguments, at the last rank -- */

static void expect_error(const char* what, MPI_Comm comm, Traffic wrong, int ranks_alike, int expected) {
  const Traffic right = {2, {size, 0}, {0, 0}, {1, 1}, NULL};
  Traffic mine = rank == size - 1 || ranks_alike ? wrong : right;
  const int first = mine.dims[0], second = mine.dims[1];
  MPI_Comm made = MPI_COMM_SELF;
  for (int alone = 0; alone < 2; ++alone) {
    int found, lowest;
    const int code =
        alone ? ranktree_Dims_create(comm, mine.ndims, mine.weights, mine.periods, info, mine.dims)
              : ranktree_Cart_create_weighted(comm, mine.ndims, mine.weights, mine.periods, info, mine.dims, &made);
    MPI_Error_class(code, &found);
    MPI_Allreduce(&found, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (found != expected || lowest != expected) fail(what, found);
    if (made != MPI_COMM_SELF || mine.dims[0] != first || mine.dims[1] != second) fail("an output was touched", 0);
  }
}

static void try_errors(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  expect_error("a negative dimension", comm, (Traffic){2, {-1, 0}, {0, 0}, {1, 1}, NULL}, 0, MPI_ERR_DIMS);
  expect_error("no divisor", comm, (Traffic){2, {size + 1, 0}, {0, 0}, {1, 1}, NULL}, 1, MPI_ERR_DIMS);
  expect_error("a negative weight", comm, (Traffic){2, {size, 0}, {0, 0}, {1, -1}, NULL}, 0, MPI_ERR_ARG);
  expect_error("no number", comm, (Traffic){2, {size, 0}, {0, 0}, {NAN, 1}, NULL}, 0, MPI_ERR_ARG);
  expect_error("a negative number of dimensions", comm, (Traffic){-1, {0, 0}, {0, 0}, {1, 1}, NULL}, 0, MPI_ERR_ARG);
  if (size > 1) {
    expect_error("weights that differ", comm, (Traffic){2, {size, 0}, {0, 0}, {1, 2}, NULL}, 0, MPI_ERR_ARG);
    expect_error("periods that differ", comm, (Traffic){2, {size, 0}, {0, 1}, {1, 1}, NULL}, 0, MPI_ERR_ARG);
    expect_error("dimensions that differ", comm, (Traffic){2, {0, 0}, {0, 0}, {1, 1}, NULL}, 0, MPI_ERR_ARG);
  }
  MPI_Comm_free(&comm);
}

/* Where all dimensions are given, ranks beyond the grid get no communicator; one dimension less is an error of
 * ranktree_Dims_create. */
static void try_part(void) {
  int dims[1] = {size - 1}, periods[1] = {1}, code, found;
  MPI_Comm cart = MPI_COMM_SELF, comm;
  expect_success(ranktree_Cart_create_weighted(MPI_COMM_WORLD, 1, NULL, periods, info, dims, &cart));
  if ((cart == MPI_COMM_NULL) != (rank == size - 1)) fail("null for the wrong rank", rank);
  if (cart != MPI_COMM_NULL) MPI_Comm_free(&cart);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  code = ranktree_Dims_create(comm, 1, NULL, periods, info, dims);
  MPI_Error_class(code, &found);
  if (found != MPI_ERR_DIMS) fail("a grid of other ranks", found);
  dims[0] = size + 1;
  MPI_Error_class(ranktree_Dims_create(comm, 1, NULL, periods, info, dims), &found);
  if (found != MPI_ERR_DIMS) fail("a grid of more ranks", found);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  cpu_set_t before, after;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned long long state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 1;
  if (argc > 3) MPI_Info_create(&info);
  for (int i = 3; i < argc; ++i) {
    char* equals = strchr(argv[i], '=');
    *equals = '\0';
    MPI_Info_set(info, argv[i], equals + 1);
  }
  sched_getaffinity(0, sizeof before, &before);
  use_nodes_of_environment(MPI_COMM_WORLD);
  learn_machine(MPI_COMM_WORLD);
  for (round_number = 0; round_number < rounds; ++round_number) {
    const Traffic traffic = random_traffic(&state);
    try_traffic(traffic, draw(&state, 4) > 0);
  }
  try_errors();
  if (size > 1) try_part();
  sched_getaffinity(0, sizeof after, &after);
  if (!CPU_EQUAL(&before, &after)) fail("the binding was changed", 0);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (rank == 0) printf("%d rounds agree, %d orders changed\n", rounds, renumbered);
  MPI_Finalize();
  return 0;
}
