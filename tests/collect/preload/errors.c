/* Wrong arguments, on all ranks alike, on a communicator that is served: each rank's error classes in a line. */
#include <mpi.h>
#include <stdio.h>

static char line[1024];
static int used;

static void note(const char* name, int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  used += snprintf(line + used, sizeof line - (size_t)used, " %s=%d", name, class);
}

static void calls(MPI_Comm comm, int size) {
  int in[64] = {0}, out[64] = {0};
  note("root", MPI_Bcast(in, 1, MPI_INT, size, comm));
  note("negative_root", MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, -3, comm));
  note("count", MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, comm));
  note("type", MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm));
  note("op", MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
  note("gather_root", MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, size + 5, comm));
  note("scatter_count", MPI_Scatter(in, -2, MPI_INT, out, -2, MPI_INT, 0, comm));
  const int counts[64] = {-1}, places[64] = {0};
  note("alltoallv_count", MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm));
  note("comm", MPI_Barrier(MPI_COMM_NULL));
  note("right", MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm));
}

int main(int argc, char** argv) {
  int rank, size, value = 1;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, comm);
  calls(comm, size);
  calls(comm, size);
  for (int turn = 0; turn < size; ++turn) {
    if (turn == rank) {
      printf("%d:%s\n", rank, line);
      fflush(stdout);
    }
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
