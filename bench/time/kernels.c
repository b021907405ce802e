// Exchanges of nine programs, without their computing.
//
//   kernels shift|rows|columns|sparse|workers|coupled|multigrid|sort|transform [--bytes B] [--iterations I]
//
// shift: rings of four consecutive ranks, each rank sends B bytes to the next one of its ring, all at once. rows,
// columns: the ranks are a square grid; each rank sends B bytes to every other rank of its row (its column) at once.
// sparse: each rank sends to three others at distances that are the same for all, B, B / 2 and B / 4 bytes. workers:
// rank 0 answers each of 4 requests of every other rank, in the order in which they come, with B bytes, and gets B / 4
// bytes back. coupled: two grids of half the ranks each, one twice as wide as high and one twice as high as wide; ranks
// exchange B / 4 bytes with each neighbour in their grid, then B bytes with the rank of the other grid that has their
// number there. multigrid: V-cycles of MG of the NAS Parallel Benchmarks on a periodic grid of three dimensions: faces
// of B bytes on the finest level, a quarter of it on each coarser one, one dimension after the other. sort: IS of these
// benchmarks: the sizes of buckets are summed and their lengths exchanged, then each rank sends every other a bucket of
// B bytes. transform: FT: every rank sends every other B bytes, then a checksum is reduced. Prints JSON: seconds of an
// iteration, of the slowest rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRing = 4, kRequests = 4, kMostPeers = 64, kBuckets = 1024, kRequest = 1, kAnswer = 2, kTag = 3 };

typedef struct {
  int rank;
  int size;
  int side;  // of the grid
  int bytes;
  char* sent;      // one message for each rank
  char* received;  // one of each rank
} Job;

typedef struct {
  int to[kMostPeers];
  int from[kMostPeers];
  int bytes[kMostPeers];
  int count;
} Partners;

_Noreturn static void stop(const char* text) {
  fprintf(stderr, "kernels: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void exchange(const Job* job, const Partners* partners) {
  MPI_Request requests[2 * kMostPeers];
  for (int i = 0; i < partners->count; ++i) {
    MPI_Irecv(job->received + (size_t)i * job->bytes, partners->bytes[i], MPI_BYTE, partners->from[i], kTag,
              MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < partners->count; ++i) {
    MPI_Isend(job->sent, partners->bytes[i], MPI_BYTE, partners->to[i], kTag, MPI_COMM_WORLD,
              &requests[partners->count + i]);
  }
  MPI_Waitall(2 * partners->count, requests, MPI_STATUSES_IGNORE);
}

static void add(Partners* partners, int to, int from, int bytes) {
  partners->to[partners->count] = to;
  partners->from[partners->count] = from;
  partners->bytes[partners->count++] = bytes;
}

static Partners next_in_ring(const Job* job) {
  const int first = job->rank / kRing * kRing;
  const int place = job->rank % kRing;
  Partners partners = {.count = 0};
  add(&partners, first + (place + 1) % kRing, first + (place + kRing - 1) % kRing, job->bytes);
  return partners;
}

// `stride`: between two ranks of the group; 1 in a row, the side in a column.
static Partners group(const Job* job, int stride) {
  const int place = job->rank / stride % job->side;
  const int first = job->rank - place * stride;
  Partners partners = {.count = 0};
  for (int i = 1; i < job->side; ++i) {
    const int after = (place + i) % job->side;
    const int before = (place + job->side - i) % job->side;
    add(&partners, first + after * stride, first + before * stride, job->bytes);
  }
  return partners;
}

static Partners at_distances(const Job* job) {
  const int distances[] = {7, 2, 5};
  Partners partners = {.count = 0};
  for (int i = 0; i < 3; ++i) {
    const int distance = distances[i] % job->size;
    add(&partners, (job->rank + distance) % job->size, (job->rank + job->size - distance) % job->size, job->bytes >> i);
  }
  return partners;
}

static void serve(const Job* job) {
  for (int i = 0; i < kRequests * (job->size - 1); ++i) {
    MPI_Status status;
    MPI_Recv(job->received, job->bytes / 4, MPI_BYTE, MPI_ANY_SOURCE, kRequest, MPI_COMM_WORLD, &status);
    MPI_Send(job->sent, job->bytes, MPI_BYTE, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD);
  }
}

static void work(const Job* job) {
  for (int i = 0; i < kRequests; ++i) {
    MPI_Send(job->sent, job->bytes / 4, MPI_BYTE, 0, kRequest, MPI_COMM_WORLD);
    MPI_Recv(job->received, job->bytes, MPI_BYTE, 0, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Of a grid with so many columns, whose first rank is `first`.
static void add_neighbours(Partners* partners, const Job* job, int first, int columns) {
  const int place = job->rank - first;
  const int steps[] = {-columns, columns, -1, 1};
  const int inside[] = {place >= columns, place + columns < job->size / 2, place % columns > 0,
                        place % columns + 1 < columns};
  for (int i = 0; i < 4; ++i) {
    if (inside[i]) {
      add(partners, job->rank + steps[i], job->rank + steps[i], job->bytes / 4);
    }
  }
}

static void couple(const Job* job) {
  const int half = job->size / 2;
  const int second = job->rank >= half;
  Partners grid = {.count = 0};
  add_neighbours(&grid, job, second ? half : 0, second ? job->side / 2 : job->side);
  exchange(job, &grid);
  const int other = second ? job->rank - half : job->rank + half;
  Partners pair = {.count = 0};
  add(&pair, other, other, job->bytes);
  exchange(job, &pair);
}

// Both neighbours in one dimension of a periodic grid.
static void swap_faces(const Job* job, int stride, int length, int bytes) {
  const int place = job->rank / stride % length;
  const int above = job->rank + ((place + 1) % length - place) * stride;
  const int below = job->rank + ((place + length - 1) % length - place) * stride;
  Partners partners = {.count = 0};
  add(&partners, above, below, bytes);
  add(&partners, below, above, bytes);
  exchange(job, &partners);
}

static void cycle_grids(const Job* job) {
  int dimensions[3] = {0, 0, 0};
  MPI_Dims_create(job->size, 3, dimensions);
  int finest = 0;
  while (job->bytes >> 2 * (finest + 1) >= (int)sizeof(double)) {
    ++finest;
  }
  for (int step = -finest; step <= finest; ++step) {
    const int bytes = job->bytes >> 2 * (finest - abs(step));
    int stride = 1;
    for (int i = 2; i >= 0; --i) {
      swap_faces(job, stride, dimensions[i], bytes);
      stride *= dimensions[i];
    }
  }
}

static void send_to_all(const Job* job) {
  MPI_Alltoall(job->sent, job->bytes, MPI_BYTE, job->received, job->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void sort(const Job* job) {
  int sizes[kBuckets] = {0};
  int sums[kBuckets];
  int lengths[kMostPeers] = {0};
  int theirs[kMostPeers];
  MPI_Allreduce(sizes, sums, kBuckets, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(lengths, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
  send_to_all(job);
}

static void transform(const Job* job) {
  const double part[2] = {0, 0};
  double sum[2];
  send_to_all(job);
  MPI_Reduce(part, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static Partners partners_of(const Job* job, const char* name) {
  if (strcmp(name, "shift") == 0) {
    return next_in_ring(job);
  }
  if (strcmp(name, "sparse") == 0) {
    return at_distances(job);
  }
  return group(job, strcmp(name, "rows") == 0 ? 1 : job->side);
}

static void serve_or_work(const Job* job) { job->rank == 0 ? serve(job) : work(job); }

typedef void (*Step)(const Job*);

// Null: the program is one exchange, that of partners_of().
static Step step_of(const char* name) {
  static const struct {
    const char* name;
    Step step;
  } steps[] = {{"workers", serve_or_work},
               {"coupled", couple},
               {"multigrid", cycle_grids},
               {"sort", sort},
               {"transform", transform}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i) {
    if (strcmp(steps[i].name, name) == 0) {
      return steps[i].step;
    }
  }
  return NULL;
}

static double measure(const Job* job, const char* name, int iterations) {
  const Step step = step_of(name);
  const Partners partners = partners_of(job, name);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    if (step) {
      step(job);
    } else {
      exchange(job, &partners);
    }
  }
  return (MPI_Wtime() - begin) / iterations;
}

static Job make_job(int bytes) {
  Job job = {.side = 1, .bytes = bytes};
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.size);
  while (job.side * job.side < job.size) {
    ++job.side;
  }
  if (job.side * job.side != job.size || job.size % kRing != 0 || job.size > kMostPeers) {
    stop("expected 4, 16, 36 or 64 ranks");
  }
  job.sent = calloc((size_t)bytes, (size_t)job.size);
  job.received = calloc((size_t)bytes, (size_t)job.size);
  if (!job.sent || !job.received) {
    stop("out of memory");
  }
  return job;
}

static int known(const char* name) {
  const char* const exchanges[] = {"shift", "rows", "columns", "sparse"};
  for (int i = 0; i < 4; ++i) {
    if (strcmp(exchanges[i], name) == 0) {
      return 1;
    }
  }
  return step_of(name) != NULL;
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
  if (!known(name) || bytes < 4 || iterations < 1) {
    stop("usage: kernels PROGRAM [--bytes B] [--iterations I]; see kernels.c");
  }
  Job job = make_job(bytes);
  const double seconds = measure(&job, name, iterations);
  double slowest = 0;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (job.rank == 0) {
    printf("{\"seconds_per_iteration\": %.9f, \"iterations\": %d}\n", slowest, iterations);
  }
  free(job.received);
  free(job.sent);
  MPI_Finalize();
  return 0;
}
