#include "core/place/placement.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] void refuse(const std::string& text) { throw Error(Fault::kMismatch, "placement: " + text); }

}  // namespace

Cost evaluate(const topo::Tree& tree, const pattern::Affinity& affinity, const Placement& placement) {
  Cost cost{std::vector<double>(at(tree.level_count()), 0), 0};
  const bool is_tree = tree.interconnect() == nullptr;
  for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto neighbours = affinity.neighbours(rank);
    const auto weights = affinity.weights_of(rank);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] <= rank) continue;  // each undirected pair once
      const topo::Leaf here = placement.leaf_of[at(rank)];
      const topo::Leaf there = placement.leaf_of[at(neighbours[i])];
      const int level = tree.common_level(here, there);
      cost.weight[at(level)] += weights[i];
      if (level == 0 && !is_tree) cost.total += weights[i] * tree.distance(here, there);
    }
  }
  for (int level = is_tree ? 0 : 1; level < tree.level_count(); ++level)
    cost.total += cost.weight[at(level)] * tree.cost(level);
  return cost;
}

void validate(const topo::Tree& tree, const Placement& placement, pattern::Rank ranks, const Constraints& constraints) {
  if (placement.leaf_of.size() != at(ranks)) {
    refuse("expected " + std::to_string(ranks) + " ranks, found " + std::to_string(placement.leaf_of.size()));
  }
  std::vector<int> load(at(tree.leaf_count()), 0);
  for (pattern::Rank rank = 0; rank < ranks; ++rank) {
    const topo::Leaf leaf = placement.leaf_of[at(rank)];
    const std::string place = "rank " + std::to_string(rank);
    if (leaf < 0 || leaf >= tree.leaf_count()) {
      refuse(place + ": expected a leaf in 0.." + std::to_string(tree.leaf_count() - 1) + ", found " +
             std::to_string(leaf));
    }
    if (!tree.allowed(leaf)) refuse(place + ": leaf " + std::to_string(leaf) + " may not be used");
    if (++load[at(leaf)] > constraints.capacity) {
      refuse(place + ": leaf " + std::to_string(leaf) + " already holds " + std::to_string(constraints.capacity));
    }
  }
  for (const Pin& pin : constraints.pins) {
    if (pin.rank >= 0 && pin.rank < ranks && placement.leaf_of[at(pin.rank)] == pin.leaf) continue;
    refuse("rank " + std::to_string(pin.rank) + " is pinned to leaf " + std::to_string(pin.leaf) + ", found elsewhere");
  }
}

}  // namespace ranktree::core::place
