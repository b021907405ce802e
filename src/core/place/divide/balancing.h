// Restores the sizes of parts that are too large or too small.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// Moves single vertices along the cheapest chains of parts, from one that is too large to one that is too small;
// vertices are of size 1. `surplus`: the vertices that each part has too many. False when parts remain unequal without
// a chain. O(parts^2) memory.
bool balance(const Guide& graph, Workers& workers, std::vector<std::int32_t>& surplus, std::vector<Vertex>& part_of);

}  // namespace ranktree::core::place::engine
