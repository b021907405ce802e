/* Random grids against a brute-force model and the native grid. Usage: cart_grids SEED ROUNDS [DIM...]: grids of
 * those dimensions only, without periods. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"
#include "reorder_model.h"

enum { kMostDims = 4 };

static int rank, size;
static int round_number;
static int renumbered; /* rounds in which some rank has changed */

typedef struct {
  int ndims, vertices;
  int dims[kMostDims + 1], periods[kMostDims + 1];
} Grid;

static void fail(const char* text, double found) {
  fprintf(stderr, "rank %d, round %d: %s, found %.17g\n", rank, round_number, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect_success(int code) {
  if (code != MPI_SUCCESS) fail("a call failed", code);
}

/* -- the model -- */

static void coordinates_of(const Grid* grid, int vertex, int* coordinates) {
  for (int j = grid->ndims; j-- > 0;) {
    coordinates[j] = vertex % grid->dims[j];
    vertex /= grid->dims[j];
  }
}

/* The vertex so many steps up a dimension, MPI_PROC_NULL outside. */
static int neighbour(const Grid* grid, int vertex, int dimension, int steps) {
  int coordinates[kMostDims + 1], result = 0;
  coordinates_of(grid, vertex, coordinates);
  const int length = grid->dims[dimension];
  int place = coordinates[dimension] + steps;
  if (grid->periods[dimension]) {
    place = (place % length + length) % length;
  } else if (place < 0 || place >= length) {
    return MPI_PROC_NULL;
  }
  coordinates[dimension] = place;
  for (int j = 0; j < grid->ndims; ++j) result = result * grid->dims[j] + coordinates[j];
  return result;
}

/* Hops of all links, every link once, when vertex v is at the place of rank owner[v]. */
static double links_cost(const Grid* grid, const int* owner) {
  double cost = 0;
  for (int vertex = 0; vertex < grid->vertices; ++vertex) {
    for (int j = 0; j < grid->ndims; ++j) {
      const int up = neighbour(grid, vertex, j, 1);
      if (up != MPI_PROC_NULL) cost += hops(owner[vertex], owner[up]);
    }
  }
  return cost;
}

static Grid random_grid(unsigned long long* state) {
  Grid grid = {draw(state, kMostDims + 1), 1, {0}, {0}};
  for (int j = 0; j < grid.ndims; ++j) {
    grid.dims[j] = 1 + draw(state, size / grid.vertices);
    grid.periods[j] = draw(state, 2);
    grid.vertices *= grid.dims[j];
  }
  return grid;
}

/* -- the result -- */

static void expect_numbering(const Grid* grid, MPI_Comm cart, int count) {
  int coordinates[kMostDims + 1], expected[kMostDims + 1], again;
  for (int other = 0; other < count; ++other) {
    coordinates_of(grid, other, expected);
    expect_success(MPI_Cart_coords(cart, other, grid->ndims, coordinates));
    for (int j = 0; j < grid->ndims; ++j) {
      if (coordinates[j] != expected[j]) fail("not the coordinates of row-major order", coordinates[j]);
    }
    expect_success(MPI_Cart_rank(cart, coordinates, &again));
    if (again != other) fail("MPI_Cart_rank is not the inverse", again);
  }
}

static void expect_shape(const Grid* grid, MPI_Comm cart, int vertex) {
  int dims[kMostDims + 1], periods[kMostDims + 1], coordinates[kMostDims + 1], expected[kMostDims + 1];
  expect_success(MPI_Cart_get(cart, grid->ndims, dims, periods, coordinates));
  coordinates_of(grid, vertex, expected);
  for (int j = 0; j < grid->ndims; ++j) {
    if (dims[j] != grid->dims[j]) fail("not the dimension requested", dims[j]);
    if (!periods[j] != !grid->periods[j]) fail("not the period requested", periods[j]);
    if (coordinates[j] != expected[j]) fail("not its own coordinates", coordinates[j]);
  }
}

static void expect_shift(const Grid* grid, MPI_Comm cart, MPI_Comm native, int dimension, int steps) {
  int vertex, shift[2], native_shift[2], all[kMostRanks][2];
  MPI_Comm_rank(cart, &vertex);
  expect_success(MPI_Cart_shift(cart, dimension, steps, &shift[0], &shift[1]));
  expect_success(MPI_Cart_shift(native, dimension, steps, &native_shift[0], &native_shift[1]));
  MPI_Allgather(native_shift, 2, MPI_INT, all, 2, MPI_INT, native);
  if (shift[0] != all[vertex][0] || shift[1] != all[vertex][1]) fail("not the native shift", shift[1]);
  if (steps == 0) return;
  if (shift[1] != neighbour(grid, vertex, dimension, steps)) fail("not the model's destination", shift[1]);
  if (shift[0] != neighbour(grid, vertex, dimension, -steps)) fail("not the model's source", shift[0]);
}

static void expect_grid(const Grid* grid, MPI_Comm cart, MPI_Comm native) {
  int vertex, count, topology, ndims;
  MPI_Comm_rank(cart, &vertex);
  MPI_Comm_size(cart, &count);
  if (count != grid->vertices) fail("not so many processes as vertices", count);
  expect_success(MPI_Topo_test(cart, &topology));
  if (topology != MPI_CART) fail("not a Cartesian topology", topology);
  expect_success(MPI_Cartdim_get(cart, &ndims));
  if (ndims != grid->ndims) fail("not so many dimensions", ndims);
  if (ndims == 0) return;
  expect_numbering(grid, cart, count);
  expect_shape(grid, cart, vertex);
  for (int j = 0; j < ndims; ++j) {
    for (int steps = -3; steps <= 3; ++steps) expect_shift(grid, cart, native, j, steps);
  }
}

/* Every rank sends its number to its neighbours. */
static void expect_messages(const Grid* grid, MPI_Comm cart) {
  int vertex, sent[2 * kMostDims + 2], received[2 * kMostDims + 2];
  if (grid->ndims == 0) return;
  MPI_Comm_rank(cart, &vertex);
  for (int i = 0; i < 2 * grid->ndims; ++i) sent[i] = vertex, received[i] = -7;
  expect_success(MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, cart));
  for (int i = 0; i < 2 * grid->ndims; ++i) {
    const int from = neighbour(grid, vertex, i / 2, i % 2 == 0 ? -1 : 1);
    if (received[i] != (from == MPI_PROC_NULL ? -7 : from)) fail("not the neighbour's number", received[i]);
  }
}

static int value_of(MPI_Info info, const char* key, char* value) {
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, value, &found);
  return found;
}

/* The first ranks are all there, at no more cost than in their old order. `first`: those ranks in that order. */
static void expect_order(const Grid* grid, MPI_Comm cart, MPI_Comm first, int reorder) {
  static char text[MPI_MAX_INFO_VAL];
  int vertex, vertices[kMostRanks], owner[kMostRanks], same[kMostRanks], seen[kMostRanks] = {0}, changed = 0, relation;
  MPI_Comm_compare(cart, first, &relation);
  if (relation != MPI_CONGRUENT && relation != MPI_SIMILAR) fail("not the first ranks", relation);
  MPI_Comm_rank(cart, &vertex);
  MPI_Allgather(&vertex, 1, MPI_INT, vertices, 1, MPI_INT, first);
  for (int i = 0; i < grid->vertices; ++i) {
    if (seen[vertices[i]]++) fail("two processes own a vertex", vertices[i]);
    owner[vertices[i]] = same[i] = i;
    changed |= vertices[i] != i;
  }
  renumbered += changed;
  use_nodes_of_environment(first);
  learn_machine(first);
  const double before = links_cost(grid, same), after = links_cost(grid, owner);
  if (!reorder && changed) fail("reordered though reorder = 0", 0);
  if (changed ? after >= before : after > before) fail("the cost rose", after - before);
  MPI_Info info;
  expect_success(ranktree_Comm_get_info(cart, &info));
  if (!value_of(info, "ranktree_reorder", text)) fail("expected the key ranktree_reorder", 0);
  if (changed != (strcmp(text, "identity") != 0)) fail(text, changed);
  if (value_of(info, "ranktree_reorder_reason", text) == changed) fail("a reason, or none", changed);
  if (reorder) {
    if (!value_of(info, "ranktree_reorder_before", text) || atof(text) != before) fail(text, before);
    if (!value_of(info, "ranktree_reorder_after", text) || atof(text) != after) fail(text, after);
  }
  MPI_Info_free(&info);
}

static void try_grid(const Grid* grid, int reorder) {
  MPI_Comm cart = MPI_COMM_WORLD, native, first;
  expect_success(ranktree_Cart_create(MPI_COMM_WORLD, grid->ndims, grid->dims, grid->periods, reorder, &cart));
  expect_success(MPI_Cart_create(MPI_COMM_WORLD, grid->ndims, grid->dims, grid->periods, 0, &native));
  MPI_Comm_split(MPI_COMM_WORLD, rank < grid->vertices ? 0 : MPI_UNDEFINED, 0, &first);
  if ((cart == MPI_COMM_NULL) != (rank >= grid->vertices)) fail("null for the wrong rank", rank);
  if (cart == MPI_COMM_NULL) return;
  expect_order(grid, cart, first, reorder);
  expect_grid(grid, cart, native);
  expect_messages(grid, cart);
  MPI_Comm_free(&cart);
  MPI_Comm_free(&native);
  MPI_Comm_free(&first);
}

int main(int argc, char** argv) {
  cpu_set_t before, after;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned long long state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 1;
  if (size > kMostRanks) fail("too many ranks", size);
  sched_getaffinity(0, sizeof before, &before);
  use_nodes_of_environment(MPI_COMM_WORLD);
  for (round_number = 0; round_number < rounds; ++round_number) {
    Grid grid = random_grid(&state);
    const int reorder = draw(&state, 5) > 0;
    if (argc > 3) {
      grid = (Grid){argc - 3, 1, {0}, {0}};
      for (int j = 0; j < grid.ndims; ++j) grid.vertices *= grid.dims[j] = atoi(argv[3 + j]);
    }
    try_grid(&grid, argc > 3 ? 1 : reorder);
  }
  sched_getaffinity(0, sizeof after, &after);
  if (!CPU_EQUAL(&before, &after)) fail("the binding was changed", 0);
  if (rank == 0) printf("%d rounds agree, %d orders changed\n", rounds, renumbered);
  MPI_Finalize();
  return 0;
}
