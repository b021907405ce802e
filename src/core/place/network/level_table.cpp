#include "core/place/network/level_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {
namespace {

std::string name_of(double distance) {
  std::ostringstream text;
  text << "Network " << distance;
  return text.str();
}

// Sums of the same steps in another order are the same distance.
double rounded(double distance) {
  if (distance == 0) return 0;
  constexpr int kBits = 40;
  const int exponent = std::ilogb(distance) - kBits;
  return std::ldexp(std::nearbyint(std::ldexp(distance, -exponent)), exponent);
}

}  // namespace

LevelTable::LevelTable(const topo::Tree& tree, const pattern::Affinity& affinity,
                       const std::vector<const Placement*>& placements) {
  std::vector<int> node(at(tree.leaf_count()));
  for (topo::Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) node[at(leaf)] = tree.os_index(tree.node_of(leaf));
  std::vector<Sums> sums(placements.size());
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const auto& leaf_of = placements[i]->leaf_of;
    for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
      const auto neighbours = affinity.neighbours(rank);
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        const int here = node[at(leaf_of[at(rank)])];
        const int there = node[at(leaf_of[at(neighbours[k])])];
        if (neighbours[k] <= rank || here == there) continue;
        sums[i][rounded(tree.interconnect()->distance(here, there))] += affinity.weights_of(rank)[k];
      }
    }
  }
  share(sums);
  for (const double end : ends_) {
    names_.push_back(name_of(end));
    values_.push_back(tree.cost(1) + end);
  }
  const std::vector<std::string> names = topo::level_names(tree);
  for (int level = 1; level < tree.level_count(); ++level) {
    names_.push_back(names[at(level)]);
    values_.push_back(tree.cost(level));
  }
  for (std::size_t i = 0; i < placements.size(); ++i) add(sums[i], evaluate(tree, affinity, *placements[i]), tree);
}

void LevelTable::share(const std::vector<Sums>& sums) {
  constexpr std::size_t kMost = 32;
  constexpr std::size_t kShared = 16;
  Sums all;
  for (const Sums& each : sums) all.insert(each.begin(), each.end());
  for (const auto& [distance, weight] : all) ends_.push_back(distance);
  if (ends_.size() > kMost) {
    std::vector<double> shared;
    for (std::size_t i = 1; i <= kShared; ++i) shared.push_back(ends_[i * ends_.size() / kShared - 1]);
    ends_ = std::move(shared);
  }
  std::reverse(ends_.begin(), ends_.end());
}

void LevelTable::add(const Sums& sums, const Cost& inside, const topo::Tree& tree) {
  std::vector<double> weight(names_.size(), 0);
  std::vector<double> cost(names_.size(), 0);
  for (const auto& [distance, sum] : sums) {
    std::size_t level = ends_.size() - 1;
    while (distance > ends_[level]) --level;
    weight[level] += sum;
    cost[level] += sum * (tree.cost(1) + distance);
  }
  for (int level = 1; level < tree.level_count(); ++level) {
    weight[ends_.size() + at(level) - 1] = inside.weight[at(level)];
    cost[ends_.size() + at(level) - 1] = inside.weight[at(level)] * tree.cost(level);
  }
  weight_.push_back(std::move(weight));
  cost_.push_back(std::move(cost));
}

}  // namespace ranktree::core::place::network
