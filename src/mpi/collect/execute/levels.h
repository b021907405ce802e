// Variant::kLevels, the papers' literal form: the native collective on the communicator of each level (hier-bcast-2014
// §3, hier-reduce-2016 §3), so that any algorithm of the MPI is transformed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/schedule.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {

// Of one root, outermost first: null where the calling rank takes no part. In the group of the root, the root and the
// groups it is in lead; elsewhere the lowest rank does.
struct LevelSet {
  core::schedule::Rank groups = 0;
  core::schedule::Rank root = 0;
  bool made = false;  // false on all ranks where communicators could not be made
  std::vector<Communicator> comms;
  std::vector<int> leaders;  // the leader's rank in each; outermost: that of the last root
};

// Made as they are needed and kept with a context.
class LevelCommunicators {
 public:
  // Collective over the context the first time for a root. Roots that lead their outermost group anyway share one set;
  // the last few sets are kept, for some MPIs have about two thousand communicators in all. Throws MpiError,
  // AgreedError.
  const LevelSet& get(Context& context, core::schedule::Rank groups, core::schedule::Rank root);

 private:
  std::list<LevelSet> sets_;  // the last used first
};

// Broadcast, reduce, allreduce and barrier; on every level the first ranks of its groups. Depends only on what is equal
// on all ranks. Local.
bool can_level(Context& context, const Operation& operation, const core::predict::Choice& choice);

// Where can_level(). Blocks until communicators of the levels are made, the first time, and in every call of
// progress(): for blocking calls only. Where communicators cannot be made, the native call on the whole communicator.
std::unique_ptr<Running> start_levels(const std::shared_ptr<Context>& context, const Operation& operation,
                                      const core::predict::Choice& choice);

}  // namespace ranktree::mpi::collect
