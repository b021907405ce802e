// The communicators of a hierarchy's levels, made as they are needed and kept with a context.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {

// Of one root, outermost first: null where the calling rank takes no part. In the group of the root, the root and the
// groups it is in lead; elsewhere the lowest rank does.
struct LevelSet {
  core::schedule::Rank groups = 0;
  core::schedule::Rank root = 0;
  bool made = false;  // false on all ranks where communicators were not to be had
  std::vector<Communicator> comms;
  std::vector<int> leaders;  // the leader's rank in each; across everything that of who asked last
};

class LevelCommunicators {
 public:
  // Collective over `comm` the first time for a root. Roots that lead their outermost group anyway share one set; the
  // last few sets are kept, for some MPIs have about two thousand communicators in all. Throws MpiError, AgreedError.
  const LevelSet& get(MPI_Comm comm, const core::schedule::Hierarchy& hierarchy, core::schedule::Rank groups,
                      core::schedule::Rank root);

 private:
  std::list<LevelSet> sets_;  // the last used first
};

}  // namespace ranktree::mpi::collect
