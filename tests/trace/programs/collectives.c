// Collectives that are recorded as calls: operation, root, bytes and members, on the world and two other communicators.
#include "expect.h"

enum { kMost = 64, kInts = 4096, kInt = sizeof(int) };
static int in[kInts], out[kInts];
static MPI_Request request;

typedef struct {
  MPI_Comm comm;
  int own, size;
  int world[kMost];
} Members;

static void called(const Members* m, const char* operation, int root, long long ints) {
  expect_call(operation, root, ints * kInt, m->world, m->size);
}

static void wait_for(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

static void rooted(const Members* m, int root) {
  const int is_root = m->own == root;
  MPI_Bcast(out, 3, MPI_INT, root, m->comm);
  MPI_Ibcast(out, 3, MPI_INT, root, m->comm, &request);
  wait_for();
  for (int i = 0; i < 2; ++i) called(m, "Bcast", root, 3);
  MPI_Reduce(out, in, 5, MPI_INT, MPI_SUM, root, m->comm);
  MPI_Reduce(is_root ? MPI_IN_PLACE : out, in, 5, MPI_INT, MPI_SUM, root, m->comm);
  MPI_Ireduce(out, in, 5, MPI_INT, MPI_SUM, root, m->comm, &request);
  wait_for();
  for (int i = 0; i < 3; ++i) called(m, "Reduce", root, 5);
  MPI_Gather(out, 7, MPI_INT, in, 7, MPI_INT, root, m->comm);
  MPI_Gather(is_root ? MPI_IN_PLACE : out, 7, MPI_INT, in, 7, MPI_INT, root, m->comm);
  MPI_Igather(out, 7, MPI_INT, in, 7, MPI_INT, root, m->comm, &request);
  wait_for();
  for (int i = 0; i < 3; ++i) called(m, "Gather", root, 7);
  MPI_Scatter(out, 9, MPI_INT, in, 9, MPI_INT, root, m->comm);
  MPI_Scatter(out, 9, MPI_INT, is_root ? MPI_IN_PLACE : in, 9, MPI_INT, root, m->comm);
  MPI_Iscatter(out, 9, MPI_INT, in, 9, MPI_INT, root, m->comm, &request);
  wait_for();
  for (int i = 0; i < 3; ++i) called(m, "Scatter", root, 9);
}

static void reductions(const Members* m) {
  int counts[kMost];
  long long sum = 0;
  for (int i = 0; i < m->size; ++i) {
    counts[i] = i + 1;
    sum += counts[i];
  }
  MPI_Allreduce(out, in, 2, MPI_INT, MPI_SUM, m->comm);
  MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, m->comm);
  MPI_Iallreduce(out, in, 2, MPI_INT, MPI_SUM, m->comm, &request);
  wait_for();
  for (int i = 0; i < 3; ++i) called(m, "Allreduce", -1, 2);
  MPI_Scan(out, in, 4, MPI_INT, MPI_SUM, m->comm);
  MPI_Iscan(out, in, 4, MPI_INT, MPI_SUM, m->comm, &request);
  wait_for();
  MPI_Exscan(out, in, 4, MPI_INT, MPI_SUM, m->comm);
  MPI_Iexscan(out, in, 4, MPI_INT, MPI_SUM, m->comm, &request);
  wait_for();
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, m->comm);
  MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, m->comm, &request);
  wait_for();
  MPI_Reduce_scatter_block(out, in, 6, MPI_INT, MPI_SUM, m->comm);
  MPI_Ireduce_scatter_block(out, in, 6, MPI_INT, MPI_SUM, m->comm, &request);
  wait_for();
  for (int i = 0; i < 2; ++i) {
    called(m, "Scan", -1, 4);
    called(m, "Exscan", -1, 4);
    called(m, "Reduce_scatter", -1, sum);
    called(m, "Reduce_scatter_block", -1, 6LL * m->size);
  }
}

static void to_all(const Members* m) {
  int counts[kMost], places[kMost];
  for (int i = 0; i < m->size; ++i) {
    counts[i] = i + 1;
    places[i] = kMost * i;
  }
  MPI_Barrier(m->comm);
  MPI_Ibarrier(m->comm, &request);
  wait_for();
  for (int i = 0; i < 2; ++i) called(m, "Barrier", -1, 0);
  MPI_Allgather(out, 8, MPI_INT, in, 8, MPI_INT, m->comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 8, MPI_INT, m->comm);
  MPI_Iallgather(out, 8, MPI_INT, in, 8, MPI_INT, m->comm, &request);
  wait_for();
  MPI_Allgatherv(out, m->own + 1, MPI_INT, in, counts, places, MPI_INT, m->comm);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, m->comm);
  MPI_Iallgatherv(out, m->own + 1, MPI_INT, in, counts, places, MPI_INT, m->comm, &request);
  wait_for();
  MPI_Alltoall(out, 10, MPI_INT, in, 10, MPI_INT, m->comm);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 10, MPI_INT, m->comm);
  MPI_Ialltoall(out, 10, MPI_INT, in, 10, MPI_INT, m->comm, &request);
  wait_for();
  for (int i = 0; i < 3; ++i) {
    called(m, "Allgather", -1, 8);
    called(m, "Allgatherv", -1, m->own + 1);
    called(m, "Alltoall", -1, 10);
  }
}

static void all_calls(const Members* m) {
  rooted(m, 0);
  rooted(m, m->size - 1);
  reductions(m);
  to_all(m);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  Members m = {MPI_COMM_WORLD, rank, size, {0}};
  for (int i = 0; i < size; ++i) m.world[i] = i;
  all_calls(&m);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &m.comm);
  m.own = rank / 2;
  m.size = 0;
  for (int i = rank % 2; i < size; i += 2) m.world[m.size++] = i;
  all_calls(&m);
  MPI_Comm_free(&m.comm);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &m.comm);
  m.own = size - 1 - rank;
  m.size = size;
  for (int i = 0; i < size; ++i) m.world[i] = size - 1 - i;
  all_calls(&m);
  MPI_Comm_free(&m.comm);
  MPI_Finalize();
  return 0;
}
