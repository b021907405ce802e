// Placing without a centre beside placing with one, the parts it is made of, and that it does not matter who holds
// what.
#include "core/reorder/distributed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/reorder/halves.h"
#include "core/reorder/network.h"
#include "core/reorder/slots.h"
#include "core/reorder/survey.h"
#include "core/split/chain.h"
#include "distributed/graphs.h"
#include "distributed/local_network.h"

namespace ranktree::test {
namespace {

using core::pattern::Affinity;
using core::reorder::DistributedOptions;
using core::reorder::DistributedOrder;
using core::reorder::LoneNetwork;
using core::reorder::Network;
using core::reorder::Part;
using core::reorder::Share;
using core::reorder::Sides;
using core::reorder::Slots;
using core::reorder::WeightedGraph;
using core::split::Chain;

// `ids` of one shard.
std::vector<Share> shares_of(const Affinity& affinity, const std::vector<Chain>& chains, const std::vector<int>& ids) {
  std::vector<Share> shares;
  for (const int id : ids) {
    shares.push_back({affinity.neighbours(id), affinity.weights_of(id), chains[place_of(id)]});
  }
  return shares;
}

DistributedOrder order_in_one_process(const Affinity& affinity, const std::vector<Chain>& chains,
                                      const DistributedOptions& options) {
  LoneNetwork network(affinity.ranks);
  DistributedOrder order;
  order_distributed(network, shares_of(affinity, chains, network.held()), options, order);
  return order;
}

double cost_of(const Affinity& affinity, const Slots& slots, const std::vector<int>& vertex_of_process) {
  core::place::Placement placement{std::vector<core::topo::Leaf>(vertex_of_process.size())};
  for (std::size_t process = 0; process < vertex_of_process.size(); ++process) {
    placement.leaf_of[place_of(vertex_of_process[process])] = slots.home.leaf_of[process];
  }
  return evaluate(slots.tree, affinity, placement).total;
}

// The costs are those of the whole, the vertices are dealt out once each; returns the cost over the centre's.
double ratio_to_central(const Affinity& affinity, const std::vector<Chain>& chains, int coarse_vertices) {
  const Slots slots = core::reorder::slots_of(chains);
  DistributedOptions options;
  options.coarse_vertices = coarse_vertices;
  const DistributedOrder order = order_in_one_process(affinity, chains, options);
  EXPECT_EQ(std::set<int>(order.vertex.begin(), order.vertex.end()).size(), chains.size());
  EXPECT_DOUBLE_EQ(order.before.value(), evaluate(slots.tree, affinity, slots.home).total);
  EXPECT_DOUBLE_EQ(order.after.value(), cost_of(affinity, slots, order.vertex));
  EXPECT_LE(order.after, order.before);
  core::place::EngineOptions central;
  central.start = slots.home;
  const auto placement = run_engine(slots.tree, affinity, central);
  const double cost = evaluate(slots.tree, affinity, placement).total;
  return cost == 0 ? 1 : *order.after / cost;
}

TEST(OrderDistributed, CostsWhatTheCentreCostsWhereOneProcessCanHoldAll) {
  const auto chains = machine_chains({4, 2, 4}, 32, true);
  EXPECT_EQ(ratio_to_central(stencil(4, 8, 1, false, 1), chains, 32), 1);
  EXPECT_EQ(ratio_to_central(random_graph(32, 90, 1), chains, 32), 1);
}

struct Case {
  std::string name;
  Affinity affinity;
  std::vector<int> arities;
  int coarse_vertices;
};

TEST(OrderDistributed, IsWithinThreePercentOfTheCentre) {
  const std::vector<Case> cases{
      {"2D", stencil(16, 32, 1, false, 3), {4, 16, 2, 4}, 128},
      {"2D with corners", stencil(16, 32, 1, true, 4), {4, 16, 2, 4}, 256},
      {"3D", stencil(8, 8, 16, false, 5), {8, 16, 2, 4}, 256},
      {"3D with corners", stencil(8, 8, 16, true, 6), {8, 16, 2, 4}, 256},
      {"3D with corners in its own order", stencil(8, 8, 16, true, 0), {8, 16, 2, 4}, 256},
      {"geometric", geometric(512, 0.086, 7), {4, 16, 2, 4}, 128},
      {"CG", conjugate_gradient(16, 8), {16, 2, 8}, 64},
      {"three switches of unequal use", stencil(10, 10, 1, false, 9), {5, 4, 6}, 25},
  };
  for (const Case& one : cases) {
    const auto chains = machine_chains(one.arities, one.affinity.ranks);
    EXPECT_LE(ratio_to_central(one.affinity, chains, one.coarse_vertices), 1.03) << one.name;
  }
}

TEST(OrderDistributed, GivesWeightsNearTheLargestDoubleTheSameOrder) {
  const auto chains = machine_chains({4, 2, 4}, 32, true);
  for (const int coarse : {4, 8, 32}) {
    DistributedOptions options;
    options.coarse_vertices = coarse;
    Affinity affinity = random_graph(32, 200, 5);  // weights up to 100
    const DistributedOrder plain = order_in_one_process(affinity, chains, options);
    ASSERT_LT(*plain.after, *plain.before);
    const double factor = std::ldexp(1.0, 1016);  // 100 becomes 7e307: two of them have no sum
    for (double& weight : affinity.weights) weight *= factor;
    const DistributedOrder huge = order_in_one_process(affinity, chains, options);
    EXPECT_EQ(huge.vertex, plain.vertex) << coarse;
  }
}

TEST(OrderDistributed, TakesWhateverGraphAndMachineThereIs) {
  std::uint64_t seed = 1;
  for (const int ranks : {1, 2, 3, 5, 7, 13, 24, 61}) {
    for (const int edges : {0, 1, ranks / 2, 3 * ranks, 20 * ranks}) {
      for (const int coarse : {1, 2, 5, 1000}) {
        const auto chains = machine_chains({5, 3, 5}, ranks, seed % 2 == 0);
        const Affinity affinity = random_graph(ranks, edges, seed++);
        EXPECT_LE(ratio_to_central(affinity, chains, coarse), 2) << ranks << ' ' << edges << ' ' << coarse;
      }
    }
  }
}

// One vertex that all others talk to: nothing can be merged but with it.
TEST(OrderDistributed, TakesStars) {
  Edges edges;
  for (int i = 1; i < 64; ++i) edges[{0, i}] = i;
  EXPECT_LE(ratio_to_central(from_edges(64, edges), machine_chains({8, 2, 4}, 64, true), 8), 1.03);
}

TEST(OrderDistributed, TakesRanksThatAreBoundLoosely) {
  auto chains = machine_chains({4, 2, 4}, 32);
  for (std::size_t i = 0; i < chains.size(); i += 3) chains[i].pop_back();
  chains[7].clear();
  EXPECT_LE(ratio_to_central(stencil(4, 8, 1, false, 2), chains, 8), 1.2);
}

TEST(OrderDistributed, AnswersAlikeHoweverIdsAreSpread) {
  const Affinity affinity = stencil(4, 4, 6, true, 5);
  const auto chains = machine_chains({6, 2, 8}, 96, true);
  DistributedOptions options;
  options.coarse_vertices = 12;
  const DistributedOrder expected = order_in_one_process(affinity, chains, options);
  EXPECT_LT(expected.after, expected.before);
  for (const int shards : {2, 7, 96}) {
    std::vector<int> vertex(96, -1);
    LocalNetwork(96, shards).run([&](Network& network) {
      DistributedOrder order;
      const std::vector<int> held = network.held();
      order_distributed(network, shares_of(affinity, chains, held), options, order);
      EXPECT_EQ(order.after, expected.after);
      EXPECT_EQ(order.before, expected.before);
      for (std::size_t i = 0; i < held.size(); ++i) vertex[place_of(held[i])] = order.vertex[i];
    });
    EXPECT_EQ(vertex, expected.vertex) << shards << " shards";
  }
}

TEST(OrderDistributed, LooksElsewhereWithAnotherSeed) {
  const Affinity affinity = random_graph(96, 300, 3);
  const auto chains = machine_chains({6, 2, 8}, 96);
  DistributedOptions options;
  options.coarse_vertices = 12;
  const auto first = order_in_one_process(affinity, chains, options);
  EXPECT_EQ(first.vertex, order_in_one_process(affinity, chains, options).vertex);
  options.engine.seed = 2;
  EXPECT_NE(first.vertex, order_in_one_process(affinity, chains, options).vertex);
}

TEST(OrderDistributed, MovesNoRankWhereNothingIsCheaper) {
  const auto chains = machine_chains({4, 2, 2}, 16);
  const DistributedOrder order = order_in_one_process(stencil(16, 1, 1, false, 0), chains, {});
  EXPECT_EQ(order.after, order.before);
  EXPECT_TRUE(std::is_sorted(order.vertex.begin(), order.vertex.end()));
}

TEST(OrderDistributed, RefusesAnEdgeThatOneEndDoesNotKnow) {
  Affinity affinity = stencil(4, 4, 1, false, 0);
  affinity.indices[0] = 9;
  EXPECT_THROW(order_in_one_process(affinity, machine_chains({4, 2, 2}, 16), {}), core::Error);
}

TEST(Divide, HalvesChildrenAndNeverCutsThem) {
  // 3 nodes of 4, 4 and 2 ranks.
  const Slots slots = core::reorder::slots_of(machine_chains({3, 2, 2}, 10));
  const std::vector<Part> parts = core::reorder::divide(slots, 4);
  ASSERT_EQ(parts.size(), 5U);
  EXPECT_EQ(parts[0].count, 10);
  // 4 : 6 is nearer to the middle than 8 : 2.
  EXPECT_EQ(parts[place_of(parts[0].left)].count, 4);
  const Part right = parts[place_of(parts[0].right)];
  EXPECT_EQ(right.first, 4);
  EXPECT_EQ(right.leader, 4);
  EXPECT_EQ(parts[place_of(right.left)].count, 4);
  EXPECT_EQ(parts[place_of(right.right)].count, 2);
  EXPECT_EQ(parts[place_of(right.right)].depth, 2);
}

TEST(Divide, EndsAtSingleLeaves) {
  const Slots slots = core::reorder::slots_of(machine_chains({2, 3}, 6));
  const std::vector<Part> parts = core::reorder::divide(slots, 1);
  EXPECT_EQ(std::count_if(parts.begin(), parts.end(), [](const Part& part) { return part.left < 0; }), 6);
  EXPECT_EQ(parts.size(), 11U);
}

WeightedGraph graph_of(const Affinity& affinity) {
  WeightedGraph graph;
  graph.weight.assign(place_of(affinity.ranks), 1);
  graph.begin.assign(affinity.indptr.begin(), affinity.indptr.end());
  graph.peers = affinity.indices;
  graph.weights = affinity.weights;
  return graph;
}

// Weight of the edges between the halves.
double cut_between(const WeightedGraph& graph, const Sides& sides) {
  double cut = 0;
  for (std::size_t vertex = 0; vertex + 1 < graph.begin.size(); ++vertex) {
    for (std::size_t i = graph.begin[vertex]; i < graph.begin[vertex + 1]; ++i) {
      if (sides[vertex] < sides[static_cast<std::size_t>(graph.peers[i])]) cut += graph.weights[i];
    }
  }
  return cut;
}

TEST(FindHalves, CutsAGridAcross) {
  const WeightedGraph graph = graph_of(stencil(8, 32, 1, false, 1));
  const Sides sides = core::reorder::find_halves(graph, 128, 4, 1);
  EXPECT_EQ(std::count(sides.begin(), sides.end(), 0), 128);
  EXPECT_EQ(cut_between(graph, sides), 800);
}

TEST(FindHalves, MeetsAnUnequalTarget) {
  const WeightedGraph graph = graph_of(stencil(6, 15, 1, false, 1));
  const Sides sides = core::reorder::find_halves(graph, 30, 4, 1);
  EXPECT_EQ(std::count(sides.begin(), sides.end(), 0), 30);
  EXPECT_EQ(cut_between(graph, sides), 600);
}

TEST(FindHalves, EndsWhereSumsOfWeightsAreTooLargeForADouble) {
  WeightedGraph graph = graph_of(stencil(8, 32, 1, false, 1));
  for (double& weight : graph.weights) weight *= 1e306;  // 100 becomes 1e308
  const Sides sides = core::reorder::find_halves(graph, 128, 4, 1);
  EXPECT_EQ(std::count(sides.begin(), sides.end(), 0), 128);
  EXPECT_EQ(cut_between(graph_of(stencil(8, 32, 1, false, 1)), sides), 800);
}

TEST(Refine, FollowsPullsFromOutside) {
  WeightedGraph graph = graph_of(stencil(2, 1, 1, false, 0));
  graph.pull = {500, -500};
  Sides sides{0, 1};
  EXPECT_EQ(core::reorder::refine(graph, sides, 0, 0), 0);
  EXPECT_EQ(sides, (Sides{1, 0}));
}

TEST(Refine, MakesUpForAnExcess) {
  const WeightedGraph graph = graph_of(stencil(10, 1, 1, false, 0));
  Sides sides{0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
  EXPECT_EQ(core::reorder::refine(graph, sides, 3, 0), 0);
  EXPECT_EQ(sides, (Sides{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace ranktree::test
