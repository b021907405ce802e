// A program that starts others: messages to them leave MPI_COMM_WORLD, and are counted and shown. Both make one
// communicator, in which the root of a broadcast is no rank of MPI_COMM_WORLD.
#include <string.h>

#include "expect.h"

static void broadcast_together(MPI_Comm between, int high, int root) {
  int value = 0;
  MPI_Comm all;
  MPI_Intercomm_merge(between, high, &all);
  MPI_Bcast(&value, 1, MPI_INT, root, all);
  MPI_Comm_free(&all);
}

int main(int argc, char** argv) {
  enum { kChildren = 2 };
  int rank, size, value = 0;
  MPI_Comm parent, children;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_remote_size(parent, &size);
    broadcast_together(parent, 0, kChildren + size - 1);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  expect_unattributed(1, "MPI_Comm_spawn");
  if (rank == 0) {
    for (int child = 0; child < kChildren; ++child) MPI_Send(&value, 1, MPI_INT, child, 0, children);
    for (int child = 0; child < kChildren; ++child) MPI_Recv(&value, 1, MPI_INT, child, 0, children, MPI_STATUS_IGNORE);
    expect_unattributed(2, "MPI_Send outside MPI_COMM_WORLD");
  }
  MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  expect_message((rank + 1) % size, sizeof(int));
  broadcast_together(children, 1, kChildren + size - 1);
  expect_unattributed(1, "MPI_Bcast (communicator lost)");
  MPI_Comm_disconnect(&children);
  MPI_Finalize();
  return 0;
}
