/* "loop N COUNT [never-freed]": N allreduces of COUNT integers, with the third word also 20 on another communicator.
   Every rank prints whether all had the right result. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, right = 1;
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 10, count = argc > 2 ? atoi(argv[2]) : 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *in = malloc(sizeof(int) * (size_t)count), *out = malloc(sizeof(int) * (size_t)count);
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < count; ++i) in[i] = rank + i % 7 + call;
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) {
      if (out[i] != size * (size - 1) / 2 + size * (i % 7 + call)) right = 0;
    }
  }
  if (argc > 3) {
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int call = 0; call < 20; ++call) MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, other);
  }
  printf("%s\n", right ? "right" : "wrong");
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
