// Every kind of send with its own size, derived datatypes with holes, MPI_PROC_NULL, empty messages.
#include <string.h>

#include "expect.h"

enum { kInts = 64 };
static int rank, size, right, left;
static int in[kInts], out[kInts];

static void blocking(void) {
  MPI_Request request;
  for (int mode = 0; mode < 4; ++mode) {
    const int count = mode + 1;
    MPI_Irecv(in, kInts, MPI_INT, left, mode, MPI_COMM_WORLD, &request);
    world_barrier();  // a ready send needs its receive posted
    if (mode == 0) MPI_Send(out, count, MPI_INT, right, mode, MPI_COMM_WORLD);
    if (mode == 1) MPI_Bsend(out, count, MPI_INT, right, mode, MPI_COMM_WORLD);
    if (mode == 2) MPI_Ssend(out, count, MPI_INT, right, mode, MPI_COMM_WORLD);
    if (mode == 3) MPI_Rsend(out, count, MPI_INT, right, mode, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_message(right, count * (long long)sizeof(int));
  }
}

static void nonblocking(void) {
  MPI_Request request[2];
  for (int mode = 0; mode < 4; ++mode) {
    const int count = 10 + mode;
    MPI_Irecv(in, kInts, MPI_INT, left, mode, MPI_COMM_WORLD, &request[0]);
    world_barrier();
    if (mode == 0) MPI_Isend(out, count, MPI_INT, right, mode, MPI_COMM_WORLD, &request[1]);
    if (mode == 1) MPI_Ibsend(out, count, MPI_INT, right, mode, MPI_COMM_WORLD, &request[1]);
    if (mode == 2) MPI_Issend(out, count, MPI_INT, right, mode, MPI_COMM_WORLD, &request[1]);
    if (mode == 3) MPI_Irsend(out, count, MPI_INT, right, mode, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect_message(right, count * (long long)sizeof(int));
  }
}

static void both_ways(void) {
  MPI_Sendrecv(out, 20, MPI_INT, left, 1, in, kInts, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_message(left, 20 * (long long)sizeof(int));
  MPI_Sendrecv_replace(out, 21, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_message(right, 21 * (long long)sizeof(int));
}

// A line of ranks: its two ends send to MPI_PROC_NULL.
static void null_process(void) {
  const int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  const int previous = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  MPI_Request request;
  MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Isend(out, 5, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, 6, MPI_INT, next, 3, in, kInts, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (next != MPI_PROC_NULL) expect_message(next, 6 * (long long)sizeof(int));
}

static void send_type(MPI_Datatype type, int count, long long bytes) {
  MPI_Request request;
  static char place[4096];
  MPI_Irecv(place, sizeof place, MPI_BYTE, left, 7, MPI_COMM_WORLD, &request);
  MPI_Send(out, count, type, right, 7, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_message(right, bytes);
}

// The size of a type is that of its data, without the holes.
static void holes(void) {
  MPI_Datatype type, wide;
  MPI_Type_vector(3, 2, 5, MPI_INT, &type);
  MPI_Type_commit(&type);
  send_type(type, 2, 2 * 6 * (long long)sizeof(int));
  MPI_Type_create_resized(type, -8, 128, &wide);
  MPI_Type_commit(&wide);
  send_type(wide, 1, 6 * (long long)sizeof(int));
  MPI_Type_free(&wide);
  MPI_Type_free(&type);
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_commit(&type);
  send_type(type, 3, 3 * 9);
  MPI_Type_free(&type);
  for (int length = 1; length <= 6; ++length) {  // an MPI reuses freed handles
    MPI_Type_contiguous(length, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    send_type(type, 2, 2LL * length * (long long)sizeof(short));
    MPI_Type_free(&type);
  }
}

int main(int argc, char** argv) {
  static char buffer[65536];
  void* detached;
  int detached_size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  expect_open(rank);
  memset(out, 0, sizeof out);
  MPI_Buffer_attach(buffer, sizeof buffer);
  blocking();
  nonblocking();
  both_ways();
  null_process();
  holes();
  send_type(MPI_INT, 0, 0);
  MPI_Buffer_detach(&detached, &detached_size);
  MPI_Finalize();
  return 0;
}
