// A Cartesian grid of processes (MPI 5.0 §8.5.1) and where its vertices go. The pattern is known beforehand: every
// vertex exchanges the same with its neighbours in each dimension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/place/tiling.h"
#include "core/reorder/slots.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {

// Vertices are numbered as MPI does: row-major, the last dimension fastest.
struct Grid {
  std::vector<int> dims;
  std::vector<std::uint8_t> periodic;     // as many
  std::vector<double> link_weights = {};  // of a link of each dimension, 0 or more; empty: 1 each

  [[nodiscard]] std::int64_t vertices() const;
  [[nodiscard]] double link_weight(std::size_t dimension) const {
    return link_weights.empty() ? 1 : link_weights[dimension];
  }
};

// Each link between neighbours counts once, by its weight; a periodic dimension of two has two links between the same
// vertices, one of one has none. O(vertices x dimensions). Throws Error(kInput) when a dimension is below 1, the
// lengths differ or there are 2^31 vertices or more.
pattern::Affinity grid_affinity(const Grid& grid);

// A grid tiled on a symmetric tree: each level's arity is factored over the dimensions, so that every subtree holds a
// box, and a level cuts its boxes into equal ones.
struct Tiling {
  std::vector<std::vector<int>> factors;  // by branching level, then by dimension: into how many parts it cuts
  double cost = 0;                        // hops x weight of links
  place::Placement placement;
};

// The cheapest of all tilings (core/place/tiling.h). Nothing where objects of one level differ in their children, a
// leaf may not be used, or no tiling comes out even.
std::optional<Tiling> tile(const topo::Tree& tree, const Grid& grid, std::size_t width = place::kTilingWidth);

// A symmetric tree: its levels that branch, root first, and its leaves from left to right.
struct BranchingLevels {
  std::vector<int> arities;
  std::vector<double> costs;  // of two leaves that part on this level
  std::vector<topo::Leaf> leaves;
};

// Nothing where objects of one level differ in their children or a leaf may not be used.
std::optional<BranchingLevels> branching_levels(const topo::Tree& tree);

// The cost of tile() alone, without its placement.
std::optional<double> tiling_cost(const BranchingLevels& levels, const Grid& grid, std::size_t width);

// How a grid was placed.
enum class GridMethod : std::uint8_t { kIdentity, kTiling, kEngine };

struct GridPlacement {
  place::Placement placement;  // by vertex
  double before = 0;           // hops x weight with vertex k at rank k's place
  double after = 0;            // at most `before`
  GridMethod method = GridMethod::kIdentity;
};

struct GridOptions {
  place::Preset preset = place::Preset::kDefault;
  std::uint64_t seed = 1;
  std::function<bool()> keep_going;  // as EngineOptions::keep_going
};

// The cheapest of: the current order, the tiling, and what the placement engine makes of the grid's graph, with three
// seeds. Ties go to the first in this order. One vertex a slot. Throws Error(kMismatch) when the grid has not as many
// vertices as there are slots.
GridPlacement place_grid(const Slots& slots, const Grid& grid, const GridOptions& options);

}  // namespace ranktree::core::reorder
