#include "core/place/refine/swap_costs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

Aggregates::Aggregates(const SlotTree& tree, int level, const Graph& graph, const std::vector<Group>& position_of,
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
    const SlotTree::Slot slot = tree_.first_slot(level_, position_of[at(arc.to)]);
    for (int i = 0; i < level_; ++i) {
      weight_[at(i)][at(vertex) * at(tree_.groups(i)) + at(tree_.group(i, slot))] += arc.weight;
    }
  }
}

}  // namespace ranktree::core::place::engine
