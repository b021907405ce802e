// Every rank sends an eager message and one that waits for its receive to rank 0, three times; rank 0 completes them
// with all four kinds of calls that wait for, or test, several requests. It checks the data, and prints the simulated
// time behind each call.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kShort = 2, kLong = 20000, kRounds = 3 };  // doubles: 16 bytes, 160 KB

static void complete_all(int count, MPI_Request* requests) { MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); }

static void wait_for_any(int count, MPI_Request* requests) {
  for (int left = count; left > 0; --left) {
    int at = 0;
    MPI_Waitany(count, requests, &at, MPI_STATUS_IGNORE);
    printf(" %d:%.17g", at, MPI_Wtime());
  }
}

static void wait_for_some(int count, MPI_Request* requests) {
  int* at = malloc((size_t)count * sizeof *at);
  for (int left = count; left > 0;) {
    int done = 0;
    MPI_Waitsome(count, requests, &done, at, MPI_STATUSES_IGNORE);
    printf(" %d:%.17g", done, MPI_Wtime());
    left -= done;
  }
  free(at);
}

static void test_any(int count, MPI_Request* requests) {
  for (int left = count; left > 0;) {
    int at = 0;
    int done = 0;
    MPI_Testany(count, requests, &at, &done, MPI_STATUS_IGNORE);
    if (done) printf(" %d:%.17g", at, MPI_Wtime());
    left -= done;
  }
}

static void receive(int ranks, void (*complete)(int, MPI_Request*)) {
  const int each = kShort + kLong;
  const int count = 2 * kRounds * (ranks - 1);
  double* values = calloc((size_t)(kRounds * ranks * each), sizeof *values);
  MPI_Request* requests = malloc((size_t)count * sizeof(MPI_Request));
  int made = 0;
  for (int i = 0; i < kRounds * (ranks - 1); ++i) {
    double* here = values + (size_t)i * each;
    const int from = 1 + i / kRounds;
    MPI_Irecv(here, kShort, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &requests[made++]);
    MPI_Irecv(here + kShort, kLong, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &requests[made++]);
  }
  complete(count, requests);
  printf(" end:%.17g\n", MPI_Wtime());
  for (int i = 0; i < kRounds * (ranks - 1); ++i) {
    const double* here = values + (size_t)i * each;
    for (int j = 0; j < each; ++j) {
      if (here[j] != 1 + i / kRounds + 100 * (i % kRounds)) MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  free(requests);
  free(values);
}

static void send(int rank) {
  double* values = malloc(kRounds * kLong * sizeof *values);
  MPI_Request requests[2 * kRounds];
  for (int i = 0; i < kRounds; ++i) {
    double* here = values + (size_t)i * kLong;
    for (int j = 0; j < kLong; ++j) here[j] = rank + 100 * i;
    MPI_Isend(here, kShort, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(here, kLong, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
  MPI_Waitall(2 * kRounds, requests, MPI_STATUSES_IGNORE);
  free(values);
}

int main(int argc, char** argv) {
  void (*const kinds[])(int, MPI_Request*) = {complete_all, wait_for_any, wait_for_some, test_any};
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 4; ++i) {
    if (rank > 0) {
      send(rank);
    } else {
      receive(ranks, kinds[i]);
    }
  }
  MPI_Finalize();
  return 0;
}
