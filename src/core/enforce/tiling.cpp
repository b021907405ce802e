#include "core/enforce/tiling.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/enforce/grid.h"
#include "core/place/placement.h"
#include "core/place/shape.h"
#include "core/topo/tree.h"

namespace ranktree::core::enforce {
namespace {

using Box = std::vector<int>;  // edges of a box of vertices, by dimension

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

// Calls `visit` with every way to cut a box into `parts` equal boxes.
void for_each_cut(Box& box, int parts, std::size_t dimension, const std::function<void(const Box&)>& visit) {
  if (dimension == box.size()) {
    if (parts == 1) visit(box);
    return;
  }
  const int whole = box[dimension];
  for (int factor = 1; factor <= std::min(parts, whole); ++factor) {
    if (parts % factor != 0 || whole % factor != 0) continue;
    box[dimension] = whole / factor;
    for_each_cut(box, parts / factor, dimension + 1, visit);
  }
  box[dimension] = whole;
}

// The cheapest way to a kind of box.
struct Step {
  double cost = 0;
  Box above;
};
using Frontier = std::map<Box, Step>;

// Keeps the cheapest `width`, ties by box.
void narrow(Frontier& frontier, std::size_t width) {
  if (frontier.size() <= width) return;
  std::vector<std::pair<double, Box>> order;
  order.reserve(frontier.size());
  for (const auto& [box, step] : frontier) order.emplace_back(step.cost, box);
  std::sort(order.begin(), order.end());
  for (std::size_t i = width; i < order.size(); ++i) frontier.erase(order[i].second);
}

Frontier next_level(const Grid& grid, const Frontier& frontier, int arity, double cost, std::size_t width) {
  Frontier next;
  for (const auto& entry : frontier) {
    const auto& box = entry.first;
    const Step& step = entry.second;
    const double cut_above = links_cut(grid, box);
    Box work = box;
    for_each_cut(work, arity, 0, [&](const Box& part) {
      const Step candidate{step.cost + cost * (links_cut(grid, part) - cut_above), box};
      const auto [known, fresh] = next.try_emplace(part, candidate);
      if (!fresh && candidate.cost < known->second.cost) known->second = candidate;
    });
  }
  narrow(next, width);
  return next;
}

// The boxes by level on the way back from single vertices to the whole grid; its own box comes first.
std::vector<Box> boxes_of(const std::vector<Frontier>& frontiers, const Grid& grid) {
  std::vector<Box> boxes(frontiers.size());
  boxes.back() = Box(grid.dims.size(), 1);
  for (std::size_t level = frontiers.size() - 1; level > 0; --level) {
    boxes[level - 1] = frontiers[level].at(boxes[level]).above;
  }
  return boxes;
}

// The number of a vertex's leaf among all: which child it takes on each level.
std::int64_t seat_of(std::int64_t vertex, const Grid& grid, const std::vector<Box>& boxes) {
  std::vector<int> coordinates(grid.dims.size());
  for (std::size_t j = coordinates.size(); j-- > 0;) {
    coordinates[j] = static_cast<int>(vertex % grid.dims[j]);
    vertex /= grid.dims[j];
  }
  std::int64_t seat = 0;
  for (std::size_t level = 1; level < boxes.size(); ++level) {
    for (std::size_t j = 0; j < coordinates.size(); ++j) {
      seat = seat * (boxes[level - 1][j] / boxes[level][j]) + coordinates[j] / boxes[level][j];
      coordinates[j] %= boxes[level][j];
    }
  }
  return seat;
}

}  // namespace

std::optional<Tiling> tile(const topo::Tree& tree, const Grid& grid, std::size_t width) {
  const auto levels = branching_levels(tree);
  if (!levels || static_cast<std::int64_t>(levels->leaves.size()) != grid.vertices()) return std::nullopt;
  std::vector<Frontier> frontiers{{{grid.dims, Step{}}}};
  for (std::size_t level = 0; level < levels->arities.size(); ++level) {
    frontiers.push_back(next_level(grid, frontiers.back(), levels->arities[level], levels->costs[level], width));
    if (frontiers.back().empty()) return std::nullopt;
  }
  const std::vector<Box> boxes = boxes_of(frontiers, grid);
  Tiling tiling;
  tiling.cost = frontiers.back().at(boxes.back()).cost;
  for (std::size_t level = 1; level < boxes.size(); ++level) {
    std::vector<int>& factors = tiling.factors.emplace_back();
    for (std::size_t j = 0; j < grid.dims.size(); ++j) factors.push_back(boxes[level - 1][j] / boxes[level][j]);
  }
  for (std::int64_t vertex = 0; vertex < grid.vertices(); ++vertex) {
    const auto seat = static_cast<std::size_t>(seat_of(vertex, grid, boxes));
    tiling.placement.leaf_of.push_back(levels->leaves[seat]);
  }
  return tiling;
}

}  // namespace ranktree::core::enforce
