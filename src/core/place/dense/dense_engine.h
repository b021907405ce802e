// Places a dense pattern without a list of all pairs: divides it by its strongest pairs, refines on all pairs.
#pragma once

#include <functional>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/engine.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

// Places a sparse pattern; slots by rank.
using PlaceLists = std::function<std::vector<SlotTree::Slot>(const pattern::Affinity& lists)>;

// Never makes the placement more expensive. Where every slot is taken, the weight that all pairs have in common costs
// the same in every placement: if few pairs have more, only these are placed, as lists. Throws Error(kInput), naming
// the entry, when one is negative or not finite.
void place_dense(const SlotTree& tree, const pattern::Matrix& matrix, const EngineOptions& options,
                 const PlaceLists& place_lists, std::vector<SlotTree::Slot>& slot_of);

}  // namespace ranktree::core::place::engine
