// Messages in communicators whose ranks are not the world's: split, reversed, freed and made again, intercommunicators.
#include "expect.h"

enum { kInts = 64, kMost = 1024 };
static int rank, size;
static int in[kInts], out[kInts];

// Every rank of a communicator sends `count` ints to the next; world[i] is the world rank of its rank i.
static void shift(MPI_Comm comm, int own, int members, const int* world, int count) {
  const int next = (own + 1) % members, previous = (own + members - 1) % members;
  MPI_Sendrecv(out, count, MPI_INT, next, 0, in, kInts, MPI_INT, previous, 0, comm, MPI_STATUS_IGNORE);
  expect_message(world[next], count * (long long)sizeof(int));
}

static void halves(void) {
  int world[kMost], members = 0;
  for (int i = rank % 2; i < size; i += 2) world[members++] = i;
  MPI_Comm comm, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  shift(comm, rank / 2, members, world, 3);
  MPI_Comm_dup(comm, &copy);
  shift(copy, rank / 2, members, world, 4);
  MPI_Comm_free(&comm);
  shift(copy, rank / 2, members, world, 5);
  MPI_Comm_free(&copy);
}

static void reversed(void) {
  int world[kMost];
  for (int i = 0; i < size; ++i) world[i] = size - 1 - i;
  MPI_Comm comm, copy;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comm);
  MPI_Comm_dup(comm, &copy);
  shift(comm, size - 1 - rank, size, world, 6);
  shift(copy, size - 1 - rank, size, world, 7);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
}

// MPI reuses the handle of a freed communicator for one with another order.
static void same_handle_again(void) {
  for (int round = 0; round < 12; ++round) {
    int world[kMost];
    for (int i = 0; i < size; ++i) world[i] = (i + round) % size;
    const int own = (rank + size - round % size) % size;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, own, &comm);
    shift(comm, own, size, world, 1 + round);
    if (size > 1) MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 0, comm);
    MPI_Comm_free(&comm);
  }
}

static void group_of_odd(void) {
  MPI_Group all, some;
  MPI_Comm comm;
  int odd[kMost], members = 0;
  for (int i = 1; i < size; i += 2) odd[members++] = i;
  if (members == 0) return;
  for (int i = 0; i < members / 2; ++i) {  // backwards
    const int swap = odd[i];
    odd[i] = odd[members - 1 - i];
    odd[members - 1 - i] = swap;
  }
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, members, odd, &some);
  if (rank % 2 == 1) {
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &comm);
    shift(comm, members - 1 - rank / 2, members, odd, 8);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&some);
  MPI_Group_free(&all);
}

static void inter(void) {
  if (size < 2) return;
  const int low = size / 2, high = size - low, is_low = rank < low;
  const int own = is_low ? rank : rank - low;
  MPI_Comm side, both, merged;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, is_low ? low : 0, 9, &both);
  // Rank i of the lower half sends to rank i of the upper one.
  if (own < low) {
    MPI_Sendrecv(out, is_low ? 9 : 10, MPI_INT, own, 0, in, kInts, MPI_INT, own, 0, both, MPI_STATUS_IGNORE);
    expect_message(is_low ? low + own : own, (is_low ? 9 : 10) * (long long)sizeof(int));
  }
  int world[kMost];
  for (int i = 0; i < size; ++i) world[i] = i < high ? low + i : i - high;  // the upper half first
  MPI_Intercomm_merge(both, is_low, &merged);
  shift(merged, is_low ? high + own : own, size, world, 11);
  MPI_Comm_free(&merged);
  int lower[kMost], upper[kMost];
  for (int i = 0; i < low; ++i) lower[i] = i;
  for (int i = 0; i < high; ++i) upper[i] = low + i;
  const ExpectGroup lower_group = {lower, low};
  const ExpectGroup upper_group = {upper, high};
  const int root = rank != 0 ? (is_low ? MPI_PROC_NULL : 0) : MPI_ROOT;
  MPI_Bcast(out, 12, MPI_INT, root, both);
  if (root != MPI_PROC_NULL) expect_inter_call("Bcast", 0, 12 * (long long)sizeof(int), lower_group, upper_group);
  MPI_Barrier(both);
  if (is_low) {
    expect_inter_call("Barrier", -1, 0, lower_group, upper_group);
  } else {
    expect_inter_call("Barrier", -1, 0, upper_group, lower_group);
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);
}

static void cartesian(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 0}, keep_rows[2] = {0, 1}, up, down, members[kMost];
  MPI_Comm grid, row;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  const int expected = (rank / dims[1] + 1) % dims[0] * dims[1] + rank % dims[1];
  MPI_Sendrecv(out, 13, MPI_INT, down, 0, in, kInts, MPI_INT, up, 0, grid, MPI_STATUS_IGNORE);
  expect_message(expected, 13 * (long long)sizeof(int));
  MPI_Cart_sub(grid, keep_rows, &row);
  for (int i = 0; i < dims[1]; ++i) members[i] = rank / dims[1] * dims[1] + i;
  shift(row, rank % dims[1], dims[1], members, 14);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  halves();
  reversed();
  same_handle_again();
  group_of_odd();
  inter();
  cartesian();
  MPI_Send(out, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
  MPI_Sendrecv(out, 2, MPI_INT, 0, 0, in, kInts, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  expect_message(rank, 2 * (long long)sizeof(int));
  MPI_Finalize();
  return 0;
}
