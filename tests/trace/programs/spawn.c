// A program that starts others: messages to them leave MPI_COMM_WORLD, and are counted and shown.
#include <string.h>

#include "expect.h"

int main(int argc, char** argv) {
  int rank, size, value = 0;
  MPI_Comm parent, children;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  expect_unattributed(1, "MPI_Comm_spawn");
  if (rank == 0) {
    for (int child = 0; child < 2; ++child) MPI_Send(&value, 1, MPI_INT, child, 0, children);
    for (int child = 0; child < 2; ++child) MPI_Recv(&value, 1, MPI_INT, child, 0, children, MPI_STATUS_IGNORE);
    expect_unattributed(2, "MPI_Send outside MPI_COMM_WORLD");
  }
  MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  expect_message((rank + 1) % size, sizeof(int));
  MPI_Comm_disconnect(&children);
  MPI_Finalize();
  return 0;
}
