// Slots for ranks that need several leaves each.
#pragma once

#include "core/topo/tree.h"

namespace ranktree::core::topo {

// A copy whose leaves are bundles of `count` allowed leaves, each below the lowest object that has as many, in logical
// order. A bundle owns all their PUs. Remaining leaves are not used, and an object that holds no bundle keeps one leaf
// that is not allowed. Costs and distances between nodes stay the same; hops are counted again. Throws Error(kInput)
// when `count` is below 1. O(objects x depth).
Tree bundle_leaves(const Tree& tree, int count);

}  // namespace ranktree::core::topo
