// An order of the ranks that follows from the pattern and not from their numbers.
#pragma once

#include <vector>

#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::place::engine {

// Breadth first, so that ranks that communicate are near in memory, from a rank whose colour is rare, partners by
// colour. Colours are refined (B. Weisfeiler, A. Leman, The reduction of a graph to canonical form, 1968) and
// distinguished by the distance from up to three ranks. Renumbered ranks have the same order, except for those of the
// same colour. Above 131,072 ranks colours are refined once only, without distances: ranks with the same weights to
// their partners then keep the order of their numbers. O(arcs + ranks log ranks).
std::vector<pattern::Rank> structural_order(const pattern::Affinity& affinity, Workers& workers);

}  // namespace ranktree::core::place::engine
