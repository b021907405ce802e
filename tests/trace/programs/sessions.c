// A program without MPI_Init: two sessions one after the other, each with a communicator of its own.
#include "expect.h"

static void ring(int shift, int count) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, size, out[64] = {0}, in[64];
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "ranktree.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (expect_file == NULL) expect_open(rank);
  MPI_Sendrecv(out, count, MPI_INT, (rank + shift) % size, 0, in, 64, MPI_INT, (rank + size * shift - shift) % size, 0,
               comm, MPI_STATUS_IGNORE);
  expect_message((rank + shift) % size, count * (long long)sizeof(int));
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

int main(void) {
  ring(1, 3);
  ring(2, 4);
  return 0;
}
