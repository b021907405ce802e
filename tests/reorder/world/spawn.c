/* MPI_COMM_WORLD starts two processes; parents and children see each other in the parents' order. */
#include "report.h"

static void child(MPI_Comm parent) {
  int all[64], parents, sum = 0;
  MPI_Comm_remote_size(parent, &parents);
  MPI_Allgather(&my_rank, 1, MPI_INT, all, 1, MPI_INT, parent);
  for (int i = 0; i < parents; ++i) sum += (i + 1) * all[i];
  MPI_Send(&sum, 1, MPI_INT, my_rank, 3, parent);
  MPI_Comm_disconnect(&parent);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm parent, children, merged;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    child(parent);
    return MPI_Finalize();
  }
  int all[2], sum = 0, rank;
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, ranks - 1, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  MPI_Comm_rank(children, &rank), report("local rank", rank);
  MPI_Allgather(&my_rank, 1, MPI_INT, all, 1, MPI_INT, children);
  report_all("children", all, 2);
  if (my_rank < 2) MPI_Recv(&sum, 1, MPI_INT, my_rank, 3, children, MPI_STATUS_IGNORE), report("children's sum", sum);
  MPI_Comm_dup(MPI_COMM_WORLD, &merged), MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&children);
  return end();
}
