// Refinement of a division into many parts, two parts at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/place/engine/bisection.h"
#include "core/place/engine/graph.h"

namespace ranktree::core::place::engine {

// Pairs of parts that talk, the most first, are bisected anew from what they are, within what the parts may hold;
// rounds go on with the pairs of which one changed, up to `rounds`. The cut never grows. Pairs without a common part
// are refined at the same time.
void refine_pairs(const Guide& graph, std::span<const std::int64_t> capacities, int rounds, std::uint64_t seed,
                  Bisections& bisections, std::vector<Vertex>& part_of);

}  // namespace ranktree::core::place::engine
