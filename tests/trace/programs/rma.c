// One-sided calls in a window of the world and in one of a reversed communicator. Data goes from its source to its
// destination: a Get counts from the target to the caller, a fetching call in both directions.
#include "expect.h"

enum { kInts = 256, kInt = sizeof(int) };
static int rank, size;
static int memory[kInts], out[kInts], in[kInts];

static void to(int target, long long bytes) { expect_pair("rma", rank, target, 1, bytes); }
static void from(int target, long long bytes) { expect_pair("rma", target, rank, 1, bytes); }

static void with_fence(MPI_Win win, int target, int world) {
  MPI_Win_fence(0, win);
  MPI_Put(out, 3, MPI_INT, target, 0, 3, MPI_INT, win);
  to(world, 3 * kInt);
  MPI_Win_fence(0, win);
  MPI_Get(in, 4, MPI_INT, target, 8, 4, MPI_INT, win);
  from(world, 4 * kInt);
  MPI_Win_fence(0, win);
  MPI_Accumulate(out, 5, MPI_INT, target, 16, 5, MPI_INT, MPI_SUM, win);
  to(world, 5 * kInt);
  MPI_Put(out, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win);
  MPI_Win_fence(0, win);
}

static void with_lock(MPI_Win win, int target, int world) {
  MPI_Request request;
  MPI_Win_lock_all(0, win);
  MPI_Get_accumulate(out, 6, MPI_INT, in, 6, MPI_INT, target, 32, 6, MPI_INT, MPI_SUM, win);
  to(world, 6 * kInt);
  from(world, 6 * kInt);
  MPI_Win_flush_all(win);
  MPI_Get_accumulate(out, 0, MPI_INT, in, 7, MPI_INT, target, 32, 7, MPI_INT, MPI_NO_OP, win);
  from(world, 7 * kInt);
  MPI_Win_flush_all(win);
  MPI_Fetch_and_op(out, in, MPI_INT, target, 64, MPI_SUM, win);
  to(world, kInt);
  from(world, kInt);
  MPI_Win_flush_all(win);
  MPI_Compare_and_swap(out, in + 9, in, MPI_INT, target, 65, win);
  to(world, kInt);
  from(world, kInt);
  MPI_Win_flush_all(win);
  MPI_Rput(out, 8, MPI_INT, target, 80, 8, MPI_INT, win, &request);
  to(world, 8 * kInt);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Rget(in, 9, MPI_INT, target, 80, 9, MPI_INT, win, &request);
  from(world, 9 * kInt);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Raccumulate(out, 10, MPI_INT, target, 100, 10, MPI_INT, MPI_SUM, win, &request);
  to(world, 10 * kInt);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Rget_accumulate(out, 11, MPI_INT, in, 11, MPI_INT, target, 120, 11, MPI_INT, MPI_SUM, win, &request);
  to(world, 11 * kInt);
  from(world, 11 * kInt);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(win);
}

int main(int argc, char** argv) {
  MPI_Comm reversed;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  MPI_Win_create(memory, sizeof memory, kInt, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  with_fence(win, (rank + 1) % size, (rank + 1) % size);
  with_lock(win, (rank + 1) % size, (rank + 1) % size);
  MPI_Win_free(&win);
  int* allocated;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  MPI_Win_allocate(sizeof memory, kInt, MPI_INFO_NULL, reversed, &allocated, &win);
  // The next rank in the reversed order is the one before in the world.
  with_fence(win, (size - rank) % size, (rank + size - 1) % size);
  with_lock(win, (size - rank) % size, (rank + size - 1) % size);
  MPI_Win_free(&win);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
