#include "core/objective/graph_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/objective/model.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/treematch.h"
#include "core/simulate/level_costs.h"
#include "core/simulate/platform.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {
namespace {

using topo::Kind;
using topo::Leaf;

constexpr std::array kObjectives{Objective::kBytes, Objective::kMessages, Objective::kBottleneck, Objective::kTime};

// As core/reorder/slots.h makes it: nodes without numbers or names. `numbered`: as simulate::Platform needs them.
topo::Tree slots(const std::vector<int>& cores, bool numbered = false) {
  topo::TreeBuilder builder({{Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kPu, {}, {}}});
  const auto root = builder.add(-1, 0);
  for (std::size_t node = 0; node < cores.size(); ++node) {
    const auto object = builder.add(root, 1, numbered ? static_cast<int>(node) : -1);
    for (int core = 0; core < cores[node]; ++core) builder.add(object, 2, core);
  }
  return std::move(builder).build();
}

pattern::Affinity graph_of(int ranks, const std::vector<double>& matrix) { return pattern::affinity(ranks, matrix); }

// One direction of each pair.
pattern::Affinity random_graph(int ranks, Random& random) {
  std::vector<double> matrix(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks), 0);
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < i; ++j) {
      if (random.below(2) == 0) continue;
      matrix[static_cast<std::size_t>(i * ranks + j)] = static_cast<double>(1 + random.below(100'000));
    }
  }
  return graph_of(ranks, matrix);
}

place::Placement in_order(const topo::Tree& tree) {
  place::Placement home;
  home.leaf_of.resize(static_cast<std::size_t>(tree.leaf_count()));
  std::iota(home.leaf_of.begin(), home.leaf_of.end(), 0);
  return home;
}

// By the formula of docs/explanation/objectives.md, pair by pair.
double cost_of(const std::vector<int>& cores, const pattern::Affinity& graph, const std::vector<Leaf>& leaf_of,
               Objective objective) {
  const topo::Tree tree = slots(cores, true);
  const simulate::Platform platform(tree, simulate::level_costs(tree));
  double hops = 0;
  double waiting = 0;
  std::map<int, double> links;
  for (pattern::Rank rank = 0; rank < graph.ranks; ++rank) {
    const auto peers = graph.neighbours(rank);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const Leaf from = leaf_of[static_cast<std::size_t>(rank)];
      const Leaf to = leaf_of[static_cast<std::size_t>(peers[i])];
      const double bytes = graph.weights_of(rank)[i] / 2;
      hops += (objective == Objective::kMessages ? 0.5 : bytes) * tree.distance(from, to);
      const simulate::Route route = platform.route(from, to);
      double narrowest = std::numeric_limits<double>::infinity();
      for (const auto link : route.links) {
        links[link] += bytes / platform.bandwidth(link);
        narrowest = std::min(narrowest, platform.bandwidth(link));
      }
      waiting += (route.latency + bytes / narrowest) / graph.ranks;
    }
  }
  if (objective == Objective::kBytes || objective == Objective::kMessages) return hops;
  double most = 0;
  for (const auto& [link, seconds] : links) most = std::max(most, seconds);
  return objective == Objective::kTime ? most + waiting : most;
}

double least_of_all(const std::vector<int>& cores, const pattern::Affinity& graph, Objective objective) {
  std::vector<Leaf> order = in_order(slots(cores)).leaf_of;
  double least = std::numeric_limits<double>::infinity();
  do least = std::min(least, cost_of(cores, graph, order, objective));
  while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(GraphOrder, IsTheBestOfAllOrdersOfFewRanksByEachObjective) {
  Random random(5);
  for (const std::vector<int>& cores : {std::vector<int>{2, 2, 2}, {3, 1, 2}, {4, 2}, {1, 1, 1, 1}}) {
    const topo::Tree tree = slots(cores);
    const pattern::Affinity graph = random_graph(tree.leaf_count(), random);
    for (const Objective objective : kObjectives) {
      const GraphOrder order = order_for_graph(tree, graph, in_order(tree), {.objective = objective});
      const double after = cost_of(cores, graph, order.placement.leaf_of, objective);
      EXPECT_NEAR(order.before, cost_of(cores, graph, in_order(tree).leaf_of, objective), 1e-9 * order.before);
      EXPECT_NEAR(order.after, after, 1e-9 * after);
      EXPECT_NEAR(after, least_of_all(cores, graph, objective), 1e-9 * after);
    }
  }
}

// The order by bytes loads one node's link more than is needed: by each objective, another order.
TEST(GraphOrder, FollowsItsObjective) {
  const std::vector<int> cores{2, 2, 2, 2};
  const topo::Tree tree = slots(cores);
  Random random(1);
  int lower = 0;
  for (int i = 0; i < 20; ++i) {
    const pattern::Affinity graph = random_graph(tree.leaf_count(), random);
    const auto by = [&](Objective objective) {
      return order_for_graph(tree, graph, in_order(tree), {.objective = objective}).placement.leaf_of;
    };
    const std::vector<Leaf> bytes = by(Objective::kBytes);
    for (const Objective objective : {Objective::kMessages, Objective::kBottleneck, Objective::kTime}) {
      const double otherwise = cost_of(cores, graph, bytes, objective);
      const double found = cost_of(cores, graph, by(objective), objective);
      EXPECT_LE(found, otherwise * (1 + 1e-9));
      lower += found < otherwise * 0.99 ? 1 : 0;
    }
  }
  EXPECT_GE(lower, 10);
}

TEST(GraphOrder, IsNeverWorseThanHomeOrACandidateOnLargerMachines) {
  Random random(9);
  const std::vector<int> cores{5, 3, 4, 4};
  const topo::Tree tree = slots(cores);
  const pattern::Affinity graph = random_graph(tree.leaf_count(), random);
  place::Placement home = in_order(tree);
  std::reverse(home.leaf_of.begin(), home.leaf_of.end());
  for (const Objective objective : kObjectives) {
    const GraphOrder alone = order_for_graph(tree, graph, home, {.objective = objective});
    EXPECT_LE(alone.after, alone.before);
    const GraphOrder again = order_for_graph(
        tree, graph, home,
        {.objective = objective, .keep_going = [] { return true; }, .candidates = {alone.placement, in_order(tree)}});
    EXPECT_LE(again.after, alone.after);
    EXPECT_LE(again.after, cost_of(cores, graph, in_order(tree).leaf_of, objective) * (1 + 1e-9));
    const GraphOrder late =
        order_for_graph(tree, graph, home, {.objective = objective, .keep_going = [] { return false; }});
    EXPECT_EQ(late.placement.leaf_of, home.leaf_of);
    EXPECT_EQ(late.after, late.before);
  }
}

// A pair of ranks on different nodes. Exchanging two ranks saves the latency of a network, and no more where a byte
// takes as long inside a node.
TEST(GraphOrder, MovesForTwoPercentOfTheModelledTimeAndForAnyBytes) {
  const topo::Tree tree = slots({2, 2});
  const auto moves = [&](double bytes, Objective objective) {
    const pattern::Affinity graph = graph_of(4, {0, 0, bytes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    const GraphOrder order = order_for_graph(tree, graph, in_order(tree), {.objective = objective});
    const bool moved = order.placement.leaf_of != in_order(tree).leaf_of;
    EXPECT_EQ(order.after < order.before, moved);
    return moved;
  };
  EXPECT_TRUE(moves(8, Objective::kTime));
  EXPECT_FALSE(moves(1e8, Objective::kTime));
  EXPECT_TRUE(moves(1e8, Objective::kBytes));
}

TEST(GraphOrder, RefusesTimesOfANetworkWithoutNodes) {
  topo::TreeBuilder builder({{Kind::kCluster, {}, {}}, {Kind::kPu, {}, {}}});
  const auto root = builder.add(-1, 0);
  builder.add(root, 1);
  builder.add(root, 1);
  const topo::Tree tree = std::move(builder).build();
  const pattern::Affinity graph = graph_of(2, {0, 5, 0, 0});
  EXPECT_THROW(order_for_graph(tree, graph, in_order(tree), {.objective = Objective::kTime}), Error);
  EXPECT_EQ(order_for_graph(tree, graph, in_order(tree), {.objective = Objective::kBytes}).after, 10);
}

TEST(OrderForPattern, CountsMessagesThatWeightsDoNotHave) {
  const topo::Tree tree = slots({2, 2});
  std::vector<pattern::Entry> entries;
  const auto add = [&entries](int a, int b, double messages, double bytes) {
    entries.push_back({a, b, pattern::Class::kPointToPoint, messages, bytes});
    entries.push_back({b, a, pattern::Class::kPointToPoint, messages, bytes});
  };
  for (const int rank : {0, 2}) add(rank, rank + 1, 1, 1e5);
  for (const int rank : {0, 1}) add(rank, rank + 2, 10000, 8e4);
  const pattern::Pattern expanded = pattern::from_entries(4, entries);
  const place::Placement home = in_order(tree);
  const GraphOrder order = order_for_pattern(tree, expanded, home, {.objective = Objective::kTime});
  const auto node = [&order](std::size_t rank) { return order.placement.leaf_of[rank] / 2; };
  EXPECT_LT(order.after, order.before);
  EXPECT_EQ(node(0), node(2));
  EXPECT_EQ(node(1), node(3));
}

// TreeMatch's placement, or the order as it is where that is cheaper.
TEST(GraphOrder, IsTreeMatchsWhereThatIsWanted) {
  Random random(5);
  const topo::Tree tree = slots({4, 4, 4, 4});
  int changed = 0;
  for (int round = 0; round < 20; ++round) {
    const pattern::Affinity graph = random_graph(16, random);
    const GraphOptions options{.algorithm = Algorithm::kTreeMatch, .seed = 3};
    const place::Placement wanted = place::treematch(tree, graph, {.seed = 3});
    const GraphOrder found = order_for_graph(tree, graph, in_order(tree), options);
    const double cost = place::evaluate(tree, graph, wanted).total;
    EXPECT_EQ(found.after, std::min(cost, found.before));
    changed += found.after < found.before ? 1 : 0;
    EXPECT_EQ(found.placement.leaf_of, found.after < found.before ? wanted.leaf_of : in_order(tree).leaf_of);
  }
  EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace ranktree::core::objective
