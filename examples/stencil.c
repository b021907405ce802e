// Halo exchange of a 2D or 3D grid of blocks (MPI_Cart_create, MPI_Isend, MPI_Irecv, subarray types): each rank holds a
// cube of cells and one layer of its neighbours' cells around it, the halo.
//
//   stencil [--dimensions 2|3] [--cells N] [--iterations I] [--periodic] [--json]
//
// N cells along each side of a block. A cell's value encodes its position in the whole grid and the iteration, so every
// halo cell is checked after every exchange; on a wrong one the program calls MPI_Abort.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxDimensions = 3 };

typedef struct {
  int dimensions;
  int cells;
  int iterations;
  int periodic;
  int json;
} Options;

// Always three dimensions; with --dimensions 2 the third one has one layer of blocks, one cell and no halo.
typedef struct {
  MPI_Comm comm;
  int blocks[kMaxDimensions];       // in the whole grid
  int coordinates[kMaxDimensions];  // of this block
  int interior[kMaxDimensions];     // cells of this block
  int halo[kMaxDimensions];         // 1, or 0 in a dimension without neighbours
  int neighbours[kMaxDimensions][2];
  MPI_Datatype sent[kMaxDimensions][2];
  MPI_Datatype received[kMaxDimensions][2];
  double* values;  // interior and halo, last dimension fastest
} Block;

_Noreturn static void stop(const char* text) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "stencil: rank %d: %s\n", rank, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static int extent(const Block* block, int dimension) { return block->interior[dimension] + 2 * block->halo[dimension]; }

static double* cell(const Block* block, const int position[kMaxDimensions]) {
  const size_t row = (size_t)position[0] * extent(block, 1) + position[1];
  return &block->values[row * extent(block, 2) + position[2]];
}

// The value of the cell at this position (counted from the block's first halo cell) before the given iteration, exact
// in a double. The halo beyond an open border is never written.
static double expected_value(const Block* block, const Options* options, const int position[kMaxDimensions],
                             int iteration) {
  const double untouched = -1;
  int64_t number = iteration;
  for (int d = 0; d < kMaxDimensions; ++d) {
    const int64_t side = (int64_t)block->blocks[d] * block->interior[d];
    int64_t place = (int64_t)block->coordinates[d] * block->interior[d] + position[d] - block->halo[d];
    if (place < 0 || place >= side) {
      if (!options->periodic) {
        return untouched;
      }
      place = (place + side) % side;
    }
    number = number * side + place;
  }
  return (double)number;
}

// The number of cells in the whole grid: the growth of a cell's value in an iteration.
static double cells_of_grid(const Block* block) {
  double cells = 1;
  for (int d = 0; d < kMaxDimensions; ++d) {
    cells *= (double)block->blocks[d] * block->interior[d];
  }
  return cells;
}

typedef void Visitor(const Block*, const Options*, const int position[kMaxDimensions], int iteration);

static void visit(const Block* block, const Options* options, const int first[kMaxDimensions],
                  const int count[kMaxDimensions], Visitor* visitor, int iteration) {
  int position[kMaxDimensions];
  for (position[0] = first[0]; position[0] < first[0] + count[0]; ++position[0]) {
    for (position[1] = first[1]; position[1] < first[1] + count[1]; ++position[1]) {
      for (position[2] = first[2]; position[2] < first[2] + count[2]; ++position[2]) {
        visitor(block, options, position, iteration);
      }
    }
  }
}

static void initialize_cell(const Block* block, const Options* options, const int position[kMaxDimensions],
                            int iteration) {
  *cell(block, position) = expected_value(block, options, position, iteration);
}

static void check_cell(const Block* block, const Options* options, const int position[kMaxDimensions], int iteration) {
  const double expected = expected_value(block, options, position, iteration);
  const double found = *cell(block, position);
  if (found != expected) {
    char text[160];
    snprintf(text, sizeof text, "iteration %d, halo cell %d %d %d: expected %.0f, found %.0f", iteration, position[0],
             position[1], position[2], expected, found);
    stop(text);
  }
}

static void advance_cell(const Block* block, const Options* options, const int position[kMaxDimensions],
                         int iteration) {
  (void)options;
  (void)iteration;
  *cell(block, position) += cells_of_grid(block);
}

// The layer of cells at one side of one dimension: of the interior (sent) or the halo (received).
static void layer(const Block* block, int dimension, int side, int halo, int first[kMaxDimensions],
                  int count[kMaxDimensions]) {
  for (int d = 0; d < kMaxDimensions; ++d) {
    first[d] = block->halo[d];
    count[d] = block->interior[d];
  }
  count[dimension] = 1;
  if (halo) {
    first[dimension] = side ? block->interior[dimension] + 1 : 0;
  } else {
    first[dimension] = side ? block->interior[dimension] : 1;
  }
}

static MPI_Datatype layer_type(const Block* block, int dimension, int side, int halo) {
  int first[kMaxDimensions];
  int count[kMaxDimensions];
  int whole[kMaxDimensions];
  layer(block, dimension, side, halo, first, count);
  for (int d = 0; d < kMaxDimensions; ++d) {
    whole[d] = extent(block, d);
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(kMaxDimensions, whole, count, first, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void exchange_halos(const Block* block, const Options* options) {
  MPI_Request requests[4 * kMaxDimensions];
  int count = 0;
  for (int d = 0; d < options->dimensions; ++d) {
    for (int side = 0; side < 2; ++side) {
      // A layer sent to one side arrives at the neighbour's other side; the tag names the sender's side.
      MPI_Irecv(block->values, 1, block->received[d][side], block->neighbours[d][side], 2 * d + 1 - side, block->comm,
                &requests[count++]);
      MPI_Isend(block->values, 1, block->sent[d][side], block->neighbours[d][side], 2 * d + side, block->comm,
                &requests[count++]);
    }
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void check_halos(const Block* block, const Options* options, int iteration) {
  int first[kMaxDimensions];
  int count[kMaxDimensions];
  for (int d = 0; d < options->dimensions; ++d) {
    for (int side = 0; side < 2; ++side) {
      layer(block, d, side, 1, first, count);
      visit(block, options, first, count, check_cell, iteration);
    }
  }
}

static void shape_block(Block* block, const Options* options) {
  int size;
  int rank;
  int periods[kMaxDimensions];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int d = 0; d < kMaxDimensions; ++d) {
    block->blocks[d] = d < options->dimensions ? 0 : 1;
    block->halo[d] = d < options->dimensions ? 1 : 0;
    block->interior[d] = d < options->dimensions ? options->cells : 1;
    periods[d] = options->periodic;
  }
  MPI_Dims_create(size, kMaxDimensions, block->blocks);
  MPI_Cart_create(MPI_COMM_WORLD, kMaxDimensions, block->blocks, periods, 1, &block->comm);
  MPI_Comm_rank(block->comm, &rank);
  MPI_Cart_coords(block->comm, rank, kMaxDimensions, block->coordinates);
  for (int d = 0; d < options->dimensions; ++d) {
    MPI_Cart_shift(block->comm, d, 1, &block->neighbours[d][0], &block->neighbours[d][1]);
    for (int side = 0; side < 2; ++side) {
      block->sent[d][side] = layer_type(block, d, side, 0);
      block->received[d][side] = layer_type(block, d, side, 1);
    }
  }
}

static void fill_block(Block* block, const Options* options) {
  const size_t cells = (size_t)extent(block, 0) * extent(block, 1) * extent(block, 2);
  block->values = malloc(cells * sizeof(double));
  if (!block->values) {
    stop("out of memory");
  }
  for (size_t i = 0; i < cells; ++i) {
    block->values[i] = -1;
  }
  visit(block, options, block->halo, block->interior, initialize_cell, 0);
}

static void free_block(Block* block, const Options* options) {
  free(block->values);
  for (int d = 0; d < options->dimensions; ++d) {
    for (int side = 0; side < 2; ++side) {
      MPI_Type_free(&block->sent[d][side]);
      MPI_Type_free(&block->received[d][side]);
    }
  }
  MPI_Comm_free(&block->comm);
}

_Noreturn static void usage(const char* argument) {
  char text[160];
  snprintf(text, sizeof text,
           "%s: usage: stencil [--dimensions 2|3] [--cells N] [--iterations I] [--periodic] [--json]", argument);
  stop(text);
}

static int number(const char* name, const char* text, int smallest, int largest) {
  char* end;
  const long value = text ? strtol(text, &end, 10) : -1;
  if (!text || *end || value < smallest || value > largest) {
    usage(name);
  }
  return (int)value;
}

static Options read_options(int count, char** arguments) {
  Options options = {.dimensions = 2, .cells = 64, .iterations = 10};
  for (int i = 1; i < count; ++i) {
    const char* const name = arguments[i];
    if (strcmp(name, "--json") == 0) {
      options.json = 1;
    } else if (strcmp(name, "--periodic") == 0) {
      options.periodic = 1;
    } else if (strcmp(name, "--dimensions") == 0) {
      options.dimensions = number(name, arguments[++i], 2, 3);
    } else if (strcmp(name, "--cells") == 0) {
      options.cells = number(name, arguments[++i], 1, 100000);
    } else if (strcmp(name, "--iterations") == 0) {
      options.iterations = number(name, arguments[++i], 1, 1000000);
    } else {
      usage(name);
    }
  }
  return options;
}

// Times the exchange, without the check and the update.
static double run(const Block* block, const Options* options) {
  double seconds = 0;
  for (int iteration = 0; iteration < options->iterations; ++iteration) {
    const double start = MPI_Wtime();
    exchange_halos(block, options);
    seconds += MPI_Wtime() - start;
    check_halos(block, options, iteration);
    visit(block, options, block->halo, block->interior, advance_cell, iteration);
  }
  return seconds / options->iterations;
}

static void print_result(const Block* block, const Options* options, double seconds) {
  printf(options->json ? "{\"program\": \"stencil\", \"blocks\": [%d, %d, %d], \"cells\": %d, \"iterations\": %d, "
                         "\"seconds_per_iteration\": %.9f}\n"
                       : "stencil: %d x %d x %d blocks, %d cells a side, %d iterations: %.9f s an exchange\n",
         block->blocks[0], block->blocks[1], block->blocks[2], options->cells, options->iterations, seconds);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const Options options = read_options(count, arguments);
  Block block = {.values = NULL};
  shape_block(&block, &options);
  fill_block(&block, &options);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = run(&block, &options);
  double slowest;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    print_result(&block, &options, slowest);
  }
  free_block(&block, &options);
  MPI_Finalize();
  return 0;
}
