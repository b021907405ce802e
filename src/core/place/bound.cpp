#include "core/place/bound.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/network/network_bound.h"
#include "core/place/placement.h"
#include "core/place/slots.h"
#include "core/place/spreading.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using topo::Leaf;
using topo::Object;
using topo::Tree;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

using Level = LeavingBound::Level;

// allowed[leaf] is the number of allowed leaves before it.
std::vector<std::int64_t> count_allowed(const Tree& tree) {
  std::vector<std::int64_t> allowed(at(tree.leaf_count()) + 1, 0);
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    allowed[at(leaf) + 1] = allowed[at(leaf)] + (tree.allowed(leaf) ? 1 : 0);
  }
  return allowed;
}

// One entry for each level below the root, outermost first. An object that skips levels is a subtree of those it skips.
std::vector<Level> levels_of(const Tree& tree, const Constraints& constraints) {
  std::vector<Level> levels(at(tree.level_count()));
  const std::vector<std::int64_t> allowed = count_allowed(tree);
  for (Object object = 1; object < tree.object_count(); ++object) {
    const Leaf first = tree.first_leaf(object);
    const std::int64_t leaves = allowed[at(first + tree.leaves_below(object))] - allowed[at(first)];
    for (int level = tree.level_of(tree.parent(object)) + 1; level <= tree.level_of(object); ++level) {
      levels[at(level)].capacity = std::max(levels[at(level)].capacity, leaves * constraints.capacity);
    }
  }
  double lowest = tree.cost(0);
  for (int level = 1; level < tree.level_count(); ++level) {
    const double next = std::min(lowest, tree.cost(level));
    levels[at(level)].cost = lowest - next;
    lowest = next;
  }
  levels.erase(levels.begin());
  return levels;
}

// Adds what one rank exchanges beyond its heaviest pairs to each level; `weights` are reordered. The pairs that fit
// into a level's subtree are the only ones that the levels inside it need to look at.
void add_leaving(std::vector<double>& weights, std::vector<Level>& levels) {
  double outside = 0;
  auto end = weights.end();
  for (Level& level : levels) {
    const std::int64_t kept = std::max<std::int64_t>(level.capacity - 1, 0);
    if (kept < end - weights.begin()) {
      const auto middle = weights.begin() + kept;
      std::nth_element(weights.begin(), middle, end, std::greater<>());
      outside = std::accumulate(middle, end, outside);
      end = middle;
    }
    level.crossing += outside / 2;
  }
}

constexpr std::size_t kMostArcs = std::size_t{1} << 24U;  // routing takes 20 bytes each

// Where most ranks' partners fit into a subtree, routing sees more than single ranks do.
void raise_by_spreading(const pattern::Affinity& affinity, std::vector<Level>& levels) {
  std::optional<Spreading> spreading;
  double outside = 0;
  for (Level& level : levels) {
    const auto arcs = static_cast<double>(affinity.indices.size());
    const bool sparse = affinity.indices.size() <= kMostArcs &&
                        arcs < static_cast<double>(level.capacity) * static_cast<double>(affinity.ranks);
    if (level.cost > 0 && sparse && level.capacity < affinity.ranks) {
      if (!spreading) spreading.emplace(affinity);
      level.crossing = std::max(level.crossing, spreading->cut(level.capacity));
    }
    level.crossing = outside = std::max(level.crossing, outside);
  }
}

}  // namespace

LeavingBound::LeavingBound(const Tree& tree, const Constraints& constraints) : levels_(levels_of(tree, constraints)) {}

void LeavingBound::add(std::vector<double>& weights) { add_leaving(weights, levels_); }

double LeavingBound::cost() const {
  double cost = 0;
  for (const Level& level : levels_) cost += level.crossing * level.cost;
  return cost;
}

double lower_bound(const Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints) {
  require_slots(tree, affinity.ranks, constraints);
  LeavingBound bound(tree, constraints);
  std::vector<double> weights;
  for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto row = affinity.weights_of(rank);
    weights.assign(row.begin(), row.end());
    bound.add(weights);
  }
  raise_by_spreading(affinity, bound.levels());
  const double cost = bound.cost();
  // The level above the nodes costs as little as the nearest two, so that holds where the network is no tree, too.
  return tree.interconnect() == nullptr ? cost : std::max(cost, network::lower_bound(tree, affinity, constraints));
}

}  // namespace ranktree::core::place
