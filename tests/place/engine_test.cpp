#include "core/place/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/place/placement.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"
#include "helpers/sanitized.h"
#include "random_machines.h"

namespace {

using namespace ranktree::core::place;
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
using ranktree::test::grid;
using ranktree::test::hierarchy;
using ranktree::test::hubs;
using ranktree::test::kPresets;
using ranktree::test::machine;
using ranktree::test::random_affinity;
using ranktree::test::random_tree;
using ranktree::test::relabelled;
using ranktree::test::renumbered;
using ranktree::test::shuffled;
using ranktree::test::slots;

TEST(Engine, HonoursTheMachineAndNeverCostsMoreThanTheStart) {
  for (std::uint64_t seed = 1; seed <= (ranktree::test::kSanitized ? 100 : 300); ++seed) {
    const Tree tree = random_tree(seed);
    EngineOptions options;
    options.seed = seed;
    options.preset = kPresets[seed % 3];
    options.constraints.capacity = 1 + static_cast<int>(seed % 3);
    const int capacity = slots(tree) * options.constraints.capacity;
    const int ranks =
        seed % 4 == 0 ? capacity : 1 + static_cast<int>(Random(seed).below(static_cast<std::uint64_t>(capacity)));
    const Affinity affinity = random_affinity(ranks, static_cast<int>(seed % 60), 1000, seed);
    if (seed % 2 == 0) options.start = random(tree, ranks, options.constraints, seed);
    const Placement start = options.start ? *options.start : identity(tree, ranks, options.constraints);
    const Placement found = run_engine(tree, affinity, options);
    validate(tree, found, ranks, options.constraints);
    EXPECT_LE(cost(tree, affinity, found), cost(tree, affinity, start)) << "seed " << seed;
    EXPECT_EQ(found.leaf_of, run_engine(tree, affinity, options).leaf_of) << "seed " << seed;
  }
}

TEST(Engine, NothingToGainLeavesTheRanksWhereTheyAre) {
  const Tree tree = machine({3, 2, 5});
  EngineOptions options;
  options.start = random(tree, 17, {}, 5);
  EXPECT_EQ(run_engine(tree, random_affinity(17, 0, 1, 1), options).leaf_of, options.start->leaf_of);
  std::vector<std::vector<double>> one(17, std::vector<double>(17, 0));
  options.start = identity(tree, 17, {});
  one[0][1] = one[1][0] = 7;  // already side by side
  EXPECT_EQ(run_engine(tree, from_matrix(one), options).leaf_of, options.start->leaf_of);
}

TEST(Engine, RanksThatNeedNotMoveStay) {
  // Pairs 0-1 and 2-3, apart on two cores of two PUs: one rank of each pair has to leave its core, no other its PU.
  const Tree tree = machine({2, 2});
  const Affinity pairs = from_matrix({{0, 9, 0, 0}, {9, 0, 1, 0}, {0, 1, 0, 9}, {0, 0, 9, 0}});
  EngineOptions options;
  for (const Placement& start : {Placement{{0, 2, 1, 3}}, Placement{{3, 0, 2, 1}}, Placement{{1, 2, 0, 3}}}) {
    options.start = start;
    const Placement found = run_engine(tree, pairs, options);
    int moved = 0;
    for (std::size_t rank = 0; rank < 4; ++rank) moved += found.leaf_of[rank] == start.leaf_of[rank] ? 0 : 1;
    EXPECT_EQ(found.leaf_of[0] / 2, found.leaf_of[1] / 2);
    EXPECT_LE(moved, 2);
  }
}

TEST(Engine, OneLeafTakesOneRankOrAllOfThem) {
  const Tree tree = machine({1});
  EXPECT_EQ(run_engine(tree, random_affinity(1, 0, 1, 1), {}).leaf_of, std::vector<Leaf>{0});
  EngineOptions options;
  options.constraints.capacity = 5;
  EXPECT_EQ(run_engine(tree, random_affinity(5, 100, 9, 1), options).leaf_of, (std::vector<Leaf>{0, 0, 0, 0, 0}));
  EXPECT_TRUE(run_engine(tree, Affinity{}, {}).leaf_of.empty());
}

// The hierarchy is the only optimum, whatever the numbers of the ranks.
TEST(Engine, FindsAHierarchyThatIsThere) {
  const std::vector<std::vector<int>> shapes{{4, 2, 4},  {3, 5, 2}, {2, 2, 2, 2, 2}, {7, 3},
                                             {16, 2, 4}, {5, 7, 3}, {11, 13}};
  for (const auto& shape : shapes) {
    const int ranks = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
    std::vector<Level> levels(shape.size() + 1, Level{Kind::kGroup, {}, {}});
    const Tree tree = ranktree::core::topo::uniform_tree(levels, shape);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const std::vector<int> order = shuffled(ranks, seed);
      const Affinity affinity = relabelled(hierarchy(shape, 4), order);
      Placement optimum{std::vector<Leaf>(static_cast<std::size_t>(ranks))};
      for (int i = 0; i < ranks; ++i) optimum.leaf_of[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i;
      for (const Preset preset : kPresets) {
        EngineOptions options;
        options.preset = preset;
        options.seed = seed;
        EXPECT_EQ(cost(tree, affinity, run_engine(tree, affinity, options)), cost(tree, affinity, optimum))
            << "shape " << testing::PrintToString(shape) << " preset " << static_cast<int>(preset);
      }
    }
  }
}

// Neighbours on a grid exchange 10, renumbered.
Affinity halo_of(int rows, int columns, std::uint64_t seed) { return renumbered(grid({rows, columns}, 10), seed); }

TEST(Engine, TilesGrids) {
  // 8 x 8 on four nodes of four packages of four cores: 4 x 4 and 2 x 2 tiles. Cut between nodes 16 edges, between
  // packages of a node 4 x 8, the remaining 64 within packages; each edge 10, hops 6, 4, 2.
  const Tree tree = machine({4, 4, 4});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EngineOptions options;
    options.preset = Preset::kStrong;
    options.seed = seed;
    const Affinity affinity = halo_of(8, 8, seed);
    EXPECT_EQ(cost(tree, affinity, run_engine(tree, affinity, options)), 10 * (16 * 6 + 32 * 4 + 64 * 2));
  }
}

TEST(Engine, HardlyDependsOnTheNumberingOfTheRanks) {
  const Tree tree = machine({8, 4, 8});
  const Affinity affinity = halo_of(16, 16, 1);
  for (const Preset preset : kPresets) {
    std::vector<double> costs;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      EngineOptions options;
      options.preset = preset;
      const Affinity other = renumbered(affinity, 100 + seed);
      costs.push_back(cost(tree, other, run_engine(tree, other, options)));
    }
    const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
    EXPECT_LT(*most, 1.01 * *least);
  }
}

TEST(Engine, KeepsTheStartWhenItIsToStop) {
  EngineOptions options;
  options.keep_going = [] { return false; };
  const Tree tree = machine({8, 8});
  options.start = random(tree, 64, {}, 3);
  EXPECT_EQ(run_engine(tree, halo_of(8, 8, 2), options).leaf_of, options.start->leaf_of);
}

TEST(Engine, TheAnswerDoesNotDependOnTheNumberOfThreads) {
  const Tree full = machine({16, 4, 16});
  const Tree spare = machine({5, 7, 31});
  const Affinity halo = halo_of(32, 32, 3);
  for (const Preset preset : kPresets) {
    for (const Tree* tree : {&full, &spare}) {
      EngineOptions options;
      options.preset = preset;
      const std::vector<Leaf> alone = run_engine(*tree, halo, options).leaf_of;
      for (const int threads : {2, 3, 5}) {
        options.threads = threads;
        EXPECT_EQ(run_engine(*tree, halo, options).leaf_of, alone) << threads;
      }
    }
  }
}

// The second one's ranks after the first one's.
Affinity beside(Affinity first, const Affinity& second) {
  for (const auto index : second.indices) first.indices.push_back(index + first.ranks);
  const auto before = first.indptr.back();
  for (std::size_t i = 1; i < second.indptr.size(); ++i) first.indptr.push_back(before + second.indptr[i]);
  first.weights.insert(first.weights.end(), second.weights.begin(), second.weights.end());
  first.ranks += second.ranks;
  return first;
}

// How hard one subtree is to divide must not matter to the others: which is divided first depends on the threads.
TEST(Engine, SubtreesThatAreUnlikeGetTheSameAnswerOnAnyNumberOfThreads) {
  const Tree tree = machine({4, 16, 16});
  const Affinity irregular = renumbered(random_affinity(256, 5, 100, 5), 6);
  const Affinity pair = beside(halo_of(16, 16, 3), irregular);
  const Affinity all = beside(pair, beside(halo_of(16, 16, 4), irregular));
  for (const Preset preset : {Preset::kDefault, Preset::kStrong}) {
    EngineOptions options;
    options.preset = preset;
    const std::vector<Leaf> alone = run_engine(tree, all, options).leaf_of;
    for (const int threads : {2, 4, 4, 4}) {
      options.threads = threads;
      EXPECT_EQ(run_engine(tree, all, options).leaf_of, alone) << threads;
    }
  }
}

TEST(Engine, SharesALargePatternWithHubsWithTheSameAnswer) {
  const Tree tree = machine({16, 16, 4, 4});
  const Affinity pattern = hubs(4000, 60000, 11);
  ASSERT_GT(pattern.indices.size(), 65536U);  // from where threads share a graph
  for (const Preset preset : {Preset::kFast, Preset::kDefault}) {
    EngineOptions options;
    options.preset = preset;
    const std::vector<Leaf> alone = run_engine(tree, pattern, options).leaf_of;
    for (const int threads : {2, 3}) {
      options.threads = threads;
      EXPECT_EQ(run_engine(tree, pattern, options).leaf_of, alone) << threads;
    }
  }
}

TEST(Engine, CallsKeepGoingOnOneThreadAndPassesOnWhatItThrows) {
  const Tree tree = machine({16, 4, 16});
  const Affinity halo = halo_of(32, 32, 3);
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  bool elsewhere = false;
  EngineOptions options;
  options.threads = 3;
  options.preset = Preset::kStrong;
  options.keep_going = [&] {
    elsewhere = elsewhere || std::this_thread::get_id() != caller;
    return ++calls < 4;
  };
  const Placement start = identity(tree, 1024, {});
  const Placement stopped = run_engine(tree, halo, options);
  validate(tree, stopped, 1024, {});
  EXPECT_LE(cost(tree, halo, stopped), cost(tree, halo, start));
  EXPECT_FALSE(elsewhere);
  options.keep_going = [&calls]() -> bool {
    if (++calls > 6) throw std::runtime_error("enough");
    return true;
  };
  EXPECT_THROW(run_engine(tree, halo, options), std::runtime_error);
}

TEST(Engine, WeightsOfAnyFiniteSize) {
  const Tree tree = machine({4, 4});
  for (const double scale : {1e-300, 1.0, 9007199254740992.0, 1e306}) {
    Affinity affinity = halo_of(4, 4, 1);
    for (double& weight : affinity.weights) weight = weight / 10 * scale;
    const Placement found = run_engine(tree, affinity, {});
    validate(tree, found, 16, {});
    EXPECT_DOUBLE_EQ(cost(tree, affinity, found), scale * (8 * 4 + 16 * 2)) << scale;
  }
}

TEST(Engine, OneHugeWeightComesFirst) {
  Affinity affinity = random_affinity(30, 50, 10, 4);
  for (std::size_t i = 0; i < affinity.neighbours(7).size(); ++i) {
    const int other = affinity.neighbours(7)[i];
    if (i != 0) continue;
    affinity.weights[static_cast<std::size_t>(affinity.indptr[7])] = 9007199254740992.0;
    const auto row = affinity.neighbours(other);
    const auto place = std::find(row.begin(), row.end(), 7) - row.begin();
    affinity.weights[static_cast<std::size_t>(affinity.indptr[static_cast<std::size_t>(other)] + place)] =
        9007199254740992.0;
    const Tree tree = machine({3, 2, 5});
    const Placement found = run_engine(tree, affinity, {});
    EXPECT_EQ(tree.distance(found.leaf_of[7], found.leaf_of[static_cast<std::size_t>(other)]), 2);
  }
}

Fault fault_of(const Affinity& affinity, const EngineOptions& options) {
  try {
    run_engine(machine({2, 2}), affinity, options);
  } catch (const Error& error) {
    return error.fault();
  }
  ADD_FAILURE() << "expected an error";
  return Fault::kSystem;
}

TEST(Engine, RefusesWhatIsNoGraphOrNoStart) {
  EXPECT_EQ(fault_of(random_affinity(5, 50, 9, 1), {}), Fault::kMismatch);
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Affinity affinity = random_affinity(4, 100, 9, 1);
    affinity.weights[3] = bad;
    EXPECT_EQ(fault_of(affinity, {}), Fault::kInput);
  }
  Affinity affinity = random_affinity(4, 100, 9, 1);
  affinity.indices[2] = 4;
  EXPECT_EQ(fault_of(affinity, {}), Fault::kInput);
  EngineOptions options;
  options.start = Placement{{0, 1, 2, 2}};
  EXPECT_EQ(fault_of(random_affinity(4, 100, 9, 1), options), Fault::kInput);
}

}  // namespace
