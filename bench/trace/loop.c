// The time of one message that a process sends to itself (Irecv, Send, Wait): the shortest of many short windows, the
// only figure that other load on the machine does not change. Prints three lines: NAME NANOSECONDS.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kMessages = 5000, kCommunicators = 8, kTypes = 2 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// Nanoseconds of one message in one window; `communicators` and `types` are powers of two, used in turn.
static double window(MPI_Comm* comms, unsigned communicators, MPI_Datatype* types, const int* counts, unsigned kinds) {
  char out[8] = {0}, in[8];
  const double start = now();
  for (unsigned i = 0; i < kMessages; ++i) {
    MPI_Request request;
    MPI_Comm comm = comms[i & (communicators - 1)];
    const unsigned kind = i & (kinds - 1);
    MPI_Irecv(in, counts[kind], types[kind], 0, 0, comm, &request);
    MPI_Send(out, counts[kind], types[kind], 0, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return (now() - start) / kMessages;
}

static double least(double a, double b) { return a < b ? a : b; }

int main(int argc, char** argv) {
  const int windows = argc > 1 ? atoi(argv[1]) : 200;
  MPI_Comm comms[kCommunicators];
  MPI_Datatype types[kTypes] = {MPI_BYTE, MPI_INT};
  const int counts[kTypes] = {8, 2};
  double self = 1e9, alternating = 1e9, typed = 1e9;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < kCommunicators; ++i) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
  for (int i = 0; i < windows; ++i) {
    self = least(self, window(comms, 1, types, counts, 1));
    alternating = least(alternating, window(comms, kCommunicators, types, counts, 1));
    typed = least(typed, window(comms, 1, types, counts, kTypes));
  }
  printf("self %.2f\ncommunicators %.2f\ndatatypes %.2f\n", self, alternating, typed);
  for (int i = 0; i < kCommunicators; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return 0;
}
