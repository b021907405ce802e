// One operation of Ranktree's library on simulated ranks: library split | central | distributed X Y Z
//
// split: communicators of all levels. central, distributed: the order of the ranks for a 3D halo exchange on a grid of
// X x Y x Z ranks. Rank 0 prints JSON: the levels, or the hops x weight before and after; and the bytes that a rank
// holds at most within the call (accounts.cpp).
#include <mpi.h>
#include <ranktree/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostLevels = 32, kDimensions = 3 };

double held_now(void);
double held_most(void);

// The largest of all ranks, at rank 0.
static double most_of_all(double own) {
  double all = 0;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

static void split(int rank) {
  MPI_Comm levels[kMostLevels];
  int count = 0;
  const double before = held_now();
  ranktree_Comm_hsplit_all(MPI_COMM_WORLD, MPI_INFO_NULL, kMostLevels, &count, levels, NULL);
  const double held = most_of_all(held_most() - before);
  if (rank == 0) printf("{\"levels\": %d, \"held\": %.0f}\n", count, held);
  for (int i = count; i-- > 0;) MPI_Comm_free(&levels[i]);
}

// The rank's neighbours in all dimensions, on an open grid.
static int neighbours(int rank, const int sides[kDimensions], int found[2 * kDimensions]) {
  int count = 0;
  int stride = 1;
  for (int i = 0; i < kDimensions; ++i) {
    const int at = rank / stride % sides[i];
    if (at > 0) found[count++] = rank - stride;
    if (at + 1 < sides[i]) found[count++] = rank + stride;
    stride *= sides[i];
  }
  return count;
}

static void print_value(MPI_Info info, const char* key, const char* name) {
  char text[MPI_MAX_INFO_VAL + 1] = "null";
  int there = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there);
  printf(", \"%s\": %s", name, there ? text : "null");
}

static void reorder(int rank, const char* mode, const int sides[kDimensions]) {
  int partners[2 * kDimensions];
  double weights[2 * kDimensions];
  const int degree = neighbours(rank, sides, partners);
  for (int i = 0; i < degree; ++i) weights[i] = 65536;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_reorder_mode", mode);
  MPI_Comm ordered = MPI_COMM_NULL;
  int fresh = -1;
  const double before = held_now();
  ranktree_Comm_reorder(MPI_COMM_WORLD, 1, &rank, &degree, partners, weights, info, &fresh, &ordered);
  const double held = most_of_all(held_most() - before);
  MPI_Info_free(&info);
  int moved = fresh != rank;
  int all = 0;
  MPI_Reduce(&moved, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Info result = MPI_INFO_NULL;
    ranktree_Comm_get_info(ordered, &result);
    printf("{\"moved\": %d, \"held\": %.0f", all, held);
    print_value(result, "ranktree_reorder_before", "before");
    print_value(result, "ranktree_reorder_after", "after");
    printf("}\n");
    MPI_Info_free(&result);
  }
  MPI_Comm_free(&ordered);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc == 2 && strcmp(argv[1], "split") == 0) {
    split(rank);
  } else if (argc == 2 + kDimensions) {
    const int sides[kDimensions] = {atoi(argv[2]), atoi(argv[3]), atoi(argv[4])};
    reorder(rank, argv[1], sides);
  } else {
    if (rank == 0) fprintf(stderr, "library: expected split, or central or distributed X Y Z\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
