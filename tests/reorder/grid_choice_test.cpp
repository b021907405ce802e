#include "core/reorder/grid_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/reorder/grid.h"
#include "core/reorder/grid_pattern.h"
#include "core/reorder/slots.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

using topo::Kind;
using Dims = std::vector<int>;
using Nodes = std::vector<std::vector<int>>;  // cores of each package of each node

Slots in_order(topo::Tree tree) {
  Slots slots{std::move(tree), {}, {}};
  slots.home.leaf_of.resize(static_cast<std::size_t>(slots.tree.leaf_count()));
  std::iota(slots.home.leaf_of.begin(), slots.home.leaf_of.end(), 0);
  slots.rank_at_slot = slots.home.leaf_of;
  return slots;
}

Slots machine(const Nodes& nodes) {
  topo::TreeBuilder builder(
      {{Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kPackage, {}, {}}, {Kind::kPu, {}, {}}});
  const auto root = builder.add(-1, 0);
  for (const auto& packages : nodes) {
    const auto node = builder.add(root, 1);
    for (const int cores : packages) {
      const auto package = builder.add(node, 2);
      for (int core = 0; core < cores; ++core) builder.add(package, 3);
    }
  }
  return in_order(std::move(builder).build());
}

Nodes alike(int nodes, std::vector<int> packages) {
  return Nodes(static_cast<std::size_t>(nodes), std::move(packages));
}

// Every grid of so many processes with the dimensions given, by trying all lengths.
std::set<Dims> all_grids(int vertices, const Dims& given) {
  std::set<Dims> found;
  Dims dims = given;
  const std::function<void(std::size_t, int)> fill = [&](std::size_t j, int rest) {
    if (j == dims.size()) {
      if (rest == 1) found.insert(dims);
      return;
    }
    for (int length = 1; length <= rest; ++length) {
      if (rest % length != 0 || (given[j] != 0 && given[j] != length)) continue;
      dims[j] = length;
      fill(j + 1, rest / length);
    }
  };
  fill(0, vertices);
  return found;
}

double plane_weight(const GridTraffic& traffic, std::size_t j) {
  return traffic.plane_weights.empty() ? 1 : traffic.plane_weights[j];
}

struct Link {
  int a = 0;
  int b = 0;
  double weight = 0;
};

// From the definition: a plane's weight is shared by the links that cross it.
std::vector<Link> links_of(const Dims& dims, const GridTraffic& traffic) {
  const int vertices = std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>());
  std::vector<Link> links;
  for (int vertex = 0; vertex < vertices; ++vertex) {
    int stride = 1;
    for (std::size_t j = dims.size(); j-- > 0; stride *= dims[j]) {
      const int place = vertex / stride % dims[j];
      const bool last = place + 1 == dims[j];
      if (dims[j] == 1 || (last && traffic.periodic[j] == 0)) continue;
      const int other = last ? vertex - place * stride : vertex + stride;
      links.push_back({vertex, other, plane_weight(traffic, j) / (vertices / dims[j])});
    }
  }
  return links;
}

double cost_of(const topo::Tree& tree, const std::vector<Link>& links, const std::vector<topo::Leaf>& leaf_of) {
  double cost = 0;
  for (const Link& link : links) {
    cost += link.weight *
            tree.distance(leaf_of[static_cast<std::size_t>(link.a)], leaf_of[static_cast<std::size_t>(link.b)]);
  }
  return cost;
}

// The least cost of all grids and all placements.
double least_of_all(const topo::Tree& tree, const GridTraffic& traffic) {
  double least = std::numeric_limits<double>::infinity();
  for (const Dims& dims : all_grids(tree.leaf_count(), traffic.dims)) {
    const std::vector<Link> links = links_of(dims, traffic);
    std::vector<topo::Leaf> order(static_cast<std::size_t>(tree.leaf_count()));
    std::iota(order.begin(), order.end(), 0);
    do least = std::min(least, cost_of(tree, links, order));
    while (std::next_permutation(order.begin(), order.end()));
  }
  return least;
}

void expect_own_cost(const Slots& slots, const GridTraffic& traffic, const ChosenGrid& chosen) {
  const std::vector<Link> links = links_of(chosen.grid.dims, traffic);
  EXPECT_TRUE(all_grids(slots.tree.leaf_count(), traffic.dims).contains(chosen.grid.dims));
  EXPECT_NEAR(chosen.placed.after, cost_of(slots.tree, links, chosen.placed.placement.leaf_of), 1e-9);
  EXPECT_NEAR(chosen.placed.before, cost_of(slots.tree, links, slots.home.leaf_of), 1e-9);
  std::vector<topo::Leaf> used = chosen.placed.placement.leaf_of;
  std::sort(used.begin(), used.end());
  std::vector<topo::Leaf> all(used.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(used, all);
}

GridTraffic random_traffic(std::size_t dimensions, Random& random) {
  GridTraffic traffic;
  traffic.dims.assign(dimensions, 0);
  for (std::size_t j = 0; j < dimensions; ++j) {
    traffic.periodic.push_back(static_cast<std::uint8_t>(random.below(2)));
    traffic.plane_weights.push_back(static_cast<double>(random.below(30)));
  }
  return traffic;
}

TEST(GridChoice, IsBestOfAllGridsAndPlacementsOfFewProcesses) {
  const std::vector<Nodes> machines{{{4, 3}},      {{3}, {3}},       {{5}, {1}},   {{2}, {2, 2}},
                                    alike(2, {4}), alike(2, {2, 2}), {{3, 2}, {3}}};
  Random random(7);
  for (const Nodes& nodes : machines) {
    const Slots slots = machine(nodes);
    for (const std::size_t dimensions : {1U, 2U, 3U}) {
      const GridTraffic traffic = random_traffic(dimensions, random);
      const ChosenGrid chosen = choose_grid(slots, traffic, {});
      expect_own_cost(slots, traffic, chosen);
      EXPECT_NEAR(chosen.placed.after, least_of_all(slots.tree, traffic), 1e-9);
    }
  }
}

// More processes than those for which every grid is placed: the same cost as by placing them all.
TEST(GridChoice, LeavesNoBetterGridOut) {
  const std::vector<Nodes> machines{alike(4, {4, 4}), alike(3, {12}), alike(6, {3, 3}), {{16}, {8}, {8, 4}}};
  Random random(3);
  for (const Nodes& nodes : machines) {
    const Slots slots = machine(nodes);
    ASSERT_GT(slots.tree.leaf_count(), kAllVertices);
    for (const std::size_t dimensions : {2U, 3U}) {
      const GridTraffic traffic = random_traffic(dimensions, random);
      const ChosenGrid chosen = choose_grid(slots, traffic, {});
      expect_own_cost(slots, traffic, chosen);
      double least = std::numeric_limits<double>::infinity();
      for (const Grid& grid : grids_by_traffic(slots.tree.leaf_count(), traffic)) {
        least = std::min(least, place_grid(slots, grid, {}).after / slots.tree.leaf_count());
      }
      EXPECT_NEAR(chosen.placed.after, least, 1e-9);
    }
  }
}

// A plane of the first dimension carries 50 times as much: one cut of it between two nodes at most.
TEST(GridChoice, CutsWhereLittleIsExchanged) {
  const Slots slots = machine(alike(4, {4}));
  const ChosenGrid chosen = choose_grid(slots, {{0, 0}, {0, 0}, {50, 1}}, {});
  EXPECT_EQ(chosen.grid.dims, (Dims{1, 16}));
  EXPECT_EQ(chosen.placed.after, 3 * 4 + 12 * 2);
  const ChosenGrid equal = choose_grid(slots, {{0, 0}, {0, 0}, {}}, {});
  EXPECT_EQ(equal.grid.dims, (Dims{4, 4}));
}

TEST(GridChoice, KeepsTheDimensionsGiven) {
  const Slots slots = machine(alike(2, {6}));
  EXPECT_EQ(choose_grid(slots, {{3, 0}, {0, 0}, {1, 100}}, {}).grid.dims, (Dims{3, 4}));
  EXPECT_EQ(choose_grid(slots, {{2, 6}, {0, 0}, {}}, {}).grid.dims, (Dims{2, 6}));
  EXPECT_EQ(choose_grid(machine({{1}}), {{}, {}, {}}, {}).grid.dims, Dims{});
}

TEST(GridChoice, IsTheSameEachTime) {
  const Slots slots = machine({{5, 4}, {7}, {4, 4}, {6, 6}});
  const GridTraffic traffic{{0, 0, 0}, {1, 0, 1}, {3, 5, 7}};
  const ChosenGrid first = choose_grid(slots, traffic, {});
  const ChosenGrid second = choose_grid(slots, traffic, {});
  EXPECT_EQ(first.grid.dims, second.grid.dims);
  EXPECT_EQ(first.placed.placement.leaf_of, second.placed.placement.leaf_of);
}

TEST(GridsByTraffic, AreAllGridsTheLeastTrafficFirst) {
  Random random(11);
  for (const int vertices : {1, 2, 7, 12, 36, 64, 210}) {
    for (const std::size_t dimensions : {1U, 2U, 3U}) {
      GridTraffic traffic = random_traffic(dimensions, random);
      if (dimensions > 1 && random.below(3) == 0) traffic.dims[0] = vertices % 2 == 0 ? 2 : 1;
      const std::vector<Grid> grids = grids_by_traffic(vertices, traffic);
      EXPECT_EQ(grids_of(vertices, traffic), static_cast<std::int64_t>(grids.size()));
      std::set<Dims> found;
      std::vector<double> sums;
      for (const Grid& grid : grids) {
        found.insert(grid.dims);
        sums.push_back(0);
        for (const Link& link : links_of(grid.dims, traffic)) sums.back() += link.weight;
      }
      EXPECT_EQ(found, all_grids(vertices, traffic.dims));
      EXPECT_EQ(found.size(), grids.size());
      for (std::size_t i = 1; i < sums.size(); ++i) EXPECT_LE(sums[i - 1], sums[i] + 1e-9);
    }
  }
}

TEST(GridsByTraffic, RefuseWhatIsNoGrid) {
  EXPECT_THROW(grids_by_traffic(6, {{4, 0}, {0, 0}, {}}), Error);
  EXPECT_THROW(grids_by_traffic(6, {{2, 2}, {0, 0}, {}}), Error);
  EXPECT_THROW(grids_by_traffic(6, {{-2, 0}, {0, 0}, {}}), Error);
  EXPECT_THROW(grids_by_traffic(6, {{0, 0}, {0}, {}}), Error);
  EXPECT_THROW(grids_by_traffic(6, {{0, 0}, {0, 0}, {1}}), Error);
  EXPECT_THROW(grids_by_traffic(6, {{0, 0}, {0, 0}, {1, -1}}), Error);
  EXPECT_THROW(grids_by_traffic(6, {{0, 0}, {0, 0}, {1, std::numeric_limits<double>::quiet_NaN()}}), Error);
  const GridTraffic many{Dims(20, 0), std::vector<std::uint8_t>(20, 0), {}};
  EXPECT_EQ(grids_of(1 << 20, many), kMostGrids + 1);
  EXPECT_THROW(grids_by_traffic(1 << 20, many), Error);
}

// Dimensions are in MPI's order where the ranks are; other numbers change their order at most.
TEST(GridOfPattern, FindsDimensionsAndTraffic) {
  const GridTraffic traffic{{3, 8}, {1, 0}, {12, 40}};
  std::vector<int> number(24);
  std::iota(number.begin(), number.end(), 0);
  Random random(2);
  for (std::size_t i = number.size(); i-- > 1;) std::swap(number[i], number[random.below(i + 1)]);
  std::vector<double> matrix(24 * 24, 0);
  for (const Link& link : links_of(traffic.dims, traffic)) {
    matrix[static_cast<std::size_t>(number[static_cast<std::size_t>(link.a)] * 24 +
                                    number[static_cast<std::size_t>(link.b)])] = link.weight;
  }
  const auto found = grid_of_pattern(pattern::affinity(24, matrix));
  ASSERT_TRUE(found);
  const std::size_t first = found->dims[0] == 3 ? 0 : 1;
  EXPECT_EQ(found->dims[first], 3);
  EXPECT_EQ(found->dims[1 - first], 8);
  EXPECT_EQ(found->periodic[first], 1);
  EXPECT_EQ(found->periodic[1 - first], 0);
  EXPECT_NEAR(found->plane_weights[first], 12, 1e-9);
  EXPECT_NEAR(found->plane_weights[1 - first], 40, 1e-9);
  std::fill(matrix.begin(), matrix.end(), 0);
  for (const Link& link : links_of(traffic.dims, traffic)) {
    matrix[static_cast<std::size_t>(link.a * 24 + link.b)] = link.weight;
  }
  const auto in_order = grid_of_pattern(pattern::affinity(24, matrix));
  ASSERT_TRUE(in_order);
  EXPECT_EQ(in_order->dims, traffic.dims);
}

TEST(GridOfPattern, IsSilentWhereThePatternIsNoGrid) {
  std::vector<double> matrix(24 * 24, 0);
  for (std::size_t i = 1; i < 24; ++i) matrix[i] = 5;  // a star
  EXPECT_FALSE(grid_of_pattern(pattern::affinity(24, matrix)));
  const GridTraffic doubtful{{6, 2, 2}, {0, 0, 0}, {1, 1, 1}};  // or 6 x 4, the latter periodic
  std::fill(matrix.begin(), matrix.end(), 0);
  for (const Link& link : links_of(doubtful.dims, doubtful)) {
    matrix[static_cast<std::size_t>(link.a * 24 + link.b)] = link.weight;
  }
  EXPECT_FALSE(grid_of_pattern(pattern::affinity(24, matrix)));
}

}  // namespace
}  // namespace ranktree::core::reorder
