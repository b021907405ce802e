// calls send|broadcast|communicator COUNT: so many of one process, in measured(), whose instructions are counted.
// `send` is an 8-byte message of the process to itself (Irecv, Send, Wait); `broadcast` is without bytes, which every
// tool passes through; `communicator` duplicates MPI_COMM_WORLD, reduces one number 40 times on it, and frees it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void send_to_self(void) {
  char out[8] = {0}, in[8];
  MPI_Request request;
  MPI_Irecv(in, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
  MPI_Send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void broadcast_nothing(void) {
  int nothing = 0;
  MPI_Bcast(&nothing, 0, MPI_INT, 0, MPI_COMM_WORLD);
}

static void use_communicator(void) {
  enum { kCalls = 40 };
  double in = 1, out;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < kCalls; ++i) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Comm_free(&comm);
}

void measured(void (*call)(void), long count);

__attribute__((noinline)) void measured(void (*call)(void), long count) {
  for (; count > 0; --count) call();
}

int main(int argc, char** argv) {
  void (*call)(void) = NULL;
  if (argc == 3 && strcmp(argv[1], "send") == 0) call = send_to_self;
  if (argc == 3 && strcmp(argv[1], "broadcast") == 0) call = broadcast_nothing;
  if (argc == 3 && strcmp(argv[1], "communicator") == 0) call = use_communicator;
  if (call == NULL) {
    fprintf(stderr, "usage: %s send|broadcast|communicator COUNT\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  enum { kFirstCalls = 200 };  // which make what later ones find
  for (int i = 0; i < kFirstCalls; ++i) call();
  measured(call, strtol(argv[2], NULL, 10));
  MPI_Finalize();
  return 0;
}
