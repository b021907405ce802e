// The bound against optima found by trying every placement, and against patterns whose optimum is known.
#include "core/place/bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using ranktree::core::Error;
using ranktree::core::Random;
using ranktree::core::pattern::Affinity;
using ranktree::core::topo::Kind;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Tree;
using ranktree::core::topo::TreeBuilder;
using ranktree::test::from_matrix;
using ranktree::test::grid;
using ranktree::test::machine;
using ranktree::test::random_affinity;
using ranktree::test::relabelled;
using ranktree::test::renumbered;

int draw(Random& random, int limit) { return static_cast<int>(random.below(static_cast<std::uint64_t>(limit))); }

// The least cost of all placements, one rank after the other on every leaf that still takes one.
class EveryPlacement {
 public:
  EveryPlacement(const Tree& tree, const Affinity& affinity, const Constraints& constraints)
      : tree_(tree), affinity_(affinity), free_(static_cast<std::size_t>(tree.leaf_count()), constraints.capacity) {
    for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
      if (!tree.allowed(leaf)) free_[static_cast<std::size_t>(leaf)] = 0;
    }
  }

  double least() {
    try_next(0);
    return least_;
  }

 private:
  void try_next(double cost) {
    const auto rank = static_cast<int>(placement_.leaf_of.size());
    if (cost >= least_) return;
    if (rank == affinity_.ranks) {
      least_ = cost;
      return;
    }
    for (Leaf leaf = 0; leaf < tree_.leaf_count(); ++leaf) {
      if (free_[static_cast<std::size_t>(leaf)] == 0) continue;
      --free_[static_cast<std::size_t>(leaf)];
      const double more = cost_of(rank, leaf);
      placement_.leaf_of.push_back(leaf);
      try_next(cost + more);
      placement_.leaf_of.pop_back();
      ++free_[static_cast<std::size_t>(leaf)];
    }
  }

  [[nodiscard]] double cost_of(int rank, Leaf leaf) const {
    double cost = 0;
    for (std::size_t i = 0; i < affinity_.neighbours(rank).size(); ++i) {
      const int other = affinity_.neighbours(rank)[i];
      if (other >= rank) continue;
      cost += affinity_.weights_of(rank)[i] * tree_.distance(leaf, placement_.leaf_of[static_cast<std::size_t>(other)]);
    }
    return cost;
  }

  const Tree& tree_;
  const Affinity& affinity_;
  std::vector<int> free_;
  Placement placement_;
  double least_ = std::numeric_limits<double>::infinity();
};

// Unequal subtrees on four levels, packages that some nodes lack, costs in any order; at most six leaves.
Tree random_tree(Random& random) {
  TreeBuilder builder(
      {{Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kPackage, {}, {}}, {Kind::kCore, {}, {}}});
  const auto root = builder.add(-1, 0);
  int leaves = 1 + draw(random, 6);
  const int all = leaves;
  int forbidden = 0;
  while (leaves > 0) {
    const auto node = builder.add(root, 1);
    const auto parent = random.below(2) == 0 ? node : builder.add(node, 2);
    for (int inside = std::min(leaves, 1 + draw(random, 4)); inside > 0; --inside, --leaves) {
      const auto leaf = builder.add(parent, 3);
      if (forbidden + 1 == all || random.below(6) != 0) continue;
      builder.forbid(leaf);
      ++forbidden;
    }
  }
  std::vector<double> costs(3);
  for (double& cost : costs) cost = static_cast<double>(random.below(20));
  if (random.below(3) != 0) std::sort(costs.rbegin(), costs.rend());
  return std::move(builder).build().with_costs(costs);
}

int allowed_leaves(const Tree& tree) {
  int count = 0;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) count += tree.allowed(leaf) ? 1 : 0;
  return count;
}

TEST(LowerBound, IsNoMoreThanTheLeastOfAllPlacements) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const Tree tree = random_tree(random);
    const Constraints constraints{1 + draw(random, 2)};
    const int ranks = 1 + draw(random, std::min(6, allowed_leaves(tree) * constraints.capacity));
    const Affinity affinity = random_affinity(ranks, 20 + draw(random, 81), 100, seed);
    const double least = EveryPlacement(tree, affinity, constraints).least();
    const double bound = lower_bound(tree, affinity, constraints);
    ASSERT_GE(bound, 0);
    ASSERT_LE(bound, least) << "seed " << seed;
    if (least > 0 && bound == least) ++tight;
  }
  EXPECT_GT(tight, 100) << "a bound of 0 would pass the rest";
}

// Ranks exchange the more the deeper the level on which a machine of these arities, root first, would let them meet.
Affinity blocks(std::initializer_list<int> arities, Random& random) {
  const Tree tree = machine(arities);
  std::vector<double> weight(arities.size());
  double sum = 0;
  for (double& one : weight) one = sum += static_cast<double>(random.below(50));
  const auto ranks = static_cast<std::size_t>(tree.leaf_count());
  std::vector<std::vector<double>> matrix(ranks, std::vector<double>(ranks, 0));
  for (std::size_t i = 0; i < ranks; ++i) {
    for (std::size_t j = 0; j < ranks; ++j) {
      if (i == j) continue;
      matrix[i][j] = weight[static_cast<std::size_t>(tree.common_level(static_cast<Leaf>(i), static_cast<Leaf>(j)))];
    }
  }
  return from_matrix(matrix);
}

TEST(LowerBound, IsTheCostOfBlocksThatNestAsTheMachineDoes) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const std::vector<double> costs{1000, 100, 10};
    for (const auto& arities : {std::initializer_list<int>{2, 3, 4}, {5, 2, 2}, {3, 1, 7}, {4, 4, 1}}) {
      const Tree tree = machine(arities).with_costs(costs);
      const Affinity pattern = blocks(arities, random);
      const double cost = evaluate(tree, pattern, identity(tree, pattern.ranks, {})).total;
      std::vector<int> order(static_cast<std::size_t>(pattern.ranks));
      std::iota(order.begin(), order.end(), 0);
      for (int i = pattern.ranks; i > 1; --i) {
        std::swap(order[static_cast<std::size_t>(i - 1)], order[static_cast<std::size_t>(draw(random, i))]);
      }
      EXPECT_EQ(lower_bound(tree, relabelled(pattern, order), {}), cost);
    }
  }
}

TEST(LowerBound, IsZeroWhereNothingNeedsToMeetFarAway) {
  EXPECT_EQ(lower_bound(machine({2, 2}), Affinity{}, {}), 0);
  EXPECT_EQ(lower_bound(machine({2, 2}), from_matrix({{0, 0}, {0, 0}}), {}), 0);
  EXPECT_EQ(lower_bound(machine({2, 2}), from_matrix({{0, 9}, {9, 0}}), {2}), 0) << "both may share a leaf";
}

// Three ranks that all talk on nodes of two: 4 + 2 + 3 exchanged, and only the heaviest pair can stay inside.
TEST(LowerBound, CountsBothEndsOfAPair) {
  const Tree tree = machine({2, 2}).with_costs(std::vector<double>{10, 1});
  const Affinity affinity = from_matrix({{0, 4, 2}, {4, 0, 3}, {2, 3, 0}});
  // Every rank keeps its heaviest pair inside (4, 4, 3) and sends the rest (2, 3, 2) between nodes at 9 more.
  EXPECT_EQ(lower_bound(tree, affinity, {}), 9 * (2 + 3 + 2) / 2.0 + (4 + 2 + 3));
}

TEST(LowerBound, TakesWeightsUpToTwoToThe53) {
  const double huge = 9007199254740992.0;
  const Affinity affinity = from_matrix({{0, huge}, {huge, 0}});
  EXPECT_EQ(lower_bound(machine({2, 1}), affinity, {}), 2 * huge);
}

// Nodes of 16 hold all four neighbours of every rank, but not of all their ranks. Sixteen 4 x 4 squares cut 3 lines of
// 16 pairs in each direction, so that no bound is more than 96.
TEST(LowerBound, SeesWhatNoSingleRankDoes) {
  const Tree tree = machine({16, 16}).with_costs(std::vector<double>{1, 0});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const double bound = lower_bound(tree, renumbered(grid({16, 16}), seed), {});
    EXPECT_LE(bound, 96);
    EXPECT_GE(bound, 30);
  }
}

// Rings and trees whose least cut is known by hand: parts of a ring of 60 in eights are 8 at least, each with two ends.
TEST(LowerBound, IsNoMoreThanTheLeastCutOfARing) {
  std::vector<std::vector<double>> matrix(60, std::vector<double>(60, 0));
  for (std::size_t i = 0; i < 60; ++i) matrix[i][(i + 1) % 60] = matrix[(i + 1) % 60][i] = 5;
  const double bound = lower_bound(machine({8, 8}).with_costs(std::vector<double>{1, 0}), from_matrix(matrix), {});
  EXPECT_LE(bound, 8 * 5);
  EXPECT_GE(bound, 4 * 5);
}

TEST(LowerBound, IsNoMoreThanWhatAnyAlgorithmFinds) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const int ranks = 24 + draw(random, 40);
    const Affinity affinity = random_affinity(ranks, 2 + draw(random, 12), 40, seed);
    const Tree tree = machine({4, 2, 8});
    EngineOptions options;
    options.seed = seed;
    const double found = evaluate(tree, affinity, run_engine(tree, affinity, options)).total;
    ASSERT_LE(lower_bound(tree, affinity, {}), found) << "seed " << seed;
  }
}

TEST(LowerBound, RefusesMoreRanksThanSlots) {
  EXPECT_THROW(lower_bound(machine({1, 2}), from_matrix({{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}), {}), Error);
}

Plan plan_of(double cost, std::optional<double> bound) {
  Plan plan;
  plan.costs = {{"identity", {}, 2 * cost}, {"plan", {}, cost}};
  plan.bound = bound;
  return plan;
}

TEST(Gap, IsRelativeToTheBound) {
  EXPECT_EQ(gap(plan_of(15, 10)), 0.5);
  EXPECT_EQ(gap(plan_of(10, 10)), 0);
  EXPECT_EQ(gap(plan_of(0, 0)), 0);
  EXPECT_EQ(gap(plan_of(1, 0)), std::nullopt) << "nothing to divide by";
  EXPECT_EQ(gap(plan_of(1, std::nullopt)), std::nullopt);
  EXPECT_EQ(gap(Plan{}), std::nullopt);
}

}  // namespace
