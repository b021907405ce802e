// Exchanges of three kernels, without their computing, on p = s x s ranks; s is a power of two for cg.
//
//   kernels rings|cg|rows [--bytes B] [--iterations I]
//
// rings: each rank sends B bytes to the next one of its row, the last to the first, all at once. cg: as in NAS CG, a
// rank exchanges B bytes with log2(s) partners of its row, one after the other, then B bytes with its mirror image
// across the diagonal. rows: each rank sends B bytes to every other rank of its row at once. Prints JSON.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTag = 3 };

typedef struct {
  int side;
  int row;
  int column;
  int bytes;
  char* sent;
  char* received;  // one message of each rank of the row
  MPI_Request* requests;
} Grid;

_Noreturn static void stop(const char* text) {
  fprintf(stderr, "kernels: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void exchange(const Grid* grid, int partner) {
  MPI_Irecv(grid->received, grid->bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &grid->requests[0]);
  MPI_Isend(grid->sent, grid->bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &grid->requests[1]);
  MPI_Waitall(2, grid->requests, MPI_STATUSES_IGNORE);
}

static void rings(const Grid* grid) {
  const int first = grid->row * grid->side;
  MPI_Irecv(grid->received, grid->bytes, MPI_BYTE, first + (grid->column + grid->side - 1) % grid->side, kTag,
            MPI_COMM_WORLD, &grid->requests[0]);
  MPI_Isend(grid->sent, grid->bytes, MPI_BYTE, first + (grid->column + 1) % grid->side, kTag, MPI_COMM_WORLD,
            &grid->requests[1]);
  MPI_Waitall(2, grid->requests, MPI_STATUSES_IGNORE);
}

static void conjugate_gradient(const Grid* grid) {
  for (int bit = 1; bit < grid->side; bit *= 2) {
    exchange(grid, grid->row * grid->side + (grid->column ^ bit));
  }
  if (grid->row != grid->column) {
    exchange(grid, grid->column * grid->side + grid->row);
  }
}

static void all_to_all_in_rows(const Grid* grid) {
  int posted = 0;
  for (int i = 1; i < grid->side; ++i) {
    const int from = (grid->column + grid->side - i) % grid->side;
    MPI_Irecv(grid->received + (size_t)from * grid->bytes, grid->bytes, MPI_BYTE, grid->row * grid->side + from, kTag,
              MPI_COMM_WORLD, &grid->requests[posted++]);
  }
  for (int i = 1; i < grid->side; ++i) {
    const int to = (grid->column + i) % grid->side;
    MPI_Isend(grid->sent, grid->bytes, MPI_BYTE, grid->row * grid->side + to, kTag, MPI_COMM_WORLD,
              &grid->requests[posted++]);
  }
  MPI_Waitall(posted, grid->requests, MPI_STATUSES_IGNORE);
}

static Grid make_grid(int bytes) {
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Grid grid = {.side = 1, .bytes = bytes};
  while (grid.side * grid.side < size) {
    ++grid.side;
  }
  if (grid.side * grid.side != size) {
    stop("expected a square number of ranks");
  }
  grid.row = rank / grid.side;
  grid.column = rank % grid.side;
  grid.sent = calloc((size_t)bytes, 1);
  grid.received = calloc((size_t)bytes, (size_t)grid.side);
  grid.requests = malloc(2 * (size_t)grid.side * sizeof(MPI_Request) + 2 * sizeof(MPI_Request));
  if (!grid.sent || !grid.received || !grid.requests) {
    stop("out of memory");
  }
  return grid;
}

typedef void (*Kernel)(const Grid*);

static Kernel kernel_of(const char* name) {
  if (strcmp(name, "rings") == 0) {
    return rings;
  }
  if (strcmp(name, "cg") == 0) {
    return conjugate_gradient;
  }
  return strcmp(name, "rows") == 0 ? all_to_all_in_rows : NULL;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int bytes = 65536;
  int iterations = 10;
  for (int i = 2; i + 1 < count; i += 2) {
    if (strcmp(arguments[i], "--bytes") == 0) {
      bytes = atoi(arguments[i + 1]);
    } else if (strcmp(arguments[i], "--iterations") == 0) {
      iterations = atoi(arguments[i + 1]);
    }
  }
  const char* const name = count > 1 ? arguments[1] : "";
  const Kernel kernel = kernel_of(name);
  if (!kernel || bytes < 1 || iterations < 1) {
    stop("usage: kernels rings|cg|rows [--bytes B] [--iterations I]");
  }
  const Grid grid = make_grid(bytes);
  if (kernel == conjugate_gradient && (grid.side & (grid.side - 1)) != 0) {
    stop("expected a power of two ranks in a row");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    kernel(&grid);
  }
  const double seconds = (MPI_Wtime() - begin) / iterations;
  double slowest = 0;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (grid.row == 0 && grid.column == 0) {
    printf("{\"program\": \"%s\", \"bytes\": %d, \"iterations\": %d, \"seconds_per_iteration\": %.9f}\n", name, bytes,
           iterations, slowest);
  }
  free(grid.requests);
  free(grid.received);
  free(grid.sent);
  MPI_Finalize();
  return 0;
}
