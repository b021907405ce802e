// Gives parts that are too large or too small their size again.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// By single moves along the cheapest chains of parts from one that is too large to one that is too small; vertices are
// of size 1. `surplus`: by how many vertices each part is too large. False when no chain is left though some are
// needed. O(parts^2) memory.
bool balance(const Guide& graph, Workers& workers, std::vector<std::int32_t>& surplus, std::vector<Vertex>& part_of);

}  // namespace ranktree::core::place::engine
