/* Communication of known patterns, in the rank order of the launcher or in an order of Ranktree.
 *
 *   bench_reorder_work_<mpi> rings|stencil|cg none|central|node|distributed|cart BYTES ITERATIONS [PATTERN]
 *
 * rings: rings of four consecutive ranks, a token of BYTES travels around each, then the leaders exchange theirs
 * (reorder-2011 §4.1). stencil: halos of BYTES with the neighbours in a grid of ranks, as square as possible. cg: the
 * ranks are a matrix of rows and columns; sums of BYTES by halves along the rows, an exchange with the transposed
 * rank, two sums of one number (the exchanges of NAS CG). PATTERN: the recording of `ranktree trace`, for all orders
 * but none and cart. Prints a JSON line: seconds of an iteration, of the slowest rank.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

enum { kRing = 4 };

typedef struct {
  MPI_Comm comm;
  MPI_Comm leaders;
  int rank, size, rows, columns, bytes;
  char *out, *in, *all;
} Work;

static void stop(const char* text) {
  fprintf(stderr, "work: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static void swap(const Work* work, int to, int from) {
  MPI_Sendrecv(work->out, work->bytes, MPI_CHAR, to, 0, work->in, work->bytes, MPI_CHAR, from, 0, work->comm,
               MPI_STATUS_IGNORE);
}

static void rings(const Work* work) {
  const int first = work->rank / kRing * kRing;
  const int length = work->size - first < kRing ? work->size - first : kRing;
  const int next = first + (work->rank - first + 1) % length;
  const int previous = first + (work->rank - first + length - 1) % length;
  if (work->rank == first) {
    swap(work, next, previous);
    MPI_Allgather(work->out, work->bytes, MPI_CHAR, work->all, work->bytes, MPI_CHAR, work->leaders);
  } else {
    MPI_Recv(work->in, work->bytes, MPI_CHAR, previous, 0, work->comm, MPI_STATUS_IGNORE);
    MPI_Send(work->in, work->bytes, MPI_CHAR, next, 0, work->comm);
  }
}

static void stencil(const Work* work) {
  const int row = work->rank / work->columns, column = work->rank % work->columns;
  const int neighbours[] = {row > 0 ? work->rank - work->columns : MPI_PROC_NULL,
                            row < work->rows - 1 ? work->rank + work->columns : MPI_PROC_NULL,
                            column > 0 ? work->rank - 1 : MPI_PROC_NULL,
                            column < work->columns - 1 ? work->rank + 1 : MPI_PROC_NULL};
  MPI_Request requests[8];
  MPI_Status statuses[8]; /* gcc 12 warns about MPICH's MPI_STATUSES_IGNORE, the pointer 1 */
  for (int i = 0; i < 4; ++i) {
    MPI_Irecv(work->all + (size_t)i * work->bytes, work->bytes, MPI_CHAR, neighbours[i], 0, work->comm, &requests[i]);
    MPI_Isend(work->out, work->bytes, MPI_CHAR, neighbours[i], 0, work->comm, &requests[4 + i]);
  }
  MPI_Waitall(8, requests, statuses);
}

static void cg(const Work* work) {
  const int row = work->rank / work->columns, column = work->rank % work->columns;
  for (int bit = 1; bit < work->columns; bit *= 2) {
    const int partner = row * work->columns + (column ^ bit);
    swap(work, partner, partner);
  }
  const int transposed = column * work->columns + row;
  swap(work, transposed, transposed);
  double sums[2] = {1, 2};
  for (int i = 0; i < 2; ++i) MPI_Allreduce(MPI_IN_PLACE, &sums[i], 1, MPI_DOUBLE, MPI_SUM, work->comm);
}

static MPI_Comm ordered(const char* order, const char* pattern) {
  MPI_Comm comm = MPI_COMM_WORLD;
  if (strcmp(order, "none") == 0) return comm;
  if (strcmp(order, "cart") == 0) {
    int size, dims[2] = {0, 0};
    const int periods[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    ranktree_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm);
    return comm;
  }
  int n, new_rank, edges = 0, *sources, *degrees, *destinations, *weights;
  MPI_Info info;
  ranktree_read_pattern(pattern, MPI_COMM_WORLD, "size", &n, &sources, &degrees, &destinations, &weights);
  for (int i = 0; i < n; ++i) edges += degrees[i];
  double* amounts = malloc(((size_t)edges + 1) * sizeof *amounts);
  if (amounts == NULL) stop("out of memory");
  for (int i = 0; i < edges; ++i) amounts[i] = weights[i];
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_reorder_mode", order);
  ranktree_Comm_reorder(MPI_COMM_WORLD, n, sources, degrees, destinations, amounts, info, &new_rank, &comm);
  MPI_Info_free(&info);
  free(sources);
  free(degrees);
  free(destinations);
  free(weights);
  free(amounts);
  return comm;
}

static Work prepare(MPI_Comm comm, int bytes) {
  Work work = {.comm = comm, .bytes = bytes};
  int dims[2] = {0, 0};
  MPI_Comm_rank(comm, &work.rank);
  MPI_Comm_size(comm, &work.size);
  MPI_Dims_create(work.size, 2, dims);
  work.rows = dims[0];
  work.columns = dims[1];
  MPI_Comm_split(comm, work.rank % kRing == 0 ? 0 : MPI_UNDEFINED, 0, &work.leaders);
  work.out = calloc((size_t)bytes, 1);
  work.in = calloc((size_t)bytes, 1);
  work.all = calloc((size_t)bytes, (size_t)(work.size > 4 ? work.size : 4));
  if (!work.out || !work.in || !work.all) stop("out of memory");
  return work;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) stop("usage: work WORK ORDER BYTES ITERATIONS [PATTERN]");
  const int iterations = atoi(argv[4]);
  Work work = prepare(ordered(argv[2], argc > 5 ? argv[5] : ""), atoi(argv[3]));
  void (*const step)(const Work*) = strcmp(argv[1], "rings") == 0 ? rings : strcmp(argv[1], "cg") == 0 ? cg : stencil;
  if (step == cg && (work.rows != work.columns || (work.columns & (work.columns - 1)) != 0))
    stop("cg: 4, 16, 64 ranks");
  double slowest = 0;
  step(&work); /* sets up connections */
  MPI_Barrier(work.comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) step(&work);
  const double seconds = (MPI_Wtime() - begin) / iterations;
  MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, work.comm);
  if (work.rank == 0) printf("{\"seconds_per_iteration\": %.9g, \"iterations\": %d}\n", slowest, iterations);
  free(work.out);
  free(work.in);
  free(work.all);
  MPI_Finalize();
  return 0;
}
