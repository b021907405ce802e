// The start of a search: slots from placements and back, and pinned ranks on their slots.
#pragma once

#include <span>
#include <vector>

#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/slots/slot_tree.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::engine {

// The slots of a placement. Ranks that share a leaf have its slots in the order of ranks, pinned ones first.
std::vector<SlotTree::Slot> slots_of(const SlotTree& tree, const Placement& placement);

// Puts pinned ranks on their slots in a placement that ignored pins: first whole subtrees of the same form are
// exchanged, then single ranks. `pinned` may name vertices instead of ranks, as `slot_of` does.
void honour_pins(const SlotTree& tree, std::span<const SlotTree::Pinned> pinned, std::vector<SlotTree::Slot>& slot_of);

Placement placement_of(const SlotTree& tree, const std::vector<SlotTree::Slot>& slots);

// Keeps ranks on their leaves where that is free: among ranks that are alone on leaves of one parent, which may be
// exchanged at no cost in a tree, those whose leaf in `start` is one of these leaves get it back. O(ranks + leaves).
void keep_leaves(const topo::Tree& tree, const Placement& start, Placement& placement);

// Throws Error(kInput) when the start is not a placement.
void check_start(const topo::Tree& tree, const Placement& start, pattern::Rank ranks, const Constraints& constraints);

}  // namespace ranktree::core::place::engine
