// Messages of known sizes, by several calls, on MPI_COMM_WORLD and on the communicator of all ranks in reverse order,
// whose rank 0 only receives.
#include "expect.h"

int main(int argc, char** argv) {
  static char out[4096], in[4096];
  int rank, size;
  MPI_Comm reversed;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  if (rank == 0) {
    for (int i = 0; i < 2; ++i) MPI_Send(out, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) MPI_Send(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Ssend(out, 1023, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Ssend(out, 1024, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Send_init(out, 500, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 4; ++i) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    for (int i = 0; i < 5; ++i) {
      MPI_Isend(out, 3, MPI_INT, size - 2, 0, reversed, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  if (rank == 1) {
    for (int i = 0; i < 11; ++i) MPI_Recv(in, 4096, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; ++i) MPI_Recv(in, 4096, MPI_BYTE, size - 1, 0, reversed, MPI_STATUS_IGNORE);
  }
  MPI_Sendrecv(out, 8, MPI_BYTE, rank, 0, in, 8, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
