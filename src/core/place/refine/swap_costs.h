// The costs of positions for the search by swaps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/index.h"
#include "core/base/workers.h"
#include "core/place/graph/graph.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

// Distances between the groups of one level (positions), each named by its first slot's path from the root: the
// exclusive or of two paths shows the common part. Where paths do not fit 64 bits, the tree computes the distance.
class Distances {
 public:
  using Group = SlotTree::Group;

  Distances(const SlotTree& tree, int level) : tree_(tree), level_(level), cost_of_bit_(tree.cost_of_bit()) {
    cost_of_bit_[0] = tree.cost(level - 1);
  }

  [[nodiscard]] bool fit() const { return tree_.has_paths(); }
  [[nodiscard]] std::uint64_t path(Group position) const {
    return fit() ? tree_.path(tree_.first_slot(level_, position)) : 0;
  }
  [[nodiscard]] double of_paths(std::uint64_t a, std::uint64_t b) const {
    return cost_of_bit_[static_cast<std::size_t>(std::bit_width(a ^ b))];
  }
  // The same position costs what another one of the same home does.
  [[nodiscard]] double operator()(Group a, Group b) const {
    if (fit()) return of_paths(path(a), path(b));
    return a == b ? tree_.cost(level_ - 1) : tree_.distance(tree_.first_slot(level_, a), tree_.first_slot(level_, b));
  }

 private:
  const SlotTree& tree_;
  int level_;
  std::array<double, 65> cost_of_bit_;
};

// The weight that ties each vertex to each group of the levels above some level, where that takes little memory: costs
// are then sums over levels instead of over arcs, which is what vertices of many arcs need.
class Aggregates {
 public:
  using Group = SlotTree::Group;

  Aggregates(const SlotTree& tree, int level, const Graph& graph, const std::vector<Group>& position_of,
             Workers& workers)
      : tree_(tree), level_(level) {
    constexpr std::size_t kAlways = std::size_t{1} << 21U;
    std::size_t groups = 0;
    for (int i = 0; i < level; ++i) groups += at(tree.groups(i));
    if (groups * position_of.size() > std::max(2 * graph.arcs.size(), kAlways)) return;
    weight_.resize(at(level));
    for (int i = 0; i < level; ++i) weight_[at(i)].resize(position_of.size() * at(tree.groups(i)));
    workers.for_ranges(position_of.size(), static_cast<std::int64_t>(graph.arcs.size()) * level,
                       [&](std::size_t first, std::size_t last) {
                         for (std::size_t i = first; i < last; ++i) add_all(static_cast<Vertex>(i), graph, position_of);
                       });
  }

  [[nodiscard]] bool known() const { return !weight_.empty(); }

  // A partner of the vertex moves from one position to another.
  void move(Vertex vertex, Group from, Group to, double weight) {
    const SlotTree::Slot here = tree_.first_slot(level_, from);
    const SlotTree::Slot there = tree_.first_slot(level_, to);
    for (int i = level_ - 1; i >= 0 && tree_.group(i, here) != tree_.group(i, there); --i) {
      const std::size_t row = at(vertex) * at(tree_.groups(i));
      weight_[at(i)][row + at(tree_.group(i, here))] -= weight;
      weight_[at(i)][row + at(tree_.group(i, there))] += weight;
    }
  }

  // Arcs that end in the position's home have the cost within it.
  [[nodiscard]] double cost_at(Vertex vertex, Group position) const {
    const SlotTree::Slot slot = tree_.first_slot(level_, position);
    double cost = 0;
    double below = 0;
    for (int i = level_ - 1; i >= 0; --i) {
      const double weight = weight_[at(i)][at(vertex) * at(tree_.groups(i)) + at(tree_.group(i, slot))];
      cost += (weight - below) * tree_.cost(i);
      below = weight;
    }
    return cost;
  }

 private:
  void add_all(Vertex vertex, const Graph& graph, const std::vector<Group>& position_of) {
    for (int i = 0; i < level_; ++i) {
      const auto groups = static_cast<std::ptrdiff_t>(tree_.groups(i));
      std::fill_n(weight_[at(i)].begin() + vertex * groups, groups, 0.0);
    }
    for (const Arc& arc : graph.arcs_of(vertex)) {
      const SlotTree::Slot slot = tree_.first_slot(level_, position_of[at(arc.to)]);
      for (int i = 0; i < level_; ++i) {
        weight_[at(i)][at(vertex) * at(tree_.groups(i)) + at(tree_.group(i, slot))] += arc.weight;
      }
    }
  }

  const SlotTree& tree_;
  int level_;
  std::vector<std::vector<double, Unwritten<double>>> weight_;  // level -> vertex x group
};

}  // namespace ranktree::core::place::engine
