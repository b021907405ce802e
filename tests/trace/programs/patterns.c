// The communication of four kinds of program: a ring, a wavefront (as NAS LU), a transposed exchange with reductions
// along rows (as NAS CG), an all-to-all (as NAS FT). patterns.F90 is the same in Fortran; the matrices must be equal.
#include <mpi.h>

static int rank, size, rows, columns, row, column;
static double out[4096], in[4096];

static int at(int r, int c) { return r >= 0 && r < rows && c >= 0 && c < columns ? r * columns + c : MPI_PROC_NULL; }

static void ring(void) {
  for (int i = 0; i < 10; ++i) {
    MPI_Sendrecv(out, 100, MPI_DOUBLE, (rank + 1) % size, 1, in, 100, MPI_DOUBLE, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void wavefront(void) {
  for (int k = 1; k <= 6; ++k) {
    MPI_Recv(in, 5 * k, MPI_DOUBLE, at(row - 1, column), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, 5 * k, MPI_DOUBLE, at(row, column - 1), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, 5 * k, MPI_DOUBLE, at(row + 1, column), 2, MPI_COMM_WORLD);
    MPI_Send(out, 5 * k, MPI_DOUBLE, at(row, column + 1), 2, MPI_COMM_WORLD);
  }
}

static void transposed(void) {
  const int partner = rows == columns ? column * columns + row : size - 1 - rank;
  MPI_Comm line;
  MPI_Request request[2];
  MPI_Comm_split(MPI_COMM_WORLD, row, columns - column, &line);  // from right to left
  for (int i = 0; i < 5; ++i) {
    MPI_Irecv(in, 75, MPI_DOUBLE, partner, 3, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, 75, MPI_DOUBLE, partner, 3, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE, MPI_SUM, line);
  }
  for (int other = 0; other < columns; ++other) {
    MPI_Recv_init(in, 1, MPI_DOUBLE, other, 4, line, &request[0]);
    MPI_Send_init(out, 1, MPI_DOUBLE, other, 4, line, &request[1]);
    for (int i = 0; i < 3; ++i) {
      MPI_Startall(2, request);
      MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
  }
  MPI_Comm_free(&line);
}

static void all_to_all(void) {
  int counts[256], places[256];
  for (int i = 0; i < size; ++i) {
    counts[i] = 1 + (rank + i) % 2;
    places[i] = 2 * i;
  }
  MPI_Bcast(out, 7, MPI_INT, size - 1, MPI_COMM_WORLD);
  MPI_Alltoall(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i * i <= size; ++i) {
    if (size % i == 0) rows = i;
  }
  columns = size / rows;
  row = rank / columns;
  column = rank % columns;
  ring();
  wavefront();
  transposed();
  all_to_all();
  MPI_Finalize();
  return 0;
}
