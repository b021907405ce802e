// Chains of other ranks, for those who ask.
#pragma once

#include <mpi.h>

#include <map>
#include <set>

#include "core/split/chain.h"

namespace ranktree::mpi {

// Collective over `comm`: every rank offers its chain and gets those of the ranks it wants. O(depth x wanted) memory
// and O(wanted + askers) messages a rank: nobody knows beforehand who will ask, so both questions and answers are
// exchanged. Throws MpiError, and AgreedError where memory ends on some rank.
std::map<int, core::split::Chain> fetch_chains(MPI_Comm comm, const core::split::Chain& own,
                                               const std::set<int>& wanted);

}  // namespace ranktree::mpi
