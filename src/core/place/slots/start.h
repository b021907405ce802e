// Where ranks are before anything is searched for.
#pragma once

#include <span>
#include <vector>

#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/slots/slot_tree.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::engine {

// The slots of a placement; a leaf that takes several ranks gives them its slots in the order of ranks, pinned ones
// first.
std::vector<SlotTree::Slot> slots_of(const SlotTree& tree, const Placement& placement);

// Makes a placement that knew no pins honour them: subtrees of the same form change places as a whole first, ranks one
// by one then. `pinned` may name vertices instead of ranks, as `slot_of` does.
void bring_home(const SlotTree& tree, std::span<const SlotTree::Pinned> pinned, std::vector<SlotTree::Slot>& slot_of);

Placement placement_of(const SlotTree& tree, const std::vector<SlotTree::Slot>& slots);

// Moves nobody without need: ranks that are alone on leaves of one parent change places, which costs nothing in a tree,
// until those whose leaf in `start` is one of these leaves have it. O(ranks + leaves).
void stay_home(const topo::Tree& tree, const Placement& start, Placement& placement);

// Throws Error(kInput) when a start that the caller gave is not a placement.
void check_start(const topo::Tree& tree, const Placement& start, pattern::Rank ranks, const Constraints& constraints);

}  // namespace ranktree::core::place::engine
