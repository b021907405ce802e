// Another PMPI tool, which makes calls of its own from within the program's and counts what it sees.
#include <mpi.h>
#include <stdio.h>

static int seen;

int MPI_Barrier(MPI_Comm comm) {
  int one = 1;
  ++seen;
  PMPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, comm);
  return PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
  fprintf(stderr, "tool saw %d\n", seen);
  return PMPI_Finalize();
}
