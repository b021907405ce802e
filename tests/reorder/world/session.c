/* A program without MPI_Init, and one with both: the world by its process set. Argument: alone, first or last. */
#include <string.h>

#include "report.h"

static MPI_Session session;

static void by_session(void) {
  MPI_Group group;
  MPI_Comm comm;
  int rank, size, sum, before = -1;
  const int periods[1] = {0};
  MPI_Comm grid;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_rank(group, &rank), MPI_Group_size(group, &size);
  MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &my_rank), MPI_Comm_size(comm, &ranks);
  MPI_Scan(&my_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Sendrecv(&my_rank, 1, MPI_INT, (my_rank + 1) % ranks, 1, &before, 1, MPI_INT, (my_rank + ranks - 1) % ranks, 1,
               comm, MPI_STATUS_IGNORE);
  report("group rank", rank), report("size", size), report("scan", sum), report("before", before);
  for (int i = 0; i < 300; ++i) MPI_Allreduce(&my_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Cart_create(comm, 1, &ranks, periods, 0, &grid);
  MPI_Comm_size(grid, &size);
  report("sum", sum), report("size of the grid", size);
  MPI_Comm_free(&grid), MPI_Comm_free(&comm), MPI_Group_free(&group);
}

int main(int argc, char** argv) {
  if (strcmp(argv[1], "last") != 0) by_session();
  if (strcmp(argv[1], "alone") == 0) return fflush(stdout), MPI_Session_finalize(&session);
  const int rank = my_rank;
  begin(&argc, &argv);
  if (strcmp(argv[1], "first") == 0) report("the same", my_rank == rank);
  int sum;
  MPI_Scan(&my_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), report("world scan", sum);
  if (strcmp(argv[1], "last") == 0) by_session();
  MPI_Session_finalize(&session);
  return end();
}
