// Tests that fail when placements get worse: exact optima, by search or by hand, and partitions that were planted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"
#include "fixtures.h"
#include "helpers/graphs.h"

namespace {

using namespace ranktree::core::place;
using namespace ranktree::test;
using ranktree::core::pattern::Affinity;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Tree;

double engine_cost(const Tree& tree, const Affinity& affinity, Preset preset, std::uint64_t seed = 1) {
  EngineOptions options;
  options.preset = preset;
  options.seed = seed;
  return cost(tree, affinity, run_engine(tree, affinity, options));
}

// The slow exact reference: all placements of all ranks, one on each leaf.
double optimum(const Tree& tree, const Affinity& affinity) {
  std::vector<Leaf> leaves(at(tree.leaf_count()));
  std::iota(leaves.begin(), leaves.end(), 0);
  double least = std::numeric_limits<double>::infinity();
  do {
    least = std::min(least, cost(tree, affinity, {{leaves.begin(), leaves.begin() + affinity.ranks}}));
  } while (std::next_permutation(leaves.begin(), leaves.end()));
  return least;
}

struct Named {
  std::string name;
  Affinity affinity;
};

std::vector<Named> small_graphs() {
  return {{"path", path(8)},
          {"ring", ring(8)},
          {"star", star(8)},
          {"grid", grid({2, 4})},
          {"cube", grid({2, 2, 2})},
          {"two cliques", two_cliques(4)},
          {"caterpillar", caterpillar(4, 1)},
          {"hierarchy", hierarchy({2, 2, 2}, 3)},
          {"planted blocks", planted_blocks(4, 2, 50, 3)},
          {"random", random_affinity(8, 60, 100, 5)},
          {"seven of eight", ring(7)}};
}

TEST(Quality, EveryPresetFindsTheOptimumOfEightRanks) {
  for (const std::vector<int>& arities : {std::vector<int>{2, 2, 2}, std::vector<int>{4, 2}, std::vector<int>{2, 4}}) {
    const Tree tree = machine(arities);
    for (const Named& graph : small_graphs()) {
      const Affinity affinity = renumbered(graph.affinity, 7);
      const double least = optimum(tree, affinity);
      for (const Preset preset : kPresets) {
        EXPECT_EQ(engine_cost(tree, affinity, preset), least) << graph.name << testing::PrintToString(arities);
      }
    }
  }
}

// Levels of a machine of nodes, packages and cores are 6, 4 and 2 hops from leaf to leaf.
struct KnownOptimum {
  std::string name;
  std::vector<int> arities;
  Affinity affinity;
  double least;
};

std::vector<KnownOptimum> known_optima() {
  return {
      // 64 in a row: 3 edges between nodes, 12 between packages, 48 within.
      {"path", {4, 4, 4}, path(64), 3 * 6 + 12 * 4 + 48 * 2},
      // The ring closes over one more edge between nodes.
      {"ring", {4, 4, 4}, ring(64), 4 * 6 + 12 * 4 + 48 * 2},
      // The centre and 3 ranks in a package, 12 in its node, 48 elsewhere.
      {"star", {4, 4, 4}, star(64), 3 * 2 + 12 * 4 + 48 * 6},
      // Squares in squares: 8 x 8 cut into 4 x 4, those into 2 x 2.
      {"grid", {4, 4, 4}, grid({8, 8}), 16 * 6 + 32 * 4 + 64 * 2},
      // 4 x 4 x 4 in boxes of 2 x 2 x 2: 48 edges between 8 boxes, 96 within.
      {"cube", {8, 8}, grid({4, 4, 4}), 48 * 4 + 96 * 2},
      // A clique each node, one edge between neighbours; 28 pairs a clique, 12 of them within packages of 4.
      {"cliques", {8, 2, 4}, cliques(8, 8), 7 * 6 + 8 * 10 * (12 * 2 + 16 * 4)},
      // A joint and its three legs in a package.
      {"caterpillar", {4, 4, 4}, caterpillar(16, 3), 16 * 3 * 10 * 2 + 12 * 4 + 3 * 6},
  };
}

TEST(Quality, EveryPresetFindsOptimaThatAreKnown) {
  for (const KnownOptimum& each : known_optima()) {
    const Tree tree = machine(each.arities);
    for (const Preset preset : kPresets) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        EXPECT_EQ(engine_cost(tree, renumbered(each.affinity, seed), preset, seed), each.least)
            << each.name << " preset " << static_cast<int>(preset) << " seed " << seed;
      }
    }
  }
}

// What the best exchange of two ranks saves; more than nothing where a placement was not searched to its end.
double best_exchange(const Tree& tree, const Affinity& affinity, Placement placement) {
  const double before = cost(tree, affinity, placement);
  double most = 0;
  for (std::size_t i = 0; i < placement.leaf_of.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      std::swap(placement.leaf_of[i], placement.leaf_of[j]);
      most = std::max(most, before - cost(tree, affinity, placement));
      std::swap(placement.leaf_of[i], placement.leaf_of[j]);
    }
  }
  return most;
}

TEST(Quality, NoExchangeOfTwoRanksIsLeft) {
  const Tree tree = machine({4, 2, 6});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Affinity affinity = random_affinity(48, 30, 100, seed);
    for (const Preset preset : kPresets) {
      EngineOptions options;
      options.preset = preset;
      EXPECT_EQ(best_exchange(tree, affinity, run_engine(tree, affinity, options)), 0)
          << "preset " << static_cast<int>(preset) << " seed " << seed;
    }
  }
}

// Whether the ranks of each planted block share a subtree of the level below the root.
bool recovered(const Tree& tree, const Placement& placement, const std::vector<int>& order, int size) {
  const int below = tree.leaf_count() / static_cast<int>(order.size() / at(size));
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t first = rank / at(size) * at(size);
    if (placement.leaf_of[at(order[rank])] / below != placement.leaf_of[at(order[first])] / below) return false;
  }
  return true;
}

TEST(Quality, EveryPresetRecoversPlantedBlocks) {
  for (const int noise : {0, 20, 60}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const std::vector<int> order = shuffled(128, seed);
      const Affinity affinity = relabelled(planted_blocks(16, 8, noise, seed), order);
      for (const Preset preset : kPresets) {
        EngineOptions options;
        options.preset = preset;
        const Tree tree = machine({16, 2, 4});
        EXPECT_TRUE(recovered(tree, run_engine(tree, affinity, options), order, 8))
            << noise << " % noise, seed " << seed;
      }
    }
  }
}

TEST(Quality, UnequalSubtreesTakeTheCliquesThatFit) {
  // Cliques of 6 on nodes of 2 x 4 cores: each in a node of its own, two cores left.
  const Affinity affinity = renumbered(cliques(5, 6), 2);
  const Tree tree = machine({5, 2, 4});
  // Split 4 + 2: 6 + 1 pairs within packages, 8 across; the four joining edges cross nodes.
  for (const Preset preset : kPresets) {
    EXPECT_EQ(engine_cost(tree, affinity, preset), 5 * 10 * (7 * 2 + 8 * 4) + 4 * 6);
  }
}

}  // namespace
