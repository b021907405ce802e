// Placing a dense pattern: divided by its strongest pairs, refined on all of them, never a list of all pairs.
#pragma once

#include <functional>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/engine.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

// Slots for what a sparse pattern says, by rank.
using PlaceLists = std::function<std::vector<SlotTree::Slot>(const pattern::Affinity& lists)>;

// Makes a placement cheaper, never more expensive. Where every slot is taken, what all pairs exchange alike costs the
// same wherever ranks are: if only few pairs exchange more, these are placed as lists. Throws Error(kInput), naming the
// entry, when one is negative or not finite.
void place_dense(const SlotTree& tree, const pattern::Matrix& matrix, const EngineOptions& options,
                 const PlaceLists& place_lists, std::vector<SlotTree::Slot>& slot_of);

}  // namespace ranktree::core::place::engine
