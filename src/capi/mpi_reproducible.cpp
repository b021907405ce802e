// ranktree_Comm_set_reproducible, once for each MPI.
#include <mpi.h>

#include "mpi/collect/select/reproducible.h"
#include "mpi/guard.h"
#include "ranktree/mpi.h"

int ranktree_Comm_set_reproducible(MPI_Comm comm, int flag) {
  return ranktree::mpi::guard(comm, [&] { ranktree::mpi::collect::set_reproducible(comm, flag != 0); });
}
