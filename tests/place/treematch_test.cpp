// Properties of the whole algorithm.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/random.h"
#include "core/place/placement.h"
#include "core/place/treematch.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using ranktree::core::Random;
using ranktree::core::topo::Kind;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Tree;
using ranktree::core::topo::TreeBuilder;
using ranktree::test::from_matrix;
using ranktree::test::machine;
using ranktree::test::random_affinity;
using ranktree::test::relabelled;
using ranktree::test::renumbered;
using ranktree::test::shuffled;

// The slow exact reference: every injective placement.
double brute_force(const Tree& tree, const Affinity& affinity) {
  std::vector<Leaf> leaves;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (tree.allowed(leaf)) leaves.push_back(leaf);
  }
  double best = std::numeric_limits<double>::infinity();
  do {
    const Placement placement{{leaves.begin(), leaves.begin() + affinity.ranks}};
    best = std::min(best, evaluate(tree, affinity, placement).total);
  } while (std::next_permutation(leaves.begin(), leaves.end()));
  return best;
}

// A hierarchical pattern (§4.1): the closer two processes are in the tree, the more they talk.
Affinity hierarchical(const Tree& tree) {
  const auto count = static_cast<std::size_t>(tree.leaf_count());
  std::vector<std::vector<double>> matrix(count, std::vector<double>(count, 0));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      double weight = 1;
      for (int level = 0; level < tree.common_level(static_cast<Leaf>(i), static_cast<Leaf>(j)); ++level) weight *= 50;
      if (i != j) matrix[i][j] = weight;
    }
  }
  return from_matrix(matrix);
}

Tree unequal_machine() {
  TreeBuilder builder(
      {{Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kPackage, {}, {}}, {Kind::kCore, {}, {}}});
  const auto root = builder.add(-1, 0);
  for (const int cores : {3, 4, 2}) {
    const auto node = builder.add(root, 1, 0, "n");
    for (int package = 0; package < (cores == 4 ? 2 : 1); ++package) {
      const auto parent = builder.add(node, 2);
      for (int core = 0; core < (cores == 4 ? 2 : cores); ++core) builder.add(parent, 3, core);
    }
  }
  return std::move(builder).build();
}

TEST(TreeMatch, IsABijectionForEveryNumberOfRanks) {
  const Tree tree = machine({3, 2, 2});
  for (int ranks = 1; ranks <= 12; ++ranks) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto placement = treematch(tree, random_affinity(ranks, 60, 100, seed), {});
      EXPECT_NO_THROW(validate(tree, placement, ranks, {})) << ranks << " ranks";
    }
  }
}

TEST(TreeMatch, FindsHierarchicalPatternsWhateverTheirNumbering) {
  for (const Tree& tree : {machine({4, 2, 4}), machine({3, 3, 3}), machine({2, 2, 2, 2})}) {
    const Affinity pattern = hierarchical(tree);
    const double optimum = evaluate(tree, pattern, identity(tree, pattern.ranks, {})).total;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Affinity mixed = relabelled(pattern, shuffled(pattern.ranks, seed));
      EXPECT_EQ(evaluate(tree, mixed, treematch(tree, mixed, {})).total, optimum);
    }
  }
}

TEST(TreeMatch, NeverBeatsTheOptimumAndReachesItOnHierarchicalPatterns) {
  const Tree tree = machine({2, 2, 2});
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto affinity = random_affinity(7, 70, 100, seed);
    EXPECT_GE(evaluate(tree, affinity, treematch(tree, affinity, {})).total, brute_force(tree, affinity));
  }
  const Affinity pattern = hierarchical(tree);
  EXPECT_EQ(evaluate(tree, pattern, treematch(tree, pattern, {})).total, brute_force(tree, pattern));
}

TEST(TreeMatch, FewRanksStayTogether) {
  const Tree tree = machine({4, 2, 4});
  const auto placement = treematch(tree, random_affinity(4, 100, 9, 1), {});
  for (const Leaf leaf : placement.leaf_of) EXPECT_EQ(tree.common_level(placement.leaf_of[0], leaf) >= 2, true);
}

TEST(TreeMatch, UsesAllowedPlacesOnly) {
  const std::vector<Leaf> allowed{1, 2, 5, 6, 7, 9, 11};
  const Tree tree = machine({3, 2, 2}).with_allowed(allowed);
  for (int ranks = 1; ranks <= 7; ++ranks) {
    const auto affinity = random_affinity(ranks, 80, 100, 3);
    EXPECT_NO_THROW(validate(tree, treematch(tree, affinity, {}), ranks, {}));
  }
}

TEST(TreeMatch, UnequalSubtreesAreFilledToTheirSizes) {
  const Tree tree = unequal_machine();
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const auto affinity = random_affinity(ranks, 80, 100, 4);
    EXPECT_NO_THROW(validate(tree, treematch(tree, affinity, {}), ranks, {}));
  }
}

TEST(TreeMatch, AForbiddenPartThatLeavesASymmetricTreeIsStillSolvedExactly) {
  // The middle node is forbidden: two nodes of four remain.
  std::vector<Leaf> allowed{0, 1, 2, 3, 8, 9, 10, 11};
  const Tree tree = machine({3, 2, 2}).with_allowed(allowed);
  const Affinity mixed = relabelled(hierarchical(machine({2, 2, 2})), shuffled(8, 6));
  EXPECT_EQ(evaluate(tree, mixed, treematch(tree, mixed, {})).total, brute_force(tree, mixed));
}

TEST(TreeMatch, OversubscriptionSharesLeavesBetweenTalkers) {
  const Tree tree = machine({2, 2});
  TreeMatchOptions options;
  options.constraints.capacity = 2;
  const Affinity mixed = relabelled(hierarchical(machine({2, 2, 2})), shuffled(8, 1));
  const auto placement = treematch(tree, mixed, options);
  EXPECT_NO_THROW(validate(tree, placement, 8, options.constraints));
  // The heaviest partners share a leaf: a quarter of all pairs' heaviest weight crosses nothing.
  EXPECT_EQ(evaluate(tree, mixed, placement).weight.back(), 4 * 2500.0);
}

TEST(TreeMatch, TheSameSeedGivesTheSamePlacement) {
  const Tree tree = machine({16, 2, 8});
  const auto affinity = random_affinity(256, 10, 1000, 5);
  TreeMatchOptions options;
  EXPECT_EQ(treematch(tree, affinity, options).leaf_of, treematch(tree, affinity, options).leaf_of);
}

TEST(Evaluate, RelabelledRanksOnTheSamePlacesCostTheSame) {
  const Tree tree = machine({3, 2, 3});
  const Affinity affinity = random_affinity(15, 60, 100, 8);
  const Placement placement = treematch(tree, affinity, {});
  const auto order = shuffled(15, 4);
  Placement moved{std::vector<Leaf>(15)};
  for (std::size_t i = 0; i < 15; ++i) moved.leaf_of[static_cast<std::size_t>(order[i])] = placement.leaf_of[i];
  EXPECT_EQ(evaluate(tree, relabelled(affinity, order), moved).weight, evaluate(tree, affinity, placement).weight);
}

TEST(TreeMatch, SixteenThousandRanksAreNoTrouble) {
  const Tree tree = machine({256, 2, 32});
  const Affinity ring = renumbered(ranktree::test::ring(16384), 3);
  const Placement placement = treematch(tree, ring, {});
  EXPECT_NO_THROW(validate(tree, placement, ring.ranks, {}));
  // Numbered at random, nearly every message of identity crosses nodes.
  EXPECT_LT(3 * evaluate(tree, ring, placement).weight[0],
            evaluate(tree, ring, identity(tree, ring.ranks, {})).weight[0]);
}

TEST(TreeMatch, TheFastPathAlsoFindsHierarchicalPatterns) {
  const Tree tree = machine({16, 2, 8});
  const Affinity mixed = relabelled(hierarchical(tree), shuffled(256, 2));
  TreeMatchOptions options;
  options.group_threshold = 0;  // FastGroupProcesses everywhere
  EXPECT_EQ(evaluate(tree, mixed, treematch(tree, mixed, options)).total,
            evaluate(tree, hierarchical(tree), identity(tree, 256, {})).total);
}

}  // namespace
