// Eight threads of each rank send at the same time, in two generations of threads.
#include <pthread.h>

#include "expect.h"

enum { kThreads = 8, kMessages = 200, kGenerations = 2, kNoThreads = 77 };
static int rank, size;
static MPI_Comm comms[kThreads];

static void* work(void* argument) {
  const int own = *(const int*)argument;
  int in[kMessages][kThreads + 1], out[kThreads + 1] = {0};
  MPI_Request requests[kMessages];
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  // One wait for all, because threads of a spinning MPI compete for the cores at each wait.
  for (int i = 0; i < kMessages; ++i) {
    MPI_Irecv(in[i], kThreads + 1, MPI_INT, left, own, comms[own], &requests[i]);
  }
  for (int i = 0; i < kMessages; ++i) MPI_Send(out, own + 1, MPI_INT, right, own, comms[own]);
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return kNoThreads;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int generation = 0; generation < kGenerations; ++generation) {
    pthread_t threads[kThreads];
    int numbers[kThreads];
    for (int i = 0; i < kThreads; ++i) {
      numbers[i] = i;
      if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) MPI_Abort(MPI_COMM_WORLD, 9);
    }
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < kThreads; ++i) {
    const long long messages = kMessages * kGenerations;
    expect_pair("p2p", rank, (rank + 1) % size, messages, messages * (i + 1) * (long long)sizeof(int));
    MPI_Comm_free(&comms[i]);
  }
  MPI_Finalize();
  return 0;
}
