/* What Open MPI 5 and MPICH 5 have beyond the standard. */
#include "report.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#ifdef MPIX_STREAM_NULL
static void beyond(void) {
  MPI_Comm comm;
  int rank, before = -1;
  MPIX_Stream_comm_create(MPI_COMM_WORLD, MPIX_STREAM_NULL, &comm);
  MPI_Comm_rank(comm, &rank), report("rank in the stream's", rank);
  MPI_Sendrecv(&my_rank, 1, MPI_INT, (my_rank + 1) % ranks, 1, &before, 1, MPI_INT, (my_rank + ranks - 1) % ranks, 1,
               comm, MPI_STATUS_IGNORE);
  report("before", before);
  MPI_Comm_free(&comm);
}
#else
/* A library may do what it likes with its own copies; the program's is the one that is revoked. */
static void beyond(void) {
  int revoked = -1, flag = my_rank == 1 ? 6 : 7;
  MPIX_Comm_agree(MPI_COMM_WORLD, &flag), report("agreed", flag);
  MPIX_Comm_failure_ack(MPI_COMM_WORLD);
  MPIX_Comm_is_revoked(MPI_COMM_WORLD, &revoked), report("revoked", revoked);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPIX_Comm_is_revoked(MPI_COMM_WORLD, &revoked), report("revoked", revoked);
  MPI_Comm shrunk;
  MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk);
  MPI_Comm_rank(shrunk, &flag), report("rank in the shrunk", flag);
  MPI_Comm_free(&shrunk);
}
#endif

int main(int argc, char** argv) {
  begin(&argc, &argv);
  beyond();
  return end();
}
