// Where the ranks of a communicator are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/schedule/hierarchy.h"

namespace ranktree::mpi::collect {

// The same on all ranks.
struct Places {
  // Switches (where known), nodes, and what is inside nodes as far as it is known, outermost first; flat where ranks
  // differ in nothing.
  core::schedule::Hierarchy machine;
  // The names of machine's given levels, "Switch0", "Node", "Package", ...: what a level is across. One less than
  // machine.given_levels(), for on the last level there are ranks.
  std::vector<std::string> level_names;
  // Nodes only: level 0 across nodes, level 1 inside; flat on one node and where every rank is alone.
  core::schedule::Hierarchy nodes;
  std::vector<std::int32_t> node_of;  // by rank; 0 .. node_count-1
  int node_count = 1;
};

// Of `width` numbers a rank: its node's, the length of its chain, the chain's links (split/chains.h). O(ranks x depth x
// log). Throws std::bad_alloc.
Places places_of(std::span<const std::uint64_t> rows, std::size_t width);

}  // namespace ranktree::mpi::collect
