// Another order for the traffic that was really seen.
#pragma once

#include <mpi.h>

namespace ranktree::mpi {

// ranktree_Comm_rebalance() (include/ranktree/mpi.h). Bytes of the records that the preload library keeps for pairs of
// processes (mpi/reorder/traced.h), since the last call on `comm` or on what it was made from; what the call itself
// sends does not count for the next one. Throws MpiError (MPI's error handler has been called) or AgreedError (it has
// not, all ranks throw alike); outputs are then untouched.
void rebalance(MPI_Comm comm, MPI_Info info, int newranks[], MPI_Comm* made);

}  // namespace ranktree::mpi
