/* Sessions without MPI_Init: a chain of ranks as a grid. "place in the grid, PU, rank in the communicator". */
#define _GNU_SOURCE
#include <sched.h>

#include "report.h"

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, grid;
  const int periods[1] = {0};
  int at;
  (void)argv;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "grid", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &my_rank), MPI_Comm_size(comm, &ranks);
  MPI_Cart_create(comm, 1, &ranks, periods, argc > 1, &grid);
  MPI_Comm_rank(grid, &at);
  printf("%d %d %d\n", at, sched_getcpu(), my_rank);
  fflush(stdout);
  MPI_Comm_free(&grid), MPI_Comm_free(&comm), MPI_Group_free(&group);
  return MPI_Session_finalize(&session);
}
