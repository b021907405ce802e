// What no placement can cost less than, so that a user knows when to stop searching.
#pragma once

#include "core/pattern/affinity.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

// A lower bound on evaluate().total of every placement of the ranks on the tree's allowed leaves (docs/place.md).
//
// A subtree with room for c ranks holds at most c - 1 partners of each of its ranks. What a rank exchanges beyond its
// heaviest c - 1 pairs therefore leaves the subtree, wherever the rank sits: half the sum over all ranks, since a pair
// has two ends, crosses the level's subtrees. A pair that meets on a level crosses all levels below it, so a level
// weighs what its cost is more than the next one's. Costs that grow inwards are taken as low as the lowest outside.
//
// Where subtrees have room for all partners of most ranks, that is little, and what Spreading bounds is taken instead.
//
// Exact where the pattern's blocks nest as the subtrees do and all have room for the same number of ranks. O(pairs +
// ranks x levels) on average, and limited work a level for Spreading. Sums are doubles: exact for whole numbers up to
// 2^53, else true up to rounding.
// Throws Error(kMismatch) when the ranks do not fit.
double lower_bound(const topo::Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints);

}  // namespace ranktree::core::place
