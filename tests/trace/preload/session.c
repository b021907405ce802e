// Only sessions, no MPI_Init: one message to the right, a barrier. With an argument MPI_Init comes after the last
// session, and another message.
#include <mpi.h>

static void send_to_the_right(MPI_Comm comm) {
  int rank, size, out = 0, in;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, comm,
               MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "ring", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  send_to_the_right(comm);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  if (argc == 1) return 0;
  MPI_Init(&argc, &argv);
  send_to_the_right(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
