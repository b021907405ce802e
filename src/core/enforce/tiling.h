// A grid tiled on a symmetric tree: each level's arity is factored over the dimensions, so that every subtree holds a
// box, and a level cuts its boxes into equal ones.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/enforce/grid.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::enforce {

// So many kinds of box are kept a level, the cheapest first; beyond, the result may miss the cheapest tiling.
inline constexpr std::size_t kTilingWidth = 4096;

struct Tiling {
  std::vector<std::vector<int>> factors;  // by branching level, then by dimension: into how many parts it cuts
  double cost = 0;                        // hops x links
  place::Placement placement;
};

// The cheapest of all tilings: a shortest path from the whole grid to single vertices, where what a level costs depends
// on the boxes above and below it alone. Ties go to the lexicographically smallest boxes. Nothing where objects of one
// level differ in their children, a leaf may not be used, or no tiling comes out even. O(kinds of box x factorizations
// of an arity) a level.
std::optional<Tiling> tile(const topo::Tree& tree, const Grid& grid, std::size_t width = kTilingWidth);

}  // namespace ranktree::core::enforce
