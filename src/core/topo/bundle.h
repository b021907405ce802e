// Places for ranks that need several leaves each.
#pragma once

#include "core/topo/tree.h"

namespace ranktree::core::topo {

// A copy whose leaves are bundles of so many allowed leaves, each below the lowest object that has as many, in logical
// order; a bundle owns all their PUs. Leaves that are left over there are not used, and what holds no bundle keeps one
// leaf that may not be used. Costs and distances between nodes stay as they are; hops are counted anew. Throws
// Error(kInput) when `count` is below 1. O(objects x depth).
Tree bundle_leaves(const Tree& tree, int count);

}  // namespace ranktree::core::topo
