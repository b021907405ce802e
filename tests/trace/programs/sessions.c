// A program without MPI_Init: two sessions, each with a communicator of its own; the one opened first is closed first.
// (One session after the other fails in MPICH 4.0's own MPI_Session_init.)
#include "expect.h"

typedef struct {
  MPI_Session session;
  MPI_Comm comm;
  int rank, size;
} World;

static World begin(void) {
  World world;
  MPI_Group group;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world.session);
  MPI_Group_from_session_pset(world.session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "ranktree.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world.comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(world.comm, &world.rank);
  MPI_Comm_size(world.comm, &world.size);
  return world;
}

static void ring(const World* world, int shift, int count) {
  int out[64] = {0}, in[64];
  const int to = (world->rank + shift) % world->size;
  const int from = (world->rank + world->size * shift - shift) % world->size;
  MPI_Sendrecv(out, count, MPI_INT, to, 0, in, 64, MPI_INT, from, 0, world->comm, MPI_STATUS_IGNORE);
  expect_message(to, count * (long long)sizeof(int));
}

static void end(World* world) {
  MPI_Comm_free(&world->comm);
  MPI_Session_finalize(&world->session);
}

int main(void) {
  World first = begin();
  expect_open(first.rank);
  ring(&first, 1, 3);
  World second = begin();
  ring(&second, 2, 4);
  ring(&first, 1, 5);
  end(&first);
  ring(&second, 1, 6);
  end(&second);
  return 0;
}
