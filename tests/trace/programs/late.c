// Messages at the very end: sent from an attribute callback of MPI_COMM_SELF, inside MPI_Finalize.
#include "expect.h"

static int rank, size;

static int at_end(MPI_Comm comm, int key, void* attribute, void* extra) {
  int value = 0;
  (void)comm, (void)key, (void)attribute, (void)extra;
  MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  expect_message((rank + 1) % size, sizeof(int));
  return MPI_SUCCESS;
}

int main(void) {
  int begun, key;
  MPI_Initialized(&begun);
  if (begun) return 1;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  expect_open(rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Finalize();
  MPI_Finalized(&begun);
  return begun ? 0 : 1;
}
