// Turns collective calls into traffic of pairs, offline, by a named model of what the MPI library does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/pattern/pattern.h"

namespace ranktree::core::pattern {

enum class CollectiveModel : std::uint8_t {
  kOpenMpi,  // the algorithm Open MPI 4.1's tuned component would choose by size and ranks
  kMpich,    // the algorithm MPICH 4.0's default selection would choose
  kFlat,     // root <-> every rank, every rank <-> every rank (Open MPI coll/monitoring's attribution)
  kNone      // collectives are left out
};
std::string_view collective_model_name(CollectiveModel model);  // "openmpi", "mpich", "flat", "none"
std::optional<CollectiveModel> collective_model_from_name(std::string_view word);

// The model of the MPI named in pattern.metadata.mpi; kOpenMpi when it is unknown.
CollectiveModel natural_model(const Pattern& pattern);

// A copy in which every CollectiveCalls has become traffic of Class::kCollective and `collectives` is empty. With kNone
// the exact collective class is dropped as well. Where phases were recorded, the calls of one operation, root and
// bucket on communicators of one size become a phase, and the recorded ones stay; with kNone there are none any more
// where the pattern has traffic of that class. O(pairs + sum over records of the pairs their algorithm makes).
Pattern expand(const Pattern& pattern, CollectiveModel model);

}  // namespace ranktree::core::pattern
