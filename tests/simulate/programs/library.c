// A rank's line of library.h: library COUNT
#include "library.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char line[kLineBytes];
  library_rank(MPI_COMM_WORLD, line, argc > 1 ? atoi(argv[1]) : 5);
  puts(line);
  MPI_Finalize();
  return 0;
}
