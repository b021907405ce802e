// Ranks with a prescribed slot.
#pragma once

#include <vector>

#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

// Throws Error(kInput) when a pin names no rank, no leaf, or a rank again; Error(kMismatch) when its leaf may not be
// used or takes fewer ranks than are pinned there.
void check_pins(const topo::Tree& tree, pattern::Rank ranks, const Constraints& constraints);

// Pinned ranks on their leaves, the others in order on the rest of these slots.
Placement around_pins(const std::vector<topo::Leaf>& slots, pattern::Rank ranks, const Constraints& constraints);

}  // namespace ranktree::core::place
