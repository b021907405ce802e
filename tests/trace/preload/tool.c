// Another PMPI tool, which sends messages of its own from within the program's calls and counts what it sees.
#include <mpi.h>
#include <stdio.h>

static int seen;

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  int one = 1;
  ++seen;
  PMPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
}

int MPI_Finalize(void) {
  fprintf(stderr, "tool saw %d\n", seen);
  return PMPI_Finalize();
}
