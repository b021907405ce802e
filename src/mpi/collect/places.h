// Where the ranks of a communicator are, made into hierarchies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/split/chain.h"

namespace ranktree::mpi::collect {

// Numbers 0, 1, ... for different values, in the order in which they are met.
std::vector<std::int32_t> numbered(const std::vector<std::int64_t>& values);

struct Places {
  core::schedule::Hierarchy hierarchy;
  std::vector<std::string> names;  // of the given levels but the last
};

// One level for each link of the longest chain: ranks with the same beginnings come together, and so do those whose
// chains have ended. O(ranks x depth x log).
Places places_of(const std::vector<core::split::Chain>& chains);

}  // namespace ranktree::mpi::collect
