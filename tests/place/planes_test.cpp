// Grids divided by planes: any tree, any number of spare slots.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/workers.h"
#include "core/place/engine.h"
#include "core/place/graph/graph.h"
#include "core/place/order/lattice.h"
#include "core/place/order/ordered.h"
#include "core/place/slots/slot_tree.h"
#include "core/place/tile/lattice_tiling.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using namespace ranktree::test;
using engine::SlotTree;
namespace topo = ranktree::core::topo;
using ranktree::core::at;

struct Divided {
  engine::Ordered ordered;
  engine::LatticePlanes planes;
};

Divided divided(const SlotTree& tree, const Affinity& affinity) {
  ranktree::core::Workers workers(1, {});
  Divided result{engine::put_in_order(affinity, workers), {}};
  EXPECT_TRUE(result.ordered.lattice);
  if (result.ordered.lattice)
    result.planes = engine::divide_lattice(tree, result.ordered.graph, *result.ordered.lattice);
  return result;
}

// The weight between different groups of the first level, each pair once, over that of the lightest pair.
double crossing(const SlotTree& tree, const engine::Graph& graph, const std::vector<SlotTree::Slot>& slot_of) {
  double sum = 0;
  double lightest = graph.arcs.front().weight;
  for (engine::Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const auto& arc : graph.arcs_of(vertex)) {
      lightest = std::min<double>(lightest, arc.weight);
      if (arc.to > vertex && tree.group(1, slot_of[at(vertex)]) != tree.group(1, slot_of[at(arc.to)]))
        sum += arc.weight;
    }
  }
  return sum / lightest;
}

void expect_own_slots(const SlotTree& tree, std::vector<SlotTree::Slot> slot_of) {
  std::sort(slot_of.begin(), slot_of.end());
  EXPECT_EQ(std::adjacent_find(slot_of.begin(), slot_of.end()), slot_of.end());
  EXPECT_GE(slot_of.front(), 0);
  EXPECT_LT(slot_of.back(), tree.slots());
}

// A grid of 4 x 4 whose pairs along the first dimension weigh `first`, along the other `second`.
Affinity weighted(double first, double second) {
  Affinity affinity = lattice({4, 4}, {0, 0}, 1);
  for (int rank = 0; rank < affinity.ranks; ++rank) {
    for (std::int64_t i = affinity.indptr[at(rank)]; i < affinity.indptr[at(rank) + 1]; ++i) {
      const int far = affinity.indices[at(i)] - rank;
      affinity.weights[at(i)] = far == 4 || far == -4 ? first : second;
    }
  }
  return affinity;
}

TEST(Planes, GiveEveryRankASlotOfItsOwn) {
  struct Case {
    std::vector<int> sizes;
    std::vector<std::uint8_t> wraps;
    std::vector<int> arities;
  };
  const std::vector<Case> cases{{{5, 3}, {0, 0}, {2, 8}},
                                {{7, 5, 3}, {0, 0, 0}, {4, 3, 9}},
                                {{17}, {0}, {3, 7}},
                                {{12}, {1}, {5, 3}},
                                {{5, 5, 5}, {1, 0, 1}, {5, 5, 5}},
                                {{9, 2}, {0, 0}, {64, 2, 4}},
                                {{6, 5, 3}, {1, 1, 0}, {1, 90}},
                                {{2, 2, 2, 2}, {0, 0, 0, 0}, {3, 2, 3}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(testing::PrintToString(each.sizes));
    const SlotTree tree(machine(each.arities), {});
    const Divided found = divided(tree, lattice(each.sizes, each.wraps, 3));
    expect_own_slots(tree, found.planes.packed);
    if (tree.slots() > found.ordered.graph.vertices()) {
      expect_own_slots(tree, found.planes.loose);
    } else {
      EXPECT_TRUE(found.planes.loose.empty());
    }
  }
}

TEST(Planes, FollowSubtreesOfDifferentSizes) {
  topo::TreeBuilder builder({{topo::Kind::kCluster}, {topo::Kind::kNode}, {topo::Kind::kCore}});
  const auto root = builder.add(-1, 0);
  int node_number = 0;
  for (const int cores : {4, 12, 1, 8}) {
    const auto node = builder.add(root, 1, node_number++);
    for (int core = 0; core < cores; ++core) builder.add(node, 2, core);
  }
  const SlotTree tree(std::move(builder).build(), {});
  const Divided full = divided(tree, lattice({5, 5}, {0, 0}, 1));
  expect_own_slots(tree, full.planes.packed);
  const Divided spare = divided(tree, lattice({7, 3}, {0, 0}, 1));
  expect_own_slots(tree, spare.planes.packed);
  expect_own_slots(tree, spare.planes.loose);
}

// Four rows of three on two nodes of eight: between the second and the third row pass three pairs.
TEST(Planes, PassBetweenLayersWhereSlotsAreSpare) {
  const SlotTree tree(machine({2, 8}), {});
  const Divided found = divided(tree, lattice({4, 3}, {0, 0}, 1));
  EXPECT_EQ(crossing(tree, found.ordered.graph, found.planes.loose), 3);
}

// Five rows of three on nodes of eight: one node gets two rows and two more ranks, so that four pairs cross.
TEST(Planes, PassInsideALayerWhereTheyMust) {
  const SlotTree tree(machine({2, 8}), {});
  const Divided found = divided(tree, lattice({5, 3}, {0, 0}, 1));
  EXPECT_EQ(crossing(tree, found.ordered.graph, found.planes.packed), 4);
}

TEST(Planes, CrossTheLightestPairs) {
  const SlotTree tree(machine({2, 8}), {});
  for (const bool first : {false, true}) {
    const Divided found = divided(tree, first ? weighted(1, 10) : weighted(10, 1));
    EXPECT_EQ(crossing(tree, found.ordered.graph, found.planes.packed), 4);
    EXPECT_TRUE(found.planes.uniform);
  }
}

// A ring of six beside a line of six: a plane across the ring is paid twice.
TEST(Planes, CountBothEndsOfARing) {
  const SlotTree tree(machine({2, 18}), {});
  const Divided found = divided(tree, lattice({6, 6}, {1, 0}, 1));
  EXPECT_EQ(crossing(tree, found.ordered.graph, found.planes.packed), 6);
}

// 30 ranks fill two nodes of 16; else they are on all of the eight.
TEST(Planes, PackedOnesUseAsFewSubtreesAsHoldAll) {
  const SlotTree tree(machine({8, 16}), {});
  const Divided found = divided(tree, lattice({6, 5}, {0, 0}, 1));
  EXPECT_LT(*std::max_element(found.planes.packed.begin(), found.planes.packed.end()), 32);
  EXPECT_GE(*std::max_element(found.planes.loose.begin(), found.planes.loose.end()), 112);
}

// By weights of 1 that are scaled inside: costs are compared as evaluate() counts.
TEST(Planes, SettleLargeGridsWithSpareSlots) {
  const Tree machine_tree = machine({64, 2, 1024});
  const Affinity affinity = renumbered(lattice({320, 320}, {0, 0}, 1), 5);
  const SlotTree tree(machine_tree, {});
  const Divided found = divided(tree, affinity);
  double cheapest = std::numeric_limits<double>::infinity();
  for (const auto& slot_of : {found.planes.packed, found.planes.loose}) {
    std::vector<SlotTree::Slot> by_rank(slot_of.size());
    for (std::size_t i = 0; i < slot_of.size(); ++i) by_rank[at(found.ordered.order[i])] = slot_of[i];
    cheapest = std::min(cheapest, cost(machine_tree, affinity, engine::placement_of(tree, by_rank)));
  }
  EngineOptions options;
  options.preset = Preset::kFast;
  EXPECT_EQ(cost(machine_tree, affinity, run_engine(machine_tree, affinity, options)), cheapest);
}

}  // namespace
