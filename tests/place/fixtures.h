// Small machines for the tests of placement; graphs are in tests/helpers/graphs.h.
#pragma once

#include <cstddef>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "helpers/graphs.h"

namespace ranktree::test {

using core::topo::Kind;
using core::topo::Tree;

// A symmetric machine: nodes below the root, then packages, ..., cores last.
inline Tree machine(const std::vector<int>& arities) {
  constexpr Kind kKinds[] = {Kind::kCluster, Kind::kNode, Kind::kPackage, Kind::kL3, Kind::kL2, Kind::kCore};
  std::vector<core::topo::Level> levels{{Kind::kCluster, {}, {}}};
  for (std::size_t i = 1; i < arities.size(); ++i) levels.push_back({kKinds[i], {}, {}});
  levels.push_back({Kind::kCore, {}, {}});
  return core::topo::uniform_tree(levels, arities);
}

inline constexpr core::place::Preset kPresets[] = {core::place::Preset::kFast, core::place::Preset::kDefault,
                                                   core::place::Preset::kStrong};

inline double cost(const Tree& tree, const Affinity& affinity, const core::place::Placement& placement) {
  return core::place::evaluate(tree, affinity, placement).total;
}

}  // namespace ranktree::test
