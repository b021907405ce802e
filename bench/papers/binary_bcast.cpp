// MPI_Bcast of a program that is compiled with -DMPI_Bcast=papers_Bcast: Open MPI's binary one, which hsplit-2018 §7.3
// uses. It has segments of 32 KiB.
#include <mpi.h>

#include "broadcasts.h"

extern "C" int papers_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  papers::broadcast_by_binary_tree(data, count * bytes, 32768, root, comm);
  return MPI_SUCCESS;
}
