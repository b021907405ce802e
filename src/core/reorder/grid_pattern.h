// The grid that a recorded pattern is.
#pragma once

#include <optional>

#include "core/pattern/affinity.h"
#include "core/reorder/grid_choice.h"

namespace ranktree::core::reorder {

// The dimensions of the grid, however its ranks are numbered, and what is exchanged through its planes, in the mean of
// each dimension. The dimension whose neighbours have the nearest ranks is last, as in MPI's order. Nothing where its
// links have less than 90 % of the traffic, or where two dimensions have a length of 2: those may be one periodic
// dimension of 4. O(pairs).
std::optional<GridTraffic> grid_of_pattern(const pattern::Affinity& affinity);

}  // namespace ranktree::core::reorder
