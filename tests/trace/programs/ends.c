// Programs that exit irregularly: ends HOW [CODE]. The last rank is the irregular one.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static int wait_forever(void) {
  while (pause() != 0) continue;
  return 0;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "well";
  const int code = argc > 2 ? atoi(argv[2]) : 0;
  int rank, size, value = 0;
  if (strcmp(how, "without") == 0) return code;  // never calls MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  for (int i = 0; i < 10; ++i) {
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    expect_message((rank + 1) % size, sizeof(int));
  }
  world_barrier();
  const int last = rank == size - 1;
  if (strcmp(how, "abort") == 0) return last ? MPI_Abort(MPI_COMM_WORLD, code) : wait_forever();
  if (strcmp(how, "kill") == 0) return last ? raise(SIGKILL) : wait_forever();
  if (strcmp(how, "segv") == 0) return last ? raise(SIGSEGV) : wait_forever();
  if (strcmp(how, "exit") == 0) _exit(code);  // no rank finalizes
  if (strcmp(how, "wait") == 0) {             // waits for a signal
    if (rank == 0) {
      printf("waiting\n");
      fflush(stdout);
    }
    return wait_forever();
  }
  MPI_Finalize();
  return code;
}
