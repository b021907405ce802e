// Placement on networks that are no trees: held against all placements where these are few, against known optima else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/place/bound.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"
#include "helpers/sanitized.h"

namespace {

using namespace ranktree::core::place;
using namespace ranktree::core::topo;
using namespace ranktree::test;
using ranktree::core::at;
using ranktree::core::Random;
using ranktree::core::pattern::Affinity;

std::vector<int> counted(int count) {
  std::vector<int> list(at(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

// Nodes that hold `inside`, root first, on a network.
Tree on(Interconnect::Network network, std::vector<int> inside, std::vector<int> positions = {}) {
  const int nodes =
      static_cast<int>(positions.empty() ? node_count(network) : static_cast<std::int64_t>(positions.size()));
  constexpr Kind kKinds[] = {Kind::kCluster, Kind::kNode, Kind::kPackage, Kind::kL3};
  inside.insert(inside.begin(), nodes);
  std::vector<Level> levels;
  for (std::size_t i = 0; i < inside.size(); ++i) levels.push_back({kKinds[i], {}, {}});
  levels.push_back({Kind::kCore, {}, {}});
  if (positions.empty()) positions = counted(nodes);
  return uniform_tree(levels, inside).with_interconnect(std::make_shared<const Interconnect>(network, positions));
}

Torus torus(const std::vector<int>& sizes, bool wraps = true) {
  return {sizes, std::vector<std::uint8_t>(sizes.size(), wraps ? 1 : 0), std::vector<Step>(sizes.size())};
}

DistanceTable random_table(int nodes, std::uint64_t seed) {
  Random random(seed);
  DistanceTable table{nodes, false, std::vector<double>(at(nodes) * at(nodes), 0)};
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < i; ++j) {
      const auto distance = static_cast<double>(1 + random.below(9));
      table.values[at(i) * at(nodes) + at(j)] = table.values[at(j) * at(nodes) + at(i)] = distance;
    }
  }
  return table;
}

std::vector<Tree> small_networks() {
  return {on(torus({8}), {1}),
          on(torus({3, 3}), {1}),
          on(torus({2, 4}, false), {1}),
          on(torus({4}), {2}),
          on(torus({2, 2}), {2}),
          on(torus({5}), {1}, {}),
          on(torus({3, 4}), {1}, {0, 1, 2, 5, 7, 9, 11, 4}),
          on(Dragonfly{4, 2, 1}, {1}),
          on(Dragonfly{2, 2, 2}, {1}),
          on(Dragonfly{3, 1, 1}, {1, 3}),
          on(random_table(8, 1), {1}),
          on(random_table(4, 2), {2}),
          on(random_table(2, 3), {2, 2})};
}

double cheapest(const Tree& tree, const Affinity& affinity) {
  std::vector<Leaf> leaves = counted(tree.leaf_count());
  std::erase_if(leaves, [&](Leaf leaf) { return !tree.allowed(leaf); });
  double best = std::numeric_limits<double>::infinity();
  // All orders of the leaves; those that differ only behind the last rank are skipped.
  do {
    best = std::min(best, cost(tree, affinity, {{leaves.begin(), leaves.begin() + affinity.ranks}}));
    std::reverse(leaves.begin() + affinity.ranks, leaves.end());
  } while (std::next_permutation(leaves.begin(), leaves.end()));
  return best;
}

// Neighbours on a grid exchange 1; ranks are numbered row by row.
Affinity grid(const std::vector<int>& sizes, bool wraps) {
  return lattice(sizes, std::vector<std::uint8_t>(sizes.size(), wraps ? 1 : 0), 1);
}

double total(const Affinity& affinity) {
  return std::accumulate(affinity.weights.begin(), affinity.weights.end(), 0.0) / 2;
}

TEST(NetworkEngine, FindsTheBestOfAllPlacementsOfAFewRanks) {
  for (const Tree& tree : small_networks()) {
    for (int ranks = 2; ranks <= std::min(tree.leaf_count(), 8); ranks += 2) {
      for (std::uint64_t seed = 1; seed <= (ranktree::test::kSanitized ? 1 : 2); ++seed) {
        const Affinity affinity = random_affinity(ranks, 60, 20, seed + at(ranks));
        const double best = cheapest(tree, affinity);
        for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
          EngineOptions options;
          options.preset = preset;
          EXPECT_EQ(cost(tree, affinity, run_engine(tree, affinity, options)), best)
              << ranks << " ranks, seed " << seed;
        }
        EXPECT_LE(lower_bound(tree, affinity, {}), best);
      }
    }
  }
}

TEST(NetworkEngine, FindsTheBestWhereSomePlacesMayNotBeUsedOrRanksArePinned) {
  const Tree tree = on(torus({3, 3}), {1}).with_allowed(std::vector<Leaf>{0, 1, 2, 4, 5, 7, 8});
  const Affinity affinity = random_affinity(6, 70, 20, 3);
  EngineOptions options;
  EXPECT_EQ(cost(tree, affinity, run_engine(tree, affinity, options)), cheapest(tree, affinity));
  options.constraints.pins = {{2, 8}, {5, 0}};
  const Placement found = run_engine(tree, affinity, options);
  validate(tree, found, 6, options.constraints);
  double best = std::numeric_limits<double>::infinity();
  std::vector<Leaf> others{1, 2, 4, 5, 7};
  do {
    best = std::min(best, cost(tree, affinity, {{others[0], others[1], 8, others[2], others[3], 0}}));
  } while (std::next_permutation(others.begin(), others.end()));
  EXPECT_EQ(cost(tree, affinity, found), best);
}

TEST(NetworkEngine, GridsThatTileAreFoundExactlyWhateverTheNumbering) {
  struct Case {
    Tree tree;
    std::vector<int> sizes;
    bool wraps;
    double best;
  };
  const std::vector<Case> cases{
      {on(torus({8, 8, 8}), {1}), {8, 8, 8}, true, 3 * 512},
      {on(torus({8, 8, 8}, false), {1}), {8, 8, 8}, false, 3 * 7 * 64},
      {on(torus({4, 6, 8}), {1}), {8, 6, 4}, false, 7 * 24 + 5 * 32 + 3 * 48},
      {on(torus({7, 7}), {1}), {7, 7}, true, 98},
      {on(torus({31}), {1}), {31}, true, 31},
      {on(torus({4, 4, 4, 3}), {1}), {3, 4, 4, 4}, true, 4 * 192},
      // 2x2 a node: 4 pairs inside at 2 hops, 2 x 2 to the next by the links of both nodes, 2, and 1 hop
      {on(torus({6, 4}), {4}), {12, 8}, true, 24 * (4 * 2 + 4 * 3)}};
  for (const Case& each : cases) {
    const Affinity affinity = grid(each.sizes, each.wraps);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const Preset preset : {Preset::kFast, Preset::kDefault}) {
        EngineOptions options;
        options.preset = preset;
        options.seed = seed;
        const Affinity renumbered = relabelled(affinity, shuffled(affinity.ranks, seed));
        EXPECT_EQ(cost(each.tree, renumbered, run_engine(each.tree, renumbered, options)), each.best)
            << each.sizes.size() << " dimensions of " << each.sizes[0] << ", seed " << seed;
      }
    }
  }
}

// No side of the grid is a side of the network. Folded by hand in reflected Gray code: of the grid's first side, 32, an
// eighth is one side of the network and four in a row share another with two of the second side, 16 = 2 x 8; steps
// between these two are 1, 3, 3 and 1 hops, all others one. Likewise 32 in a ring as 8 x 2 x 2, four in a ring 6 hops.
TEST(NetworkEngine, GridsThatMustBeFoldedCostNoMoreThanFoldedByHand) {
  const Tree tree = on(torus({8, 8, 8}), {1});
  const std::pair<Affinity, double> cases[] = {{grid({32, 16}, false), 31 * 16 + 14 * 32 + 2 * 32},
                                               {grid({4, 4, 32}, true), 512 * (1.5 + 1.5 + 1.125)}};
  for (const auto& [affinity, by_hand] : cases) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const Affinity other = renumbered(affinity, seed);
      EXPECT_LE(cost(tree, other, run_engine(tree, other, {})), by_hand) << "seed " << seed;
    }
  }
}

TEST(NetworkEngine, TheBoundOfAGridThatTilesIsItsCost) {
  const Affinity affinity = grid({8, 8, 8}, true);
  EXPECT_EQ(lower_bound(on(torus({8, 8, 8}), {1}), affinity, {}), total(affinity));
  const Plan plan = make_plan(on(torus({8, 8, 8}), {1}), relabelled(affinity, shuffled(512, 4)), {});
  EXPECT_EQ(gap(plan), 0);
}

// By hand: rank 0 exchanges 5, 4, 3 with three others; on a ring of 5 two slots are 1 away and two are 2 away.
TEST(NetworkEngine, TheBoundCountsTheNearestSlots) {
  const Affinity star = from_matrix({{0, 5, 4, 3}, {5, 0, 0, 0}, {4, 0, 0, 0}, {3, 0, 0, 0}});
  EXPECT_EQ(lower_bound(on(torus({5}), {1}), star, {}), (5 + 4 + 3 * 2 + 5 + 4 + 3) / 2.0);
}

TEST(NetworkEngine, NeverMoreExpensiveThanTheOrderOfRanksAndTheSameEveryTime) {
  std::vector<Tree> trees = small_networks();
  trees.push_back(on(torus({5, 6}), {2, 3}));
  trees.push_back(on(Dragonfly{7, 3, 2}, {4}));
  trees.push_back(on(random_table(30, 9), {2, 2}));
  for (const Tree& tree : trees) {
    const Affinity affinity = random_affinity(tree.leaf_count() - tree.leaf_count() / 5, 20, 1000, 5);
    for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
      EngineOptions options;
      options.preset = preset;
      const Placement one = run_engine(tree, affinity, options);
      validate(tree, one, affinity.ranks, {});
      EXPECT_LE(cost(tree, affinity, one), cost(tree, affinity, identity(tree, affinity.ranks, {})));
      EXPECT_GE(cost(tree, affinity, one) * (1 + 1e-12), lower_bound(tree, affinity, {}));
      EXPECT_EQ(one.leaf_of, run_engine(tree, affinity, options).leaf_of);
    }
  }
}

TEST(NetworkEngine, SeveralRanksShareAPlaceWhereTheyMay) {
  const Tree tree = on(torus({2, 3}), {1});
  const Affinity affinity = random_affinity(11, 50, 30, 6);
  EngineOptions options;
  options.constraints.capacity = 2;
  const Placement found = run_engine(tree, affinity, options);
  validate(tree, found, 11, options.constraints);
  EXPECT_LT(cost(tree, affinity, found), cost(tree, affinity, identity(tree, 11, options.constraints)));
  EXPECT_LE(lower_bound(tree, affinity, options.constraints), cost(tree, affinity, found));
}

TEST(NetworkEngine, RanksThatSharePlacesStayWhereTheyArePinned) {
  const Tree tree = on(torus({2, 3}), {1});
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto ranks = static_cast<int>(5 + seed % 4);
    const Affinity affinity = random_affinity(ranks, 3, 30, seed);
    EngineOptions options;
    options.constraints.capacity = 2;
    options.constraints.pins = {{ranks - 1, 0}, {1, 4}};
    const Placement found = run_engine(tree, affinity, options);
    validate(tree, found, ranks, options.constraints);
    EXPECT_LE(cost(tree, affinity, found), cost(tree, affinity, identity(tree, ranks, options.constraints)));
  }
}

TEST(NetworkEngine, StopsWhenItIsToStop) {
  const Tree tree = on(torus({8, 8}), {2});
  const Affinity affinity = random_affinity(128, 10, 30, 7);
  EngineOptions options;
  options.keep_going = [] { return false; };
  const Placement found = run_engine(tree, affinity, options);
  EXPECT_EQ(found.leaf_of, identity(tree, 128, {}).leaf_of);
}

// Tables where eight ranks cannot be placed at the cheapest in the time there is.
TEST(NetworkEngine, GivesUpAfterSoMuchWorkWithTheSameAnswer) {
  const Tree tree = on(random_table(120, 3), {2});
  const Affinity affinity = random_affinity(8, 100, 20, 11);
  EngineOptions options;
  const Placement found = run_engine(tree, affinity, options);
  validate(tree, found, affinity.ranks, {});
  EXPECT_LT(cost(tree, affinity, found), cost(tree, affinity, identity(tree, affinity.ranks, {})));
  EXPECT_GE(cost(tree, affinity, found), lower_bound(tree, affinity, {}));
  options.threads = 2;
  EXPECT_EQ(run_engine(tree, affinity, options).leaf_of, found.leaf_of);
}

TEST(NetworkEngine, StopsInTheMiddleOfAFewRanksAndNeverCallsAgain) {
  const Tree tree = on(random_table(120, 3), {2});
  const Affinity affinity = random_affinity(8, 100, 20, 11);
  int calls = 0;
  EngineOptions options;
  options.keep_going = [&] {
    ++calls;
    return true;
  };
  run_engine(tree, affinity, options);
  const int all_calls = calls;
  ASSERT_GT(all_calls, 20);
  for (const int last : {1, all_calls / 2, all_calls - 1}) {
    calls = 0;
    options.keep_going = [&] { return ++calls < last; };
    const Placement found = run_engine(tree, affinity, options);
    EXPECT_EQ(calls, last);
    validate(tree, found, affinity.ranks, {});
    EXPECT_LE(cost(tree, affinity, found), cost(tree, affinity, identity(tree, affinity.ranks, {})));
  }
}

// Weights are scaled to 2^52: each two ranks have a cost, all three together have none.
TEST(NetworkEngine, CostsBeyondADoubleLeaveAValidPlacement) {
  DistanceTable table{6, false, std::vector<double>(36, 4e293)};
  for (std::size_t i = 0; i < 6; ++i) table.values[i * 6 + i] = 0;
  table.values[1] = table.values[6] = 1;
  const Tree tree = on(table, {1});
  const Affinity affinity = from_matrix({{0, 20, 1}, {20, 0, 1}, {1, 1, 0}});
  validate(tree, run_engine(tree, affinity, {}), 3, {});
}

TEST(NetworkEngine, AFewRanksOnMoreThanAThousandNodes) {
  const Tree tree = on(torus({11, 11, 11}), {1});
  const Affinity cube = relabelled(grid({2, 2, 2}, false), shuffled(8, 1));
  EXPECT_EQ(cost(tree, cube, run_engine(tree, cube, {})), 12);
}

TEST(NetworkEngine, RefusesWhatIsNoWeight) {
  const Tree tree = on(torus({4}), {1});
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Affinity affinity = from_matrix({{0, 1}, {1, 0}});
    affinity.weights[0] = wrong;
    EXPECT_THROW((void)run_engine(tree, affinity, {}), ranktree::core::Error);
  }
  EXPECT_THROW((void)run_engine(tree, random_affinity(5, 50, 9, 1), {}), ranktree::core::Error);
}

TEST(NetworkEngine, HugeWeightsAndNone) {
  const Tree tree = on(torus({2, 3}), {1});
  Affinity affinity = from_matrix({{0, 1, 0}, {1, 0, 1e308}, {0, 1e308, 0}});
  const Placement found = run_engine(tree, affinity, {});
  EXPECT_EQ(tree.distance(found.leaf_of[1], found.leaf_of[2]), 1);
  EXPECT_EQ(tree.distance(found.leaf_of[0], found.leaf_of[1]), 1);
  affinity = from_matrix({{0, 0}, {0, 0}});
  EXPECT_EQ(run_engine(tree, affinity, {}).leaf_of, identity(tree, 2, {}).leaf_of);
}

TEST(NetworkPlan, ListsTrafficByDistance) {
  // A ring of 6; pairs 3, 2 and 1 apart with identity.
  const Tree tree = on(torus({6}), {1});
  const Affinity affinity = from_matrix({{0, 4, 0, 9}, {4, 0, 0, 2}, {0, 0, 0, 0}, {9, 2, 0, 0}});
  PlanOptions options;
  options.algorithm = "identity";
  const Plan plan = make_plan(tree, affinity, options);
  EXPECT_EQ(plan.levels, (std::vector<std::string>{"Network 3", "Network 2", "Network 1", "Node", "Core"}));
  EXPECT_EQ(plan.costs.front().weight, (std::vector<double>{9, 2, 4, 0, 0}));
  EXPECT_EQ(plan.costs.front().total, 27 + 4 + 4);
  EXPECT_EQ(plan.cost_by_level, (std::vector<double>{27, 4, 4, 0, 0}));
}

TEST(NetworkPlan, ManyDistancesShareLevels) {
  DistanceTable table{40, false, std::vector<double>(1600, 0)};
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 40; ++j)
      table.values[i * 40 + j] = i == j ? 0 : 100 + static_cast<double>(i + j + i * j);
  }
  const Tree tree = on(table, {1});
  const Affinity affinity = random_affinity(40, 100, 50, 8);
  const Plan plan = make_plan(tree, affinity, {});
  EXPECT_EQ(plan.levels.size(), 16U + 2U);
  const double sum = std::accumulate(plan.cost_by_level.begin(), plan.cost_by_level.end(), 0.0);
  EXPECT_NEAR(sum, plan.costs.back().total, sum * 1e-12);
  for (std::size_t level = 0; level < plan.levels.size(); ++level) {
    EXPECT_LE(plan.cost_by_level[level], plan.costs.back().weight[level] * plan.level_costs[level] * (1 + 1e-12));
  }
}

}  // namespace
