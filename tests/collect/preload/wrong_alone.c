/* One rank alone makes calls with wrong arguments and goes on: before a communicator is served, while its calls are
   tried, and when they are decided on. What follows must be as if they had not been made. */
#include <mpi.h>
#include <stdio.h>

enum { kMostRanks = 16, kCalls = 1500, kWrongEvery = 7 };

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect_class(int code, int expected, const char* what) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  if (class != expected) fail(what);
}

static void wrong_calls(MPI_Comm comm) {
  int in = 1, out = 0, counts[kMostRanks] = {-1};
  expect_class(MPI_Bcast(&in, 1, MPI_INT, -5, comm), MPI_ERR_ROOT, "a broadcast's root");
  expect_class(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "an allreduce's operation");
  expect_class(MPI_Reduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, 0, comm), MPI_ERR_OP, "a reduction's operation");
  expect_class(MPI_Reduce_scatter(&in, &out, counts, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT, "a list's count");
}

static void right_calls(MPI_Comm comm, int rank, int size, int call) {
  int value = rank == 0 ? call : -1, sum = 0;
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  if (value != call) fail("a broadcast");
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (sum != size * call) fail("an allreduce");
  sum = 0;
  MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
  if (rank == 0 && sum != size * call) fail("a reduction");
  int own[kMostRanks], counts[kMostRanks];
  for (int i = 0; i < size; ++i) {
    own[i] = call + i;
    counts[i] = 1;
  }
  MPI_Reduce_scatter(own, &sum, counts, MPI_INT, MPI_SUM, comm);
  if (sum != size * (call + rank)) fail("a reduction in parts");
}

/* `after`: of how many calls each the wrong ones come behind. */
static void check(int after, int rank, int size) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int call = 0; call < kCalls; ++call) {
    if (rank == size - 1 && (call == after || call % kWrongEvery == 0)) wrong_calls(comm);
    right_calls(comm, rank, size, call);
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int after = 0; after < 4; ++after) check(after, rank, size);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
