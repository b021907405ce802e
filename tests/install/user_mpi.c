/* A user of the installed library for one MPI: splits MPI_COMM_WORLD by the machine; prints how many ranks. */
#include <ranktree/mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int ranks = 0;
  int major = -1;
  int minor = -1;
  int patch = -1;
  MPI_Comm below = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranktree_Comm_hsplit(MPI_COMM_WORLD, 0, MPI_INFO_NULL, &below) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  if (ranktree_Get_version(&major, &minor, &patch) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  if (major != RANKTREE_VERSION_MAJOR || minor != RANKTREE_VERSION_MINOR || patch < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  printf("%d of %d.%d\n", ranks, major, minor);
  if (below != MPI_COMM_NULL) MPI_Comm_free(&below);
  return MPI_Finalize();
}
