/* Cost of one level: MPI_Comm_split, the limit for Ranktree (a split, a small broadcast, a small allreduce), Ranktree,
 * and the native MPI_COMM_TYPE_HW_UNGUIDED where it exists; interleaved in one process. Usage: levels REPETITIONS. Rank
 * 0 prints "name median minimum" in microseconds of the slowest rank.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ranktree/mpi.h"

enum { kMaxLevels = 16 };

typedef struct {
  MPI_Comm comm;  /* Ranktree knows its nodes */
  MPI_Comm fresh; /* Ranktree does not know its nodes yet */
} Comms;

static void drop(MPI_Comm* comm) {
  if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}

static void native_split(Comms* comms) {
  MPI_Comm part;
  int rank;
  MPI_Comm_rank(comms->comm, &rank);
  MPI_Comm_split(comms->comm, rank % 2, 0, &part);
  drop(&part);
}

static void bound(Comms* comms) {
  long value = 1, all;
  MPI_Bcast(&value, 1, MPI_LONG, 0, comms->comm);
  MPI_Allreduce(&value, &all, 1, MPI_LONG, MPI_MIN, comms->comm);
  native_split(comms);
}

static void native_shared(Comms* comms) {
  MPI_Comm part;
  MPI_Comm_split_type(comms->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
  drop(&part);
}

static void one_level(Comms* comms) {
  MPI_Comm part;
  ranktree_Comm_hsplit(comms->comm, 0, MPI_INFO_NULL, &part);
  drop(&part);
}

static void first_level(Comms* comms) {
  MPI_Comm part;
  ranktree_Comm_hsplit(comms->fresh, 0, MPI_INFO_NULL, &part);
  drop(&part);
}

static void with_roots(Comms* comms) {
  MPI_Comm part, roots;
  ranktree_Comm_hsplit_with_roots(comms->comm, MPI_INFO_NULL, &part, &roots);
  drop(&roots);
  drop(&part);
}

static void all_levels(Comms* comms) {
  MPI_Comm levels[kMaxLevels];
  int count;
  ranktree_Comm_hsplit_all(comms->comm, MPI_INFO_NULL, kMaxLevels, &count, levels, NULL);
  while (count-- > 0) drop(&levels[count]);
}

#if RANKTREE_HAS_MPI_COMM_TYPE_HW_UNGUIDED
static void native_unguided(Comms* comms) {
  MPI_Comm part;
  MPI_Comm_split_type(comms->comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part);
  drop(&part);
}
#endif

static const struct {
  const char* name;
  void (*run)(Comms*);
} kCalls[] = {
    {"MPI_Comm_split", native_split},
    {"bound", bound},
    {"MPI_COMM_TYPE_SHARED", native_shared},
    {"hsplit", one_level},
    {"hsplit, nodes not known", first_level},
    {"hsplit_with_roots", with_roots},
    {"hsplit_all", all_levels},
#if RANKTREE_HAS_MPI_COMM_TYPE_HW_UNGUIDED
    {"MPI's HW_UNGUIDED", native_unguided},
#endif
};
enum { kCallCount = sizeof kCalls / sizeof *kCalls };

static double seconds_of(int call, Comms* comms) {
  double own, slowest;
  /* A split copies no attribute, so the nodes must be determined again. */
  MPI_Comm_split(comms->comm, 0, 0, &comms->fresh);
  MPI_Barrier(comms->comm);
  const double begin = MPI_Wtime();
  kCalls[call].run(comms);
  own = MPI_Wtime() - begin;
  MPI_Comm_free(&comms->fresh);
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, comms->comm);
  return slowest;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  Comms comms = {MPI_COMM_NULL, MPI_COMM_NULL};
  int rank;
  MPI_Init(&argc, &argv);
  const int repetitions = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms.comm);
  double* times = malloc(sizeof(double) * kCallCount * (size_t)repetitions);
  if (times == NULL || repetitions < 1) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int call = 0; call < kCallCount; ++call) seconds_of(call, &comms); /* warms up, and the nodes become known */
  for (int i = 0; i < repetitions; ++i) {
    for (int call = 0; call < kCallCount; ++call) times[call * repetitions + i] = seconds_of(call, &comms);
  }
  for (int call = 0; call < kCallCount && rank == 0; ++call) {
    double* own = times + call * repetitions;
    qsort(own, (size_t)repetitions, sizeof(double), ascending);
    printf("%s\t%.1f\t%.1f\n", kCalls[call].name, 1e6 * own[repetitions / 2], 1e6 * own[0]);
  }
  free(times);
  MPI_Comm_free(&comms.comm);
  MPI_Finalize();
  return 0;
}
