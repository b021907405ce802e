// The cheapest placement of all, for few ranks.
#pragma once

#include <cstdint>
#include <optional>

#include "core/pattern/affinity.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {

// Ranks take their leaves in order of their numbers; of subtrees that are alike and empty only the first is tried, and
// what already costs as much as the best, counting the links that are left at what siblings pay, is not pursued.
// Returns the first placement that costs less than `bound` and no more than any other, or after so many `steps` the
// best one seen; nothing when there is none. Needs as many leaves as ranks; all may be used. A step is O(depth + links
// of a rank).
std::optional<place::Placement> search_all(const topo::Tree& tree, const pattern::Affinity& affinity, double bound,
                                           std::int64_t steps);

}  // namespace ranktree::core::reorder
