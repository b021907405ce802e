// MPI-IO: messages that the MPI sends inside its calls are not the program's. The sends before and after are.
#include "expect.h"

static void ring(int rank, int size, int count) {
  int out[8] = {0}, in[8];
  MPI_Sendrecv(out, count, MPI_INT, (rank + 1) % size, 0, in, 8, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_message((rank + 1) % size, count * (long long)sizeof(int));
}

int main(int argc, char** argv) {
  int rank, size, values[256] = {0};
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  ring(rank, size, 1);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, rank * (MPI_Offset)sizeof values, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, values, 256, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, 0, values, 256, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_ordered(file, values, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_size(file, 0);
  MPI_File_close(&file);
  ring(rank, size, 2);
  MPI_Finalize();
  return 0;
}
