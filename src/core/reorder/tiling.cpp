#include "core/reorder/tiling.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/place/placement.h"
#include "core/place/shape.h"
#include "core/place/tiling.h"
#include "core/reorder/grid.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

using place::Box;

// A symmetric tree: its levels that branch, root first, and its leaves from left to right.
struct Levels {
  std::vector<int> arities;
  std::vector<double> costs;  // of two leaves that part on this level
  std::vector<topo::Leaf> leaves;
};

void collect_leaves(const place::Shape& shape, std::vector<topo::Leaf>& leaves) {
  if (shape.children.empty()) leaves.push_back(shape.leaf);
  for (const place::Shape& child : shape.children) collect_leaves(child, leaves);
}

std::optional<Levels> branching_levels(const topo::Tree& tree) {
  const place::Shape shape = place::shape_of(tree);
  auto arities = place::uniform_arities(shape);
  if (!arities) return std::nullopt;
  Levels levels;
  levels.arities = std::move(*arities);
  collect_leaves(shape, levels.leaves);
  std::size_t below = levels.leaves.size();
  for (const int arity : levels.arities) {
    below /= static_cast<std::size_t>(arity);
    levels.costs.push_back(tree.distance(levels.leaves[0], levels.leaves[below]));
  }
  return levels;
}

// Links whose ends are in different boxes when the grid is cut into boxes of one kind.
double links_cut(const Grid& grid, const Box& box) {
  const auto vertices = static_cast<double>(grid.vertices());
  double links = 0;
  for (std::size_t j = 0; j < box.size(); ++j) {
    const int parts = grid.dims[j] / box[j];
    const int cuts = parts == 1 ? 0 : grid.periodic[j] != 0 ? parts : parts - 1;
    links += vertices / grid.dims[j] * cuts;
  }
  return links;
}

}  // namespace

std::optional<Tiling> tile(const topo::Tree& tree, const Grid& grid, std::size_t width) {
  const auto levels = branching_levels(tree);
  if (!levels || static_cast<std::int64_t>(levels->leaves.size()) != grid.vertices()) return std::nullopt;
  const place::TiledLevels tiled{levels->arities, levels->costs};
  auto found = place::cheapest_boxes(grid.dims, tiled, [&](const Box& box) { return links_cut(grid, box); }, width);
  if (!found) return std::nullopt;
  const std::vector<Box>& boxes = found->boxes;
  Tiling tiling;
  tiling.cost = found->cost;
  for (std::size_t level = 1; level < boxes.size(); ++level) {
    std::vector<int>& factors = tiling.factors.emplace_back();
    for (std::size_t j = 0; j < grid.dims.size(); ++j) factors.push_back(boxes[level - 1][j] / boxes[level][j]);
  }
  for (std::int64_t vertex = 0; vertex < grid.vertices(); ++vertex) {
    const auto leaf = static_cast<std::size_t>(place::leaf_in(boxes, vertex));
    tiling.placement.leaf_of.push_back(levels->leaves[leaf]);
  }
  return tiling;
}

}  // namespace ranktree::core::reorder
