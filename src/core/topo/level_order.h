// Merges the levels of several trees into one order that agrees with every path of every tree.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/topo/kind.h"

namespace ranktree::core::topo {

// A level by its kind and which of several levels of that kind it is (nested groups, switches under switches).
using LevelKey = std::pair<Kind, int>;

// Merges sequences of levels, each given from the root down, into one. A level stands below all that stand above it in
// some sequence; where that leaves a choice, the order of Kind decides (a Group may lie above or below a Package).
class LevelOrder {
 public:
  void add(const std::vector<LevelKey>& path);
  // Throws Error(kUnsupported) when one sequence has a level above another that a second has below it.
  [[nodiscard]] std::vector<LevelKey> merge() const;

 private:
  std::map<LevelKey, std::set<LevelKey>> above_;  // what must stand directly above each level
};

}  // namespace ranktree::core::topo
