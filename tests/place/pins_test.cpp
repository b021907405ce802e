#include "core/base/index.h"
#include "core/place/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/engine.h"
#include "core/place/plan.h"
#include "core/place/treematch.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using ranktree::core::at;
using ranktree::core::Error;
using ranktree::core::Fault;
using ranktree::core::Random;
using ranktree::core::pattern::Affinity;
using ranktree::core::topo::Kind;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Level;
using ranktree::core::topo::Tree;
using ranktree::core::topo::TreeBuilder;
using ranktree::test::cost;
using ranktree::test::from_matrix;
using ranktree::test::machine;
using ranktree::test::random_affinity;

// Subtrees of 1 to 3 leaves below 2 to 4 groups, so that there are at most 12 leaves; random costs.
Tree uneven_tree(Random& random) {
  TreeBuilder builder(std::vector<Level>(3, Level{Kind::kGroup, {}, {}}));
  builder.add(-1, 0);
  const std::uint64_t groups = 2 + random.below(3);
  for (std::uint64_t i = 0; i < groups; ++i) {
    const auto group = builder.add(0, 1);
    const std::uint64_t leaves = 1 + random.below(3);
    for (std::uint64_t j = 0; j < leaves; ++j) builder.set_pus(builder.add(group, 2), {static_cast<int>(j)});
  }
  const std::vector<double> costs{static_cast<double>(1 + random.below(20)), static_cast<double>(random.below(10))};
  return std::move(builder).build().with_costs(costs);
}

// Distinct ranks on distinct leaves.
std::vector<Pin> random_pins(int ranks, int leaves, int count, Random& random) {
  std::vector<int> rank_order(at(ranks));
  std::vector<int> leaf_order(at(leaves));
  for (int i = 0; i < ranks; ++i) rank_order[at(i)] = i;
  for (int i = 0; i < leaves; ++i) leaf_order[at(i)] = i;
  std::vector<Pin> pins;
  for (int i = 0; i < count; ++i) {
    std::swap(rank_order[at(i)], rank_order[at(i) + random.below(at(ranks - i))]);
    std::swap(leaf_order[at(i)], leaf_order[at(i) + random.below(at(leaves - i))]);
    pins.push_back({rank_order[at(i)], leaf_order[at(i)]});
  }
  return pins;
}

// Tries every placement that honours the pins.
double brute_force(const Tree& tree, const Affinity& affinity, const std::vector<Pin>& pins, Placement& placement,
                   int rank, std::vector<int>& used) {
  if (rank == affinity.ranks) return cost(tree, affinity, placement);
  double best = 1e300;
  const auto pin = std::find_if(pins.begin(), pins.end(), [&](const Pin& one) { return one.rank == rank; });
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (used[at(leaf)] != 0 || (pin != pins.end() && pin->leaf != leaf)) continue;
    used[at(leaf)] = 1;
    placement.leaf_of[at(rank)] = leaf;
    best = std::min(best, brute_force(tree, affinity, pins, placement, rank + 1, used));
    used[at(leaf)] = 0;
  }
  return best;
}

TEST(Pins, FewRanksCostWhatBruteForceFinds) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Tree tree = uneven_tree(random);
    const int ranks = 1 + static_cast<int>(random.below(at(std::min(tree.leaf_count(), 6))));
    const Affinity affinity = random_affinity(ranks, 80, 50, seed);
    EngineOptions options;
    options.seed = seed;
    options.constraints.pins =
        random_pins(ranks, tree.leaf_count(), static_cast<int>(random.below(at(ranks) + 1)), random);
    const Placement found = run_engine(tree, affinity, options);
    validate(tree, found, ranks, options.constraints);
    Placement scratch{std::vector<Leaf>(at(ranks), 0)};
    std::vector<int> used(at(tree.leaf_count()), 0);
    EXPECT_DOUBLE_EQ(cost(tree, affinity, found),
                     brute_force(tree, affinity, options.constraints.pins, scratch, 0, used))
        << "seed " << seed;
  }
}

TEST(Pins, EveryAlgorithmHonoursThemAndTheEngineCostsNoMoreThanTheOrderAroundThem) {
  const Tree tree = machine({5, 2, 4});  // 40 slots
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    const int ranks = 30 + static_cast<int>(random.below(11));
    const Affinity affinity = random_affinity(ranks, 20, 100, seed);
    EngineOptions options;
    Constraints& constraints = options.constraints;
    constraints.pins = random_pins(ranks, 40, static_cast<int>(random.below(12)), random);
    const Placement start = identity(tree, ranks, constraints);
    validate(tree, start, ranks, constraints);
    validate(tree, round_robin(tree, ranks, constraints), ranks, constraints);
    validate(tree, ranktree::core::place::random(tree, ranks, constraints, seed), ranks, constraints);
    validate(tree, greedy(tree, affinity, constraints), ranks, constraints);
    for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
      options.preset = preset;
      const Placement found = run_engine(tree, affinity, options);
      validate(tree, found, ranks, constraints);
      EXPECT_LE(cost(tree, affinity, found), cost(tree, affinity, start));
    }
  }
}

// Two cliques of four; one rank of each is pinned to the other's place in order: the cliques follow their ranks.
TEST(Pins, TheOthersFollow) {
  const Tree tree = machine({6, 4});
  std::vector<std::vector<double>> matrix(24, std::vector<double>(24, 0));
  for (int i = 0; i < 24; ++i) {
    for (int j = 0; j < 24; ++j) matrix[at(i)][at(j)] = i != j && i / 4 == j / 4 ? 10 : 0;
  }
  const Affinity affinity = from_matrix(matrix);
  EngineOptions options;
  options.constraints.pins = {{0, 21}, {9, 2}, {23, 5}};
  const Placement found = run_engine(tree, affinity, options);
  validate(tree, found, 24, options.constraints);
  EXPECT_EQ(cost(tree, affinity, found), cost(tree, affinity, identity(tree, 24, {})));
  EXPECT_EQ(found.leaf_of[3] / 4, 5);
  EXPECT_EQ(found.leaf_of[8] / 4, 0);
}

TEST(Pins, HoldInDensePatternsToo) {
  const Tree tree = machine({8, 4, 10});
  constexpr int kRanks = 300;
  Random random(4);
  std::vector<double> values(at(kRanks) * kRanks);
  for (double& value : values) value = static_cast<double>(random.below(9));
  const ranktree::core::pattern::Matrix matrix = ranktree::core::pattern::MatrixView<double>{kRanks, values.data()};
  EngineOptions options;
  options.constraints.pins = random_pins(kRanks, 320, 40, random);
  validate(tree, run_engine(tree, matrix, options), kRanks, options.constraints);
}

TEST(Pins, SeveralRanksMayBePinnedToALeafThatTakesThem) {
  const Tree tree = machine({2, 3});
  const Affinity affinity = random_affinity(11, 60, 20, 3);
  EngineOptions options;
  options.constraints = {2, {{4, 1}, {10, 1}, {0, 5}}};
  validate(tree, run_engine(tree, affinity, options), 11, options.constraints);
  validate(tree, greedy(tree, affinity, options.constraints), 11, options.constraints);
}

TEST(Pins, EveryRowOfAPlanHonoursThem) {
  const Tree tree = machine({4, 4});
  const Affinity affinity = random_affinity(16, 60, 20, 5);
  PlanOptions options;
  options.pins = {{3, 12}, {0, 7}};
  const Plan plan = make_plan(tree, affinity, options);
  EXPECT_EQ(plan.leaf_of[3], 12);
  EXPECT_EQ(plan.leaf_of[0], 7);
}

void expect_error(const Constraints& constraints, Fault fault, const std::string& text, const Tree& tree) {
  EngineOptions options;
  options.constraints = constraints;
  try {
    run_engine(tree, random_affinity(4, 90, 9, 1), options);
    FAIL() << "expected an error: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Pins, AreCheckedBeforeAnythingElse) {
  const Tree tree = machine({2, 3});
  expect_error({1, {{4, 0}}}, Fault::kInput, "expected ranks in 0..3, found 4", tree);
  expect_error({1, {{-1, 0}}}, Fault::kInput, "found -1", tree);
  expect_error({1, {{2, 6}}}, Fault::kInput, "expected a leaf in 0..5, found 6", tree);
  expect_error({1, {{2, 1}, {2, 1}}}, Fault::kInput, "rank 2: expected one pin, found another", tree);
  expect_error({1, {{2, 1}, {3, 1}}}, Fault::kMismatch, "leaf 1 already holds 1", tree);
  const std::vector<Leaf> allowed{0, 1, 3, 4};
  expect_error({1, {{2, 5}}}, Fault::kMismatch, "leaf 5 may not be used", tree.with_allowed(allowed));
}

TEST(Pins, ThePublishedAlgorithmRefusesThem) {
  TreeMatchOptions options;
  options.constraints.pins = {{0, 1}};
  EXPECT_THROW(treematch(machine({2, 3}), random_affinity(4, 90, 9, 1), options), Error);
}

TEST(Pins, AStartMustHonourThem) {
  const Tree tree = machine({2, 3});
  EngineOptions options;
  options.start = identity(tree, 4, {});
  options.constraints.pins = {{0, 1}};
  EXPECT_THROW(run_engine(tree, random_affinity(4, 90, 9, 1), options), Error);
}

}  // namespace
