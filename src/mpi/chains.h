// All chains of a communicator at one rank.
#pragma once

#include <mpi.h>

#include <vector>

#include "core/split/chain.h"

namespace ranktree::mpi {

// Collective over `comm`. Every rank's chain by rank at `root`, cut at core::split::kMaxDepth; nothing elsewhere.
// O(ranks x depth) memory at the root. Throws MpiError, and AgreedError where that is not to be had.
std::vector<core::split::Chain> gather_chains(MPI_Comm comm, const core::split::Chain& own, int root);

}  // namespace ranktree::mpi
