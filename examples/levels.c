// The levels of the machine that every rank belongs to, and a broadcast that goes down them: from the root of each
// level to the roots of the parts below it, at last within the smallest parts.
//
//   levels
//
// Rank 0 prints, in the order of the ranks, each rank and a line for each of its levels, the widest first. The
// broadcast uses ranktree_leftover=group, so that ranks whose binding is too wide for a part have a part of their own;
// a rank that did not get the value calls MPI_Abort.
#include <mpi.h>
#include <ranktree/mpi.h>
#include <stdio.h>

enum { kMostLevels = 64, kTextBytes = 128 * (kMostLevels + 1), kValue = 20180913 };

// Aborts when a call failed for another reason than an MPI error, for which MPI aborts.
static void require(int holds, const char* text) {
  if (holds) return;
  fprintf(stderr, "levels: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// One line: "  Package 1 of 2, ranks: 4, root".
static int describe(MPI_Comm level, MPI_Comm roots, char* text, size_t size) {
  char type[RANKTREE_MAX_TYPE];
  int count = 0;
  int index = 0;
  int length = 0;
  ranktree_Comm_get_hlevel_info(level, &count, &index, type, RANKTREE_MAX_TYPE, &length);
  return snprintf(text, size, "  %s %d of %d, ranks: %d%s\n", type, index, count, size_of(level),
                  roots == MPI_COMM_NULL ? "" : ", root");
}

static void free_levels(int count, MPI_Comm levels[], MPI_Comm roots[]) {
  for (int i = count; i-- > 0;) {  // the deepest first, on all ranks
    if (roots[i] != MPI_COMM_NULL) MPI_Comm_free(&roots[i]);
    MPI_Comm_free(&levels[i]);
  }
}

// The lines of this rank.
static int describe_all(char text[kTextBytes]) {
  MPI_Comm levels[kMostLevels];
  MPI_Comm roots[kMostLevels];
  int count = 0;
  ranktree_Comm_hsplit_all(MPI_COMM_WORLD, MPI_INFO_NULL, kMostLevels, &count, levels, roots);
  int length = snprintf(text, kTextBytes, "rank %d, levels: %d\n", rank_in(MPI_COMM_WORLD), count);
  for (int i = 0; i < count; ++i) {
    length += describe(levels[i], roots[i], text + length, (size_t)(kTextBytes - length));
  }
  free_levels(count, levels, roots);
  return length;
}

// Rank 0 prints the texts of all ranks, one after the other.
static void print_in_order(char text[kTextBytes], int length) {
  if (rank_in(MPI_COMM_WORLD) != 0) {
    MPI_Send(text, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    return;
  }
  printf("%.*s", length, text);
  for (int rank = 1; rank < size_of(MPI_COMM_WORLD); ++rank) {
    MPI_Status status;
    MPI_Recv(text, kTextBytes, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &length);
    printf("%.*s", length, text);
  }
}

// Returns the value of rank 0. With ranktree_leftover=group the parts of a level cover it, so all ranks of a smallest
// part have it as their last level.
static int broadcast_down(int value, MPI_Info info) {
  MPI_Comm levels[kMostLevels];
  MPI_Comm roots[kMostLevels];
  int count = 0;
  ranktree_Comm_hsplit_all(MPI_COMM_WORLD, info, kMostLevels, &count, levels, roots);
  for (int i = 0; i < count; ++i) {
    if (roots[i] != MPI_COMM_NULL) MPI_Bcast(&value, 1, MPI_INT, 0, roots[i]);
  }
  MPI_Bcast(&value, 1, MPI_INT, 0, count == 0 ? MPI_COMM_WORLD : levels[count - 1]);
  free_levels(count, levels, roots);
  return value;
}

int main(int argc, char** argv) {
  char text[kTextBytes];
  MPI_Info info;
  int reached = 0;
  MPI_Init(&argc, &argv);
  print_in_order(text, describe_all(text));

  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_leftover", "group");
  const int value = broadcast_down(rank_in(MPI_COMM_WORLD) == 0 ? kValue : 0, info);
  MPI_Info_free(&info);
  const int has = value == kValue;
  MPI_Reduce(&has, &reached, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) {
    printf("broadcast down the levels: %d of %d ranks have the value\n", reached, size_of(MPI_COMM_WORLD));
    fflush(stdout);
    require(reached == size_of(MPI_COMM_WORLD), "the broadcast did not reach all ranks");
  }
  MPI_Finalize();
  return 0;
}
