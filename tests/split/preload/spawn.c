/* Processes that MPI_COMM_WORLD has started, and splits of all of them together: "rank: ranks on the same node". */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm parent, others, all, node;
  int rank, size, is_parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  is_parent = parent == MPI_COMM_NULL;
  others = parent;
  if (is_parent)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(others, !is_parent, &all);
  MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(all, &rank), MPI_Comm_size(node, &size);
  if (is_parent) printf("%d: %d\n", rank, size);
  MPI_Comm_free(&node), MPI_Comm_free(&all);
  MPI_Comm_disconnect(&others);
  return MPI_Finalize();
}
