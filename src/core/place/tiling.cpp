#include "core/place/tiling.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ranktree::core::place {
namespace {

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

Frontier next_level(const Frontier& frontier, int arity, double cost, const std::function<double(const Box&)>& cut) {
  Frontier next;
  for (const auto& entry : frontier) {
    const auto& box = entry.first;
    const Step& step = entry.second;
    const double cut_above = cut(box);
    Box work = box;
    for_each_cut(work, arity, 0, [&](const Box& part) {
      const Step candidate{step.cost + cost * (cut(part) - cut_above), box};
      const auto [known, fresh] = next.try_emplace(part, candidate);
      if (!fresh && candidate.cost < known->second.cost) known->second = candidate;
    });
  }
  return next;
}

// On the way back from single vertices to the whole grid.
std::vector<Box> boxes_of(const std::vector<Frontier>& frontiers, const Box& whole) {
  std::vector<Box> boxes(frontiers.size());
  boxes.back() = Box(whole.size(), 1);
  for (std::size_t level = frontiers.size() - 1; level > 0; --level) {
    boxes[level - 1] = frontiers[level].at(boxes[level]).above;
  }
  return boxes;
}

}  // namespace

std::optional<BoxTiling> cheapest_boxes(const Box& whole, const TiledLevels& levels,
                                        const std::function<double(const Box&)>& cut, std::size_t width) {
  std::vector<Frontier> frontiers{{{whole, Step{}}}};
  for (std::size_t level = 0; level < levels.arities.size(); ++level) {
    frontiers.push_back(next_level(frontiers.back(), levels.arities[level], levels.costs[level], cut));
    narrow(frontiers.back(), width);
    if (frontiers.back().empty()) return std::nullopt;
  }
  const Box single(whole.size(), 1);
  if (!frontiers.back().contains(single)) return std::nullopt;
  return BoxTiling{boxes_of(frontiers, whole), frontiers.back().at(single).cost};
}

std::int64_t leaf_in(const std::vector<Box>& boxes, std::int64_t vertex) {
  const Box& whole = boxes.front();
  std::vector<int> coordinates(whole.size());
  for (std::size_t j = coordinates.size(); j-- > 0;) {
    coordinates[j] = static_cast<int>(vertex % whole[j]);
    vertex /= whole[j];
  }
  std::int64_t leaf = 0;
  for (std::size_t level = 1; level < boxes.size(); ++level) {
    for (std::size_t j = 0; j < coordinates.size(); ++j) {
      leaf = leaf * (boxes[level - 1][j] / boxes[level][j]) + coordinates[j] / boxes[level][j];
      coordinates[j] %= boxes[level][j];
    }
  }
  return leaf;
}

}  // namespace ranktree::core::place
