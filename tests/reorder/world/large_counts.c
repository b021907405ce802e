/* Calls with large counts, on MPI_COMM_WORLD. An MPI without them has nothing to report but its rank. */
#include "report.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  report("rank", my_rank);
#if MPI_VERSION >= 4
  const int to = (my_rank + 1) % ranks, from = (my_rank + ranks - 1) % ranks;
  int out = 10 * my_rank, in = -1, cells[2] = {0, 0};
  MPI_Request requests[2];
  MPI_Win window;
  MPI_Sendrecv_c(&out, 1, MPI_INT, to, 1, &in, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  report("sendrecv", in);
  MPI_Irecv_c(&in, 1, MPI_INT, to, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend_c(&out, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  report("isend", in);
  MPI_Win_create_c(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put_c(&out, 1, MPI_INT, to, 1, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  report("put", cells[1]);
  MPI_Win_free(&window);
  MPI_Psend_init(&out, 1, 1, MPI_INT, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(&in, 1, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Pready(0, requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  report("partitioned", in);
  MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
#endif
  return end();
}
