// Collectives of served.h: served COUNT ROUNDS [broadcasts]
#include "served.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 4) {
    served_broadcasts(MPI_COMM_WORLD, atoi(argv[1]), atoi(argv[2]));
  } else if (argc == 3) {
    served_rounds(MPI_COMM_WORLD, atoi(argv[1]), atoi(argv[2]));
  }
  MPI_Finalize();
  return argc < 3;
}
