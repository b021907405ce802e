// fallthrough WINDOWS: the time of calls without bytes, on a communicator of one rank and on the world. The figure is
// the shortest of many short windows, the only one that other load on the machine does not change. Rank 0 prints
// COMMUNICATOR NANOSECONDS CALL.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kCalls = 5000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int nothing, result;
static int no_counts[64];
static MPI_Datatype pairs;
static MPI_Op own;

static void add(void* in, void* into, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)into)[i] += ((int*)in)[i];
}

static void broadcast(MPI_Comm comm) { MPI_Bcast(&nothing, 0, MPI_INT, 0, comm); }
static void broadcast_of_pairs(MPI_Comm comm) { MPI_Bcast(&nothing, 0, pairs, 0, comm); }
static void reduce(MPI_Comm comm) { MPI_Reduce(&nothing, &result, 0, MPI_INT, MPI_SUM, 0, comm); }
static void reduce_by_own(MPI_Comm comm) { MPI_Reduce(&nothing, &result, 0, MPI_INT, own, 0, comm); }
static void reduce_scatter(MPI_Comm comm) { MPI_Reduce_scatter(&nothing, &result, no_counts, MPI_INT, MPI_SUM, comm); }

static double least_of(int windows, void (*call)(MPI_Comm), MPI_Comm comm) {
  double least = 1e9;
  for (int window = 0; window < windows; ++window) {
    MPI_Barrier(comm);
    const double start = now();
    for (int i = 0; i < kCalls; ++i) call(comm);
    const double time = (now() - start) / kCalls;
    if (time < least) least = time;
  }
  return least;
}

int main(int argc, char** argv) {
  const int windows = argc > 1 ? atoi(argv[1]) : 300;
  const struct {
    const char* name;
    void (*call)(MPI_Comm);
  } calls[] = {{"MPI_Bcast", broadcast},
               {"MPI_Bcast of a vector type", broadcast_of_pairs},
               {"MPI_Reduce", reduce},
               {"MPI_Reduce by an own operation", reduce_by_own},
               {"MPI_Reduce_scatter", reduce_scatter}};
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Op_create(add, 1, &own);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    const double self = least_of(windows, calls[i].call, MPI_COMM_SELF);
    const double world = least_of(windows, calls[i].call, MPI_COMM_WORLD);
    if (rank == 0) printf("self %.2f %s\nworld %.2f %s\n", self, calls[i].name, world, calls[i].name);
  }
  MPI_Op_free(&own);
  MPI_Type_free(&pairs);
  MPI_Finalize();
  return 0;
}
