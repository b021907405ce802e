// pingpong PEER...: rank 0 exchanges messages with each of the peers in turn and prints "peer latency bandwidth": half
// a round trip of 0 bytes in seconds, and bytes per second of a long message beyond that latency.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLong = 1 << 22 };

static double half_round_trip(int peer, char* buffer, int bytes) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double begin = 0;
  for (int round = 0; round < 2; ++round) {  // the first one brings both together
    begin = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(buffer, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
  return (MPI_Wtime() - begin) / 2;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* const buffer = calloc(kLong, 1);
  for (int i = 1; i < argc; ++i) {
    const int peer = atoi(argv[i]);
    if (rank == 0 || rank == peer) {
      const double latency = half_round_trip(peer, buffer, 0);
      const double seconds = half_round_trip(peer, buffer, kLong);
      if (rank == 0) {
        printf("%d %.9g %.9g\n", peer, latency, kLong / (seconds - latency));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
