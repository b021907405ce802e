// The traffic that a test program expects: one file per rank in $EXPECT_FOLDER, compared with the trace. Ranks are
// world ranks, calculated without MPI calls. A line is one of
//   pair CLASS FROM TO MESSAGES BYTES
//   call OPERATION ROOT CALLS BYTES_OF_ONE_CALL MEMBERS REMOTE    (lists like 0,2,4; '-' is none)
//   unattributed COUNT NAME
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* expect_file;
static int expect_rank;

static void expect_open(int rank) {
  const char* folder = getenv("EXPECT_FOLDER");
  char path[4096];
  expect_rank = rank;
  if (folder == NULL) return;
  snprintf(path, sizeof path, "%s/rank-%d.txt", folder, rank);
  expect_file = fopen(path, "w");
  if (expect_file == NULL) exit(9);
  setvbuf(expect_file, NULL, _IOLBF, 0);
}

static inline void expect_pair(const char* kind, int from, int to, long long messages, long long bytes) {
  if (expect_file != NULL) fprintf(expect_file, "pair %s %d %d %lld %lld\n", kind, from, to, messages, bytes);
}

// One message of point-to-point traffic from this rank.
static inline void expect_message(int to, long long bytes) { expect_pair("p2p", expect_rank, to, 1, bytes); }

// The world ranks of one group of a communicator.
typedef struct {
  const int* ranks;
  int count;
} ExpectGroup;

static inline void expect_members(ExpectGroup group) {
  for (int i = 0; i < group.count; ++i) fprintf(expect_file, i == 0 ? " %d" : ",%d", group.ranks[i]);
  if (group.count == 0) fprintf(expect_file, " -");
}

static inline void expect_inter_call(const char* operation, int root, long long bytes, ExpectGroup members,
                                     ExpectGroup remote) {
  if (expect_file == NULL) return;
  fprintf(expect_file, "call %s %d 1 %lld", operation, root, bytes);
  expect_members(members);
  expect_members(remote);
  fprintf(expect_file, "\n");
}

static inline void expect_call(const char* operation, int root, long long bytes, const int* members, int count) {
  expect_inter_call(operation, root, bytes, (ExpectGroup){members, count}, (ExpectGroup){NULL, 0});
}

static inline void expect_unattributed(long long count, const char* name) {
  if (expect_file != NULL) fprintf(expect_file, "unattributed %lld %s\n", count, name);
}

// A barrier of the world, as this rank expects it.
static inline void world_barrier(void) {
  int size, world[1024];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < size; ++i) world[i] = i;
  expect_call("Barrier", -1, 0, world, size);
  MPI_Barrier(MPI_COMM_WORLD);
}
