// Traffic by distance, for networks that levels of a tree cannot describe.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {

// A level for each distance between nodes that pairs of one of the placements have, the farthest first, named "Network"
// and the distance; the node and what is in it below. Where there are more than 32 such distances, 16 levels share
// them, each named and valued by its farthest.
class LevelTable {
 public:
  // O(placements x pairs x (depth + log distances)).
  LevelTable(const topo::Tree& tree, const pattern::Affinity& affinity,
             const std::vector<const Placement*>& placements);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }  // the cost of each level
  // What the pairs of a placement exchange on each level, and what that costs, to the last digit where levels share.
  [[nodiscard]] const std::vector<double>& weight(std::size_t placement) const { return weight_[placement]; }
  [[nodiscard]] const std::vector<double>& cost(std::size_t placement) const { return cost_[placement]; }

 private:
  using Sums = std::map<double, double>;  // by distance between nodes
  void share(const std::vector<Sums>& sums);
  void add(const Sums& sums, const Cost& inside, const topo::Tree& tree);

  std::vector<double> ends_;  // the largest distance of each level of the network, falling
  std::vector<std::string> names_;
  std::vector<double> values_;
  std::vector<std::vector<double>> weight_, cost_;
};

}  // namespace ranktree::core::place::network
