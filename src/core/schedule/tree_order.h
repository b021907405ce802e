// The one order in which reproducible reductions combine: a tree that only the number of ranks decides.
//
// Of p ranks, 2^k the largest power of two in p: ranks 2i and 2i+1 for i < p - 2^k are combined first; the 2^k that are
// left are combined with their neighbours, then pairs with pairs, and so on. For p = 5: (((0 1) 2) (3 4)). It is what
// recursive doubling and Rabenseifner's algorithm do on ranks in their order, whole vectors or halves of them,
// whichever the root; so the one takes short vectors and the other long ones, and every bit of the result is the same.
//
// Levels change nothing where each group is a run of ranks that the tree combines by itself before anything else, as
// groups of 2^j ranks all are (each level must then combine in this order as well).
#pragma once

#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/transform.h"

namespace ranktree::core::schedule {

// True for collectives that combine nothing, and where operands that are not commutative are combined by that tree, for
// any number of ranks, root, counts and segments.
bool keeps_tree_order(Collective collective, Algorithm algorithm);

// The same for a plan on a hierarchy. O(ranks log ranks).
bool keeps_tree_order(Collective collective, const Hierarchy& hierarchy, const Plan& plan);

}  // namespace ranktree::core::schedule
