// The one order in which reproducible reductions combine: a tree that depends only on the number of ranks.
//
// Let 2^k be the largest power of two in p ranks. Ranks 2i and 2i+1 for i < p - 2^k are combined first. The remaining
// 2^k are combined with their neighbours, then pairs with pairs, and so on; for p = 5: (((0 1) 2) (3 4)). Recursive
// doubling and Rabenseifner's algorithm combine in this order on ranks in their order, for any root, on whole vectors
// or halves of them. So the former serves short vectors and the latter long ones, and every bit of the result is the
// same.
//
// Levels do not change the order where each group is a run of ranks that the tree combines before it combines them with
// others, as all groups of 2^j ranks are. Each level must then combine in this order as well.
#pragma once

#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/transform.h"

namespace ranktree::core::schedule {

// True for collectives that combine nothing, and where non-commutative operands are combined by that tree for any
// number of ranks, root, counts and segments.
bool keeps_tree_order(Collective collective, Algorithm algorithm);

// The same for a composition on a hierarchy. O(ranks log ranks).
bool keeps_tree_order(Collective collective, const Hierarchy& hierarchy, const Composition& composition);

}  // namespace ranktree::core::schedule
