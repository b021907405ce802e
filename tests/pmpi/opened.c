/* A program that opens its MPI by dlopen: `opened LIBRARY local|global`. It finds calls in the library itself, or in
 * all that is loaded. Its link names no MPI. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int global = strcmp(argv[2], "global") == 0;
  void* const library = dlopen(argv[1], RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 3;
  void* const where = global ? RTLD_DEFAULT : library;
#ifdef OPEN_MPI
  MPI_Comm const world = (MPI_Comm)dlsym(where, "ompi_mpi_comm_world");
#else
  MPI_Comm const world = MPI_COMM_WORLD;
#endif
  int (*const init)(int*, char***) = (int (*)(int*, char***))dlsym(where, "MPI_Init");
  int (*const comm_rank)(MPI_Comm, int*) = (int (*)(MPI_Comm, int*))dlsym(where, "MPI_Comm_rank");
  int (*const barrier)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(where, "MPI_Barrier");
  int (*const finalize)(void) = (int (*)(void))dlsym(where, "MPI_Finalize");
  int rank = -1;
  init(&argc, &argv);
  comm_rank(world, &rank);
  for (int round = 0; round < 30; ++round) barrier(world);
  printf("%d of an opened MPI\n", rank);
  fflush(stdout);
  return finalize();
}
