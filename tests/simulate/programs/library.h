/* What a rank of the library's tests does: it splits, reorders and runs collectives, checks every result, and describes
 * what it got in one line. */
#ifndef TESTS_SIMULATE_LIBRARY_H
#define TESTS_SIMULATE_LIBRARY_H

#include <mpi.h>
#include <ranktree/mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostLevels = 32, kLineBytes = 2048 };

static void library_require(int holds, const char* text) {
  if (holds) return;
  fprintf(stderr, "library: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int library_describe_levels(MPI_Comm comm, char* line) {
  MPI_Comm levels[kMostLevels];
  int count = 0;
  int length = 0;
  ranktree_Comm_hsplit_all(comm, MPI_INFO_NULL, kMostLevels, &count, levels, NULL);
  for (int i = 0; i < count; ++i) {
    char type[RANKTREE_MAX_TYPE];
    int parts = 0;
    int index = 0;
    int letters = 0;
    int size = 0;
    ranktree_Comm_get_hlevel_info(levels[i], &parts, &index, type, RANKTREE_MAX_TYPE, &letters);
    MPI_Comm_size(levels[i], &size);
    length += snprintf(line + length, kLineBytes / 2, " %s:%d/%d:%d", type, index, parts, size);
  }
  for (int i = count; i-- > 0;) MPI_Comm_free(&levels[i]);
  return length;
}

/* Rank r exchanges with its neighbours on a ring in which every second rank is far away. */
static int library_new_rank(MPI_Comm comm, const char* mode) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int half = (size + 1) / 2;
  const int partner = rank < half ? (rank + half) % size : rank - half;
  const int degree = 1;
  const double weight = 1000;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_reorder_mode", mode);
  MPI_Comm reordered = MPI_COMM_NULL;
  int fresh = -1;
  ranktree_Comm_reorder(comm, 1, &rank, &degree, &partner, &weight, info, &fresh, &reordered);
  MPI_Info_free(&info);
  int there = -1;
  MPI_Comm_rank(reordered, &there);
  library_require(there == fresh, "the new communicator has another rank than was returned");
  long sum = fresh;
  long all = 0;
  MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, comm);
  library_require(all == (long)size * (size - 1) / 2, "the new ranks are no permutation");
  MPI_Comm_free(&reordered);
  return fresh;
}

static void library_check_collectives(MPI_Comm comm, int count) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  long* one = (long*)malloc((size_t)count * sizeof *one);
  long* other = (long*)malloc((size_t)count * (size_t)size * sizeof *other);
  long* blocks = (long*)malloc((size_t)count * (size_t)size * sizeof *blocks);
  for (int root = 0; root < size; root += size / 2 + 1) {
    for (int i = 0; i < count; ++i) one[i] = rank == root ? 7L * i + root : -1;
    ranktree_Bcast(one, count, MPI_LONG, root, comm);
    for (int i = 0; i < count; ++i) library_require(one[i] == 7L * i + root, "broadcast");
    for (int i = 0; i < count; ++i) one[i] = rank + i;
    ranktree_Reduce(one, other, count, MPI_LONG, MPI_SUM, root, comm);
    for (int i = 0; rank == root && i < count; ++i)
      library_require(other[i] == (long)size * (size - 1) / 2 + (long)size * i, "reduce");
    ranktree_Gather(one, count, MPI_LONG, other, count, MPI_LONG, root, comm);
    for (int i = 0; rank == root && i < count * size; ++i) library_require(other[i] == i / count + i % count, "gather");
    ranktree_Scatter(other, count, MPI_LONG, one, count, MPI_LONG, root, comm);
    for (int i = 0; i < count; ++i) library_require(one[i] == rank + i, "scatter");
  }
  ranktree_Allreduce(one, other, count, MPI_LONG, MPI_MAX, comm);
  for (int i = 0; i < count; ++i) library_require(other[i] == size - 1 + i, "allreduce");
  ranktree_Allgather(one, count, MPI_LONG, other, count, MPI_LONG, comm);
  for (int i = 0; i < count * size; ++i) library_require(other[i] == i / count + i % count, "allgather");
  for (int i = 0; i < count * size; ++i) blocks[i] = 1000L * rank + i / count;
  ranktree_Alltoall(blocks, count, MPI_LONG, other, count, MPI_LONG, comm);
  for (int i = 0; i < count * size; ++i) library_require(other[i] == 1000L * (i / count) + rank, "alltoall");
  ranktree_Reduce_scatter_block(blocks, one, count, MPI_LONG, MPI_SUM, comm);
  for (int i = 0; i < count; ++i)
    library_require(one[i] == 1000L * size * (size - 1) / 2 + (long)size * rank, "reduce_scatter");
  ranktree_Barrier(comm);
  free(blocks);
  free(other);
  free(one);
}

/* One line of the calling rank: its levels, and its ranks in both orders. */
static void library_rank(MPI_Comm comm, char line[kLineBytes], int count) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  int length = snprintf(line, kLineBytes, "rank %d:", rank);
  length += library_describe_levels(comm, line + length);
  const int central = library_new_rank(comm, "central");
  const int distributed = library_new_rank(comm, "distributed");
  snprintf(line + length, (size_t)(kLineBytes - length), " central %d distributed %d", central, distributed);
  library_check_collectives(comm, count);
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(comm, rank % 2, rank, &halves);
  library_check_collectives(halves, 3);
  MPI_Comm_free(&halves);
}

#endif
