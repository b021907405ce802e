// Machines whose siblings differ, for the tests of placement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::test {

using core::topo::Kind;
using core::topo::Tree;

// A machine of up to four levels whose siblings differ: arities 1..4, branches that skip levels, forbidden leaves, and
// costs that need not grow towards the root.
inline Tree random_tree(std::uint64_t seed) {
  core::Random random(seed);
  const int depth = 1 + static_cast<int>(random.below(4));
  core::topo::TreeBuilder builder(
      std::vector<core::topo::Level>(static_cast<std::size_t>(depth) + 1, core::topo::Level{Kind::kGroup, {}, {}}));
  std::vector<std::pair<std::int32_t, int>> open{{builder.add(-1, 0), 0}};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto [object, level] = open[i];
    const std::uint64_t children = level == depth ? 0 : 1 + random.below(4);
    for (std::uint64_t child = 0; child < children; ++child) {
      const int below = level + 1 + static_cast<int>(random.below(3) == 0 ? random.below(depth - level) : 0);
      open.emplace_back(builder.add(object, below), below);
      if (below == depth && i > 0 && random.below(10) == 0) builder.forbid(open.back().first);
    }
  }
  builder.set_pus(open.back().first, {0});
  const auto leaf = builder.add(0, depth);  // one leaf at least may be used
  builder.set_pus(leaf, {1});
  Tree tree = std::move(builder).build();
  if (random.below(2) == 0) return tree;
  std::vector<double> costs;
  for (int level = 0; level < depth; ++level) costs.push_back(static_cast<double>(random.below(20)));
  return tree.with_costs(costs);
}

inline int slots(const Tree& tree) {
  int count = 0;
  for (core::topo::Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) count += tree.allowed(leaf) ? 1 : 0;
  return count;
}

}  // namespace ranktree::test
