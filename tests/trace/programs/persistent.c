// Persistent sends of every mode, started alone and together, freed and made again.
#include "expect.h"

enum { kInts = 64 };

int main(int argc, char** argv) {
  static int in[5][kInts], out[5][kInts];
  static char buffer[65536];
  int rank, size;
  MPI_Request send[5], receive[5];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  expect_open(rank);
  MPI_Buffer_attach(buffer, sizeof buffer);
  for (int again = 0; again < 3; ++again) {  // MPI reuses a freed request's handle for another size
    for (int i = 0; i < 4; ++i) MPI_Recv_init(in[i], kInts, MPI_INT, left, i, MPI_COMM_WORLD, &receive[i]);
    MPI_Send_init(out[0], 1 + again, MPI_INT, right, 0, MPI_COMM_WORLD, &send[0]);
    MPI_Bsend_init(out[1], 2 + again, MPI_INT, right, 1, MPI_COMM_WORLD, &send[1]);
    MPI_Ssend_init(out[2], 3 + again, MPI_INT, right, 2, MPI_COMM_WORLD, &send[2]);
    MPI_Rsend_init(out[3], 4 + again, MPI_INT, right, 3, MPI_COMM_WORLD, &send[3]);
    MPI_Send_init(out[4], 5, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &send[4]);
    for (int round = 0; round < 5; ++round) {
      MPI_Startall(4, receive);
      world_barrier();
      if (round % 2 == 0) {
        MPI_Startall(5, send);
      } else {
        for (int i = 0; i < 5; ++i) MPI_Start(&send[i]);
      }
      MPI_Waitall(5, send, MPI_STATUSES_IGNORE);
      MPI_Waitall(4, receive, MPI_STATUSES_IGNORE);
      for (int i = 0; i < 4; ++i) expect_message(right, (1LL + i + again) * (long long)sizeof(int));
    }
    for (int i = 0; i < 5; ++i) MPI_Request_free(&send[i]);
    for (int i = 0; i < 4; ++i) MPI_Request_free(&receive[i]);
  }
  // Made and never started: nothing is sent.
  MPI_Send_init(out[0], 9, MPI_INT, right, 0, MPI_COMM_WORLD, &send[0]);
  MPI_Request_free(&send[0]);
  void* detached;
  int detached_size;
  MPI_Buffer_detach(&detached, &detached_size);
  MPI_Finalize();
  return 0;
}
