// A grid cut recursively down any tree, also where grid and tree have nothing in common.
#pragma once

#include "core/place/placement.h"
#include "core/reorder/grid.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {

// Children of an object are halved by what they hold; the vertices are cut accordingly across one dimension, the last
// layer of the cut being shared out along the others, where fewest links are cut. Needs as many leaves as vertices.
// O(vertices log vertices x dimensions^2 x depth).
place::Placement bisect(const topo::Tree& tree, const Grid& grid);

}  // namespace ranktree::core::reorder
