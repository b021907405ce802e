#include "core/place/engine/swap_costs.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/workers.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

Distances::Distances(const SeatTree& tree, int level, Workers& workers)
    : tree_(tree), level_(level), path_(at(tree.groups(level)), 0), cost_of_bit_{tree.cost(level - 1)} {
  std::vector<int> width(at(level), 0);
  for (int i = 0; i < level; ++i) {
    for (Group group = 0; group < tree.groups(i); ++group) {
      const auto last = static_cast<std::uint32_t>(tree.child_count(i, group) - 1);
      width[at(i)] = std::max(width[at(i)], static_cast<int>(std::bit_width(last)));
    }
  }
  fits_ = std::accumulate(width.begin(), width.end(), 0) <= 64;
  if (!fits_) return;
  int bit = 0;
  std::vector<int> bit_of(at(level), 0);
  for (int i = level - 1; i >= 0; --i) {
    bit_of[at(i)] = bit;
    for (int j = 0; j < width[at(i)]; ++j) cost_of_bit_.at(at(++bit)) = tree.cost(i);
  }
  workers.for_ranges(path_.size(), std::int64_t{tree.groups(level)} * level, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) path_[i] = path_of(static_cast<Group>(i), bit_of);
  });
}

std::uint64_t Distances::path_of(Group position, const std::vector<int>& bit_of) const {
  const SeatTree::Seat seat = tree_.first_seat(level_, position);
  std::uint64_t path = 0;
  for (int i = 0; i < level_; ++i) {
    const Group child = tree_.group(i + 1, seat) - tree_.first_child(i, tree_.group(i, seat));
    if (child > 0) path |= static_cast<std::uint64_t>(child) << static_cast<unsigned>(bit_of[at(i)]);
  }
  return path;
}

Aggregates::Aggregates(const SeatTree& tree, int level, const Graph& graph, const std::vector<Group>& position_of,
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

void Aggregates::add_all(Vertex vertex, const Graph& graph, const std::vector<Group>& position_of) {
  for (int i = 0; i < level_; ++i) {
    const auto groups = static_cast<std::ptrdiff_t>(tree_.groups(i));
    std::fill_n(weight_[at(i)].begin() + vertex * groups, groups, 0.0);
  }
  for (const Arc& arc : graph.arcs_of(vertex)) {
    const SeatTree::Seat seat = tree_.first_seat(level_, position_of[at(arc.to)]);
    for (int i = 0; i < level_; ++i) {
      weight_[at(i)][at(vertex) * at(tree_.groups(i)) + at(tree_.group(i, seat))] += arc.weight;
    }
  }
}

}  // namespace ranktree::core::place::engine
