// The messages of six programs, without their computing:
//
//   kernels cg|ft|lu|zeus|rings|wiedemann CLASS ITERATIONS
//
// cg, ft, lu: of the NAS Parallel Benchmarks 3.4, class A, C or D. zeus: ZEUS-MP/2, mhd blast, tiles of 16^3 zones
// (CLASS is "16"; "16s": the shortest dimension of their grid varies slowest). Sizes, numbers and order of messages are
// those of the programs; tests/papers/test_kernels.py compares them with recorded patterns. rings: the benchmark of
// reorder-2011 §4.1 (CLASS is the token's bytes: "64K"). wiedemann: the product of a square matrix and a block of 64
// vectors over GF(2), as a block Wiedemann step repeats it (CLASS is the rows: "1M"). For these two no recorded pattern
// exists; the test compares them with closed forms. Writes "seconds,S": of the iterations, without what comes before.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTag = 7, kDouble = 8, kComplex = 16, kVariables = 5, kInner = 25, kFieldBytes = 3518, kRing = 8 };

typedef struct {
  int ranks;
  int rank;
  int iterations;
  double begin;  // of the iterations, seconds
  char* sent;
  char* received;
} World;

_Noreturn static void stop(const char* text) {
  fprintf(stderr, "kernels: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static char nas_class(const char* text) {
  if (strlen(text) != 1 || !strchr("ACD", text[0])) {
    stop("expected class A, C or D");
  }
  return text[0];
}

static void allocate(World* world, size_t bytes) {
  world->sent = malloc(bytes);
  world->received = malloc(bytes);
  if (!world->sent || !world->received) {
    stop("out of memory");
  }
}

static void start_clock(World* world) {
  MPI_Barrier(MPI_COMM_WORLD);
  world->begin = MPI_Wtime();
}

// Both send and receive; a rank may be its own partner.
static void exchange(const World* world, int partner, int bytes) {
  MPI_Request request;
  MPI_Irecv(world->received, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
  MPI_Send(world->sent, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// CG: a grid of processes, as wide as it is high or twice as wide.
typedef struct {
  int columns;
  int transposed;  // the partner that has this rank's part of the other vector
  int bytes;       // of a part of a vector
} Matrix;

static Matrix cg_matrix(const World* world, char size) {
  int bits = 0;
  while (1 << (bits + 1) <= world->ranks) {
    ++bits;
  }
  if (1 << bits != world->ranks) {
    stop("cg: expected a power of two ranks");
  }
  const int columns = 1 << (bits + 1) / 2;
  const int rows = world->ranks / columns;
  const int rank = world->rank;
  const int order = size == 'A' ? 14000 : size == 'C' ? 150000 : 1500000;
  Matrix matrix = {.columns = columns, .bytes = (order + columns - 1) / columns * kDouble};
  matrix.transposed =
      rows == columns ? rank % rows * rows + rank / rows : 2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2;
  return matrix;
}

static void cg_sum(const World* world, const Matrix* matrix, int bytes) {
  for (int bit = 1; bit < matrix->columns; bit *= 2) {
    exchange(world, world->rank ^ bit, bytes);
  }
}

static void cg_multiply(const World* world, const Matrix* matrix) {
  cg_sum(world, matrix, matrix->bytes);
  exchange(world, matrix->transposed, matrix->bytes);
}

static void cg_solve(const World* world, const Matrix* matrix) {
  cg_sum(world, matrix, kDouble);
  for (int i = 0; i < kInner; ++i) {
    cg_multiply(world, matrix);
    cg_sum(world, matrix, kDouble);
    cg_sum(world, matrix, kDouble);
  }
  cg_multiply(world, matrix);
  cg_sum(world, matrix, kDouble);
  cg_sum(world, matrix, 2 * kDouble);
}

static void conjugate_gradient(World* world, const char* size) {
  const Matrix matrix = cg_matrix(world, nas_class(size));
  allocate(world, (size_t)matrix.bytes);
  cg_solve(world, &matrix);
  start_clock(world);
  for (int i = 0; i < world->iterations; ++i) {
    cg_solve(world, &matrix);
  }
}

// FT: slabs up to as many ranks as there are planes, else pencils.
typedef struct {
  MPI_Comm across;  // whose ranks exchange first
  MPI_Comm along;   // and then; null for slabs
  long bytes;       // of a rank
} Transform;

static Transform ft_transform(const World* world, char size) {
  const int planes = size == 'A' ? 128 : size == 'C' ? 512 : 1024;
  const long points = size == 'A' ? 1L << 23 : size == 'C' ? 1L << 27 : 1L << 31;
  Transform transform = {MPI_COMM_WORLD, MPI_COMM_NULL, points * kComplex / world->ranks};
  if (world->ranks > planes) {
    MPI_Comm_split(MPI_COMM_WORLD, world->rank / planes, world->rank, &transform.across);
    MPI_Comm_split(MPI_COMM_WORLD, world->rank % planes, world->rank, &transform.along);
  }
  return transform;
}

static void ft_exchange(const World* world, MPI_Comm comm, long bytes) {
  int members;
  MPI_Comm_size(comm, &members);
  const int each = (int)(bytes / members);
  MPI_Alltoall(world->sent, each, MPI_BYTE, world->received, each, MPI_BYTE, comm);
}

static void ft_transpose(const World* world, const Transform* transform) {
  ft_exchange(world, transform->across, transform->bytes);
  if (transform->along != MPI_COMM_NULL) {
    ft_exchange(world, transform->along, transform->bytes);
  }
}

static void fourier_transform(World* world, const char* size) {
  Transform transform = ft_transform(world, nas_class(size));
  allocate(world, (size_t)transform.bytes);
  ft_transpose(world, &transform);
  ft_transpose(world, &transform);
  start_clock(world);
  for (int i = 0; i < world->iterations; ++i) {
    double checksum[2] = {0, 0};
    double sum[2];
    ft_transpose(world, &transform);
    MPI_Reduce(checksum, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  if (transform.along != MPI_COMM_NULL) {
    MPI_Comm_free(&transform.across);
    MPI_Comm_free(&transform.along);
  }
}

// LU: a grid of rows and columns over two dimensions of a cube; planes of the third are worked on one after the other.
typedef struct {
  int before[2];  // neighbours of lower rank, in the row above and in the column before; MPI_PROC_NULL at a border
  int after[2];
  int edge[2];   // points along the border to a row's, to a column's neighbour
  int inner[2];  // of these, points not on the surface of the cube
  int planes;
} Cube;

static int share(int whole, int parts, int index) { return whole / parts + (index < whole % parts ? 1 : 0); }

static Cube lu_cube(const World* world, char size) {
  int bits = 0;
  while (1 << (bits + 1) <= world->ranks) {
    ++bits;
  }
  if (1 << bits != world->ranks) {
    stop("lu: expected a power of two ranks");
  }
  const int columns = 1 << (bits + 1) / 2;
  const int rows = world->ranks / columns;
  const int row = world->rank / columns;
  const int column = world->rank % columns;
  Cube cube = {.planes = size == 'A' ? 64 : size == 'C' ? 162 : 408};
  cube.before[0] = row > 0 ? world->rank - columns : MPI_PROC_NULL;
  cube.after[0] = row + 1 < rows ? world->rank + columns : MPI_PROC_NULL;
  cube.before[1] = column > 0 ? world->rank - 1 : MPI_PROC_NULL;
  cube.after[1] = column + 1 < columns ? world->rank + 1 : MPI_PROC_NULL;
  cube.edge[0] = share(cube.planes, columns, column);
  cube.edge[1] = share(cube.planes, rows, row);
  cube.inner[0] = cube.edge[0] - (column == 0) - (column + 1 == columns);
  cube.inner[1] = cube.edge[1] - (row == 0) - (row + 1 == rows);
  return cube;
}

// A front that moves through the grid, plane by plane: what a rank receives it waits for.
static void lu_sweep(const World* world, const Cube* cube, const int* from, const int* to) {
  for (int plane = 1; plane + 1 < cube->planes; ++plane) {
    for (int i = 0; i < 2; ++i) {
      MPI_Recv(world->received, kVariables * cube->inner[i] * kDouble, MPI_BYTE, from[i], kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; ++i) {
      MPI_Send(world->sent, kVariables * cube->inner[i] * kDouble, MPI_BYTE, to[i], kTag, MPI_COMM_WORLD);
    }
  }
}

static void lu_one_way(const World* world, int bytes, int from, int to) {
  MPI_Request request;
  MPI_Irecv(world->received, bytes, MPI_BYTE, from, kTag, MPI_COMM_WORLD, &request);
  MPI_Send(world->sent, bytes, MPI_BYTE, to, kTag, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Two layers of all planes, to both sides.
static void lu_faces(const World* world, const Cube* cube) {
  for (int i = 0; i < 2; ++i) {
    const int bytes = 2 * kVariables * cube->edge[i] * cube->planes * kDouble;
    lu_one_way(world, bytes, cube->before[i], cube->after[i]);
    lu_one_way(world, bytes, cube->after[i], cube->before[i]);
  }
}

static void lu_iteration(const World* world, const Cube* cube) {
  lu_sweep(world, cube, cube->before, cube->after);
  lu_sweep(world, cube, cube->after, cube->before);
  lu_faces(world, cube);
}

static void gauss_seidel(World* world, const char* size) {
  const Cube cube = lu_cube(world, nas_class(size));
  const int longest = cube.edge[0] > cube.edge[1] ? cube.edge[0] : cube.edge[1];
  allocate(world, (size_t)(2 * kVariables * kDouble) * (size_t)longest * (size_t)cube.planes);
  for (int i = 0; i < 3; ++i) {
    lu_faces(world, &cube);  // of the exact solution and before both solvers
  }
  lu_iteration(world, &cube);
  start_clock(world);
  for (int i = 0; i < world->iterations; ++i) {
    lu_iteration(world, &cube);
  }
}

// ZEUS-MP/2: a grid of tiles. A cycle updates fields; upwards go more layers than downwards.
typedef struct {
  int before[3];
  int after[3];
} Tiles;

static Tiles zeus_tiles(const World* world, int shortest_first) {
  int dimensions[3] = {0, 0, 0};
  MPI_Dims_create(world->ranks, 3, dimensions);
  if (shortest_first) {
    const int longest = dimensions[0];
    dimensions[0] = dimensions[2];
    dimensions[2] = longest;
  }
  Tiles tiles;
  int stride = world->ranks;
  for (int i = 0; i < 3; ++i) {
    stride /= dimensions[i];
    const int index = world->rank / stride % dimensions[i];
    tiles.before[i] = index > 0 ? world->rank - stride : MPI_PROC_NULL;
    tiles.after[i] = index + 1 < dimensions[i] ? world->rank + stride : MPI_PROC_NULL;
  }
  return tiles;
}

static void zeus_field(const World* world, const Tiles* tiles, int downwards) {
  for (int i = 0; i < 3; ++i) {
    const int below = downwards ? tiles->before[i] : MPI_PROC_NULL;
    const int above = downwards ? tiles->after[i] : MPI_PROC_NULL;
    MPI_Request requests[4];
    MPI_Irecv(world->received, kFieldBytes, MPI_BYTE, tiles->before[i], kTag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(world->received + kFieldBytes, kFieldBytes, MPI_BYTE, above, kTag, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(world->sent, kFieldBytes, MPI_BYTE, tiles->after[i], kTag, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(world->sent, kFieldBytes, MPI_BYTE, below, kTag, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}

static void zeus_cycle(const World* world, const Tiles* tiles) {
  for (int field = 0; field < 36; ++field) {
    zeus_field(world, tiles, field % 6 != 5);
  }
  double step = 1;
  for (int i = 0; i < 3; ++i) {
    double least;
    MPI_Allreduce(&step, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  }
}

static void zeus(World* world, const char* size) {
  const int shortest_first = strcmp(size, "16s") == 0;
  if (!shortest_first && strcmp(size, "16") != 0) {
    stop("zeus: expected CLASS 16 or 16s");
  }
  const Tiles tiles = zeus_tiles(world, shortest_first);
  allocate(world, 2 * kFieldBytes);
  start_clock(world);
  for (int i = 0; i < world->iterations; ++i) {
    zeus_cycle(world, &tiles);
  }
}

// "64K", "4M": at most 1 GiB.
static int amount(const char* text) {
  char* end;
  const long number = strtol(text, &end, 10);
  const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
  if (number < 1 || number > 1024 || shift == 0 || end[1] != '\0') {
    stop("expected CLASS 4K, 1M or the like");
  }
  return (int)number << shift;
}

// reorder-2011 §4.1: a token goes around each ring of eight ranks; then the first ranks of the rings exchange theirs.
static void rings(World* world, const char* size) {
  const int bytes = amount(size);
  if (world->ranks % kRing != 0) {
    stop("rings: expected a multiple of eight ranks");
  }
  const int place = world->rank % kRing;
  const int first = world->rank - place;
  const int next = first + (place + 1) % kRing;
  const int before = first + (place + kRing - 1) % kRing;
  MPI_Comm leaders;
  MPI_Comm_split(MPI_COMM_WORLD, place == 0 ? 0 : MPI_UNDEFINED, world->rank, &leaders);
  allocate(world, (size_t)bytes * (size_t)(place == 0 ? world->ranks / kRing : 1));
  start_clock(world);
  for (int i = 0; i < world->iterations; ++i) {
    if (place == 0) {
      MPI_Send(world->sent, bytes, MPI_BYTE, next, kTag, MPI_COMM_WORLD);
    }
    MPI_Recv(world->received, bytes, MPI_BYTE, before, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (place == 0) {
      MPI_Allgather(world->sent, bytes, MPI_BYTE, world->received, bytes, MPI_BYTE, leaders);
    } else {
      MPI_Send(world->received, bytes, MPI_BYTE, next, kTag, MPI_COMM_WORLD);
    }
  }
  if (leaders != MPI_COMM_NULL) {
    MPI_Comm_free(&leaders);
  }
}

// A square grid of ranks with a block of the matrix each. Sums of partial products are divided along a row of the grid,
// and gathered along a column as the next factor. One word holds 64 vectors' bits of a row of the matrix.
static void wiedemann(World* world, const char* size) {
  int side = 1;
  while (side * side < world->ranks) {
    ++side;
  }
  if (side * side != world->ranks) {
    stop("wiedemann: expected a square number of ranks");
  }
  const int words = (amount(size) + world->ranks - 1) / world->ranks;
  MPI_Comm row;
  MPI_Comm column;
  MPI_Comm_split(MPI_COMM_WORLD, world->rank / side, world->rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, world->rank % side, world->rank, &column);
  allocate(world, (size_t)words * (size_t)side * sizeof(uint64_t));
  int* counts = malloc((size_t)side * sizeof *counts);
  if (!counts) {
    stop("out of memory");
  }
  for (int i = 0; i < side; ++i) {
    counts[i] = words;
  }
  start_clock(world);
  for (int i = 0; i < world->iterations; ++i) {
    MPI_Reduce_scatter(world->sent, world->received, counts, MPI_UINT64_T, MPI_BXOR, row);
    MPI_Allgather(world->received, words, MPI_UINT64_T, world->sent, words, MPI_UINT64_T, column);
  }
  free(counts);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
}

typedef void (*Kernel)(World*, const char*);

static Kernel kernel_of(const char* name) {
  static const struct {
    const char* name;
    Kernel kernel;
  } kernels[] = {{"cg", conjugate_gradient}, {"ft", fourier_transform}, {"lu", gauss_seidel}, {"zeus", zeus},
                 {"rings", rings},           {"wiedemann", wiedemann}};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
    if (strcmp(name, kernels[i].name) == 0) {
      return kernels[i].kernel;
    }
  }
  return NULL;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  World world = {.iterations = count == 4 ? atoi(arguments[3]) : 0};
  const Kernel kernel = count == 4 ? kernel_of(arguments[1]) : NULL;
  if (!kernel || world.iterations < 1) {
    stop("usage: kernels cg|ft|lu|zeus|rings|wiedemann CLASS ITERATIONS");
  }
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  kernel(&world, arguments[2]);
  const double seconds = MPI_Wtime() - world.begin;
  double longest = 0;
  MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (world.rank == 0) {
    printf("seconds,%.9g\n", longest);
  }
  free(world.received);
  free(world.sent);
  MPI_Finalize();
  return 0;
}
