// A grid tiled on a symmetric tree: each level's arity is factored over the dimensions, so that every subtree holds a
// box, and a level cuts its boxes into equal ones.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/place/placement.h"
#include "core/place/tiling.h"
#include "core/reorder/grid.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {

struct Tiling {
  std::vector<std::vector<int>> factors;  // by branching level, then by dimension: into how many parts it cuts
  double cost = 0;                        // hops x links
  place::Placement placement;
};

// The cheapest of all tilings (core/place/tiling.h). Nothing where objects of one level differ in their children, a
// leaf may not be used, or no tiling comes out even.
std::optional<Tiling> tile(const topo::Tree& tree, const Grid& grid, std::size_t width = place::kTilingWidth);

}  // namespace ranktree::core::reorder
