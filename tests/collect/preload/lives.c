/* Communicators of all kinds. "lives N M": N communicators one after the other, then M at a time, each with calls
 * enough to be served; then intercommunicators, and a communicator of one rank. Rank 0 prints a sum of what all calls
 * have received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long sum;

static void use(MPI_Comm comm) {
  int rank, value;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < 7; ++i) {
    value = rank + i;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, comm);
    sum = (sum * 31 + value) % 1000003;
  }
  MPI_Bcast(&value, 1, MPI_INT, 0, comm);
  sum = (sum * 31 + value) % 1000003;
}

/* Halves of the world; a broadcast and an allreduce between them. */
static void use_two_groups(int rank, int size) {
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < size / 2 ? size / 2 : 0, 5, &both);
  for (int i = 0; i < 20; ++i) {
    int value = rank + i, all = 0;
    MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, both);
    sum = (sum * 31 + all) % 1000003;
    value = 3 + i;
    MPI_Bcast(&value, 1, MPI_INT, rank >= size / 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
    sum = (sum * 31 + value) % 1000003;
    MPI_Barrier(both);
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  int rank, size;
  const int in_turn = argc > 1 ? atoi(argv[1]) : 10, together = argc > 2 ? atoi(argv[2]) : 10;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < in_turn; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Comm* many = malloc(sizeof *many * (size_t)(together + 1));
  for (int i = 0; i < together; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, many + i);
    use(many[i]);
  }
  for (int i = 0; i < together; ++i) MPI_Comm_free(many + i);
  free(many);
  use(MPI_COMM_SELF);
  if (size > 1) use_two_groups(rank, size);
  use(MPI_COMM_WORLD);
  if (rank == 0) printf("%ld\n", sum);
  MPI_Finalize();
  return 0;
}
