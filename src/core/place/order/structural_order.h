// An order of the ranks that follows from who talks to whom and how much, not from how they are numbered.
#pragma once

#include <vector>

#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::place::engine {

// Breadth first, so that who talks is near in memory, from a rank like few others, of its partners those first whose
// surroundings say so: colours are refined (B. Weisfeiler, A. Leman, The reduction of a graph to canonical form, 1968)
// and told apart by the distance from up to three ranks. Renumbered ranks come in the same order, but for those that
// look the same. Above 131,072 ranks colours are refined once only, without distances: ranks with the same weights to
// their partners, whatever those have, come as they are numbered. O(arcs + ranks log ranks).
std::vector<pattern::Rank> structural_order(const pattern::Affinity& affinity, Workers& workers);

}  // namespace ranktree::core::place::engine
