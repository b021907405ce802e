// Decisions that all ranks take alike: whoever cannot do what was asked for tells the others before anybody waits for
// it.
#pragma once

#include <mpi.h>

#include "preload/world/reason.h"

namespace ranktree::preload {

// What one rank brings to a decision.
struct Ballot {
  const char* variable = nullptr;  // that asks for it
  bool wanted = false;             // by this rank
  Reason obstacle;                 // why this rank cannot do it
};

// Collective over `comm`: whether all ranks want it and nothing is in the way on any. Where some want it in vain, the
// lowest rank with RANKTREE_VERBOSE=1 says "<what>: rank R: <why>", R being the lowest that is in the way.
bool all_agree(MPI_Comm comm, const char* what, const Ballot& own) noexcept;

}  // namespace ranktree::preload
