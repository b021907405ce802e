#include "core/reorder/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/place/placement.h"
#include "core/reorder/grid.h"
#include "core/reorder/slots.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

using topo::Kind;
using Nodes = std::vector<std::vector<int>>;  // cores of each package of each node

topo::Tree symmetric(const std::vector<int>& arities) {
  const std::vector<Kind> kinds{Kind::kCluster, Kind::kNode, Kind::kPackage, Kind::kL3, Kind::kCore};
  std::vector<topo::Level> levels;
  for (std::size_t i = 0; i < arities.size(); ++i) levels.push_back({kinds[i], {}, {}});
  levels.push_back({Kind::kPu, {}, {}});
  return topo::uniform_tree(levels, arities);
}

// Cores below packages below nodes, as many as given.
topo::Tree unequal(const Nodes& nodes) {
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
  return std::move(builder).build();
}

Slots in_order(topo::Tree tree) {
  Slots slots{std::move(tree), {}, {}};
  slots.home.leaf_of.resize(static_cast<std::size_t>(slots.tree.leaf_count()));
  std::iota(slots.home.leaf_of.begin(), slots.home.leaf_of.end(), 0);
  slots.rank_at_slot = slots.home.leaf_of;
  return slots;
}

Grid grid(std::vector<int> dims, std::vector<std::uint8_t> periodic = {}) {
  if (periodic.empty()) periodic.resize(dims.size(), 0);
  return {std::move(dims), std::move(periodic)};
}

// Coordinates of a vertex, computed step by step.
std::vector<int> coordinates(const Grid& grid, int vertex) {
  std::vector<int> result(grid.dims.size(), 0);
  for (int i = 0; i < vertex; ++i) {
    for (std::size_t j = grid.dims.size(); j-- > 0;) {
      if (++result[j] < grid.dims[j]) break;
      result[j] = 0;
    }
  }
  return result;
}

int vertex_at(const Grid& grid, const std::vector<int>& place) {
  for (int vertex = 0; vertex < grid.vertices(); ++vertex) {
    if (coordinates(grid, vertex) == place) return vertex;
  }
  return -1;
}

// Every link from a vertex upwards in each dimension, as MPI_Cart_shift would return.
std::vector<std::pair<int, int>> links(const Grid& grid) {
  std::vector<std::pair<int, int>> result;
  for (int vertex = 0; vertex < grid.vertices(); ++vertex) {
    for (std::size_t j = 0; j < grid.dims.size(); ++j) {
      auto place = coordinates(grid, vertex);
      if (++place[j] == grid.dims[j] && grid.periodic[j] == 0) continue;
      place[j] %= grid.dims[j];
      const int other = vertex_at(grid, place);
      if (other != vertex) result.emplace_back(vertex, other);
    }
  }
  return result;
}

double cost_by_links(const topo::Tree& tree, const Grid& grid, const place::Placement& placement) {
  double cost = 0;
  for (const auto& [a, b] : links(grid)) {
    cost +=
        tree.distance(placement.leaf_of[static_cast<std::size_t>(a)], placement.leaf_of[static_cast<std::size_t>(b)]);
  }
  return cost;
}

void expect_bijection(const topo::Tree& tree, const place::Placement& placement) {
  auto leaves = placement.leaf_of;
  std::sort(leaves.begin(), leaves.end());
  std::vector<topo::Leaf> all(static_cast<std::size_t>(tree.leaf_count()));
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(leaves, all);
}

// The cheapest way to share vertices out over the nodes of a tree of two levels, by trying all: each vertex in turn
// takes every node with a free slot, of empty equal nodes only the first.
class AllShares {
 public:
  AllShares(const Grid& grid, std::vector<int> free_slots) : links_(links(grid)), free_slots_(std::move(free_slots)) {
    node_of_.resize(static_cast<std::size_t>(grid.vertices()), -1);
  }
  // Links between nodes.
  int least() {
    assign(0, 0);
    return least_;
  }

 private:
  void assign(int vertex, int cut) {
    if (cut >= least_) return;
    if (vertex == static_cast<int>(node_of_.size())) {
      least_ = cut;
      return;
    }
    std::vector<int> tried_empty;
    for (std::size_t node = 0; node < free_slots_.size(); ++node) {
      if (free_slots_[node] == 0) continue;
      const bool empty =
          std::find(node_of_.begin(), node_of_.begin() + vertex, static_cast<int>(node)) == node_of_.begin() + vertex;
      if (empty && std::find(tried_empty.begin(), tried_empty.end(), free_slots_[node]) != tried_empty.end()) continue;
      if (empty) tried_empty.push_back(free_slots_[node]);
      int more = 0;
      for (const auto& [a, b] : links_) {
        if (std::max(a, b) == vertex && node_of_[static_cast<std::size_t>(std::min(a, b))] != static_cast<int>(node))
          ++more;
      }
      node_of_[static_cast<std::size_t>(vertex)] = static_cast<int>(node);
      --free_slots_[node];
      assign(vertex + 1, cut + more);
      ++free_slots_[node];
      node_of_[static_cast<std::size_t>(vertex)] = -1;
    }
  }

  std::vector<std::pair<int, int>> links_;
  std::vector<int> free_slots_;
  std::vector<int> node_of_;
  int least_ = std::numeric_limits<int>::max();
};

// The cheapest tiling by trying every way to write each arity as a product, in any order of dimensions.
double cheapest_tiling(const topo::Tree& tree, const Grid& grid, const std::vector<int>& arities) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::vector<int>> boxes{grid.dims};
  const auto evaluate = [&] {
    place::Placement placement;
    for (int vertex = 0; vertex < grid.vertices(); ++vertex) {
      const auto place = coordinates(grid, vertex);
      std::int64_t leaf = 0;
      for (std::size_t level = 1; level < boxes.size(); ++level) {
        for (std::size_t j = 0; j < place.size(); ++j) {
          const int inside = place[j] % boxes[level - 1][j];
          leaf = leaf * (boxes[level - 1][j] / boxes[level][j]) + inside / boxes[level][j];
        }
      }
      placement.leaf_of.push_back(static_cast<topo::Leaf>(leaf));
    }
    least = std::min(least, cost_by_links(tree, grid, placement));
  };
  const std::function<void(std::size_t)> down = [&](std::size_t level) {
    if (level == arities.size()) return evaluate();
    const std::vector<int> whole = boxes.back();
    std::vector<int> part = whole;
    const std::function<void(std::size_t)> choose = [&](std::size_t j) {
      if (j < whole.size()) {
        for (part[j] = 1; part[j] <= whole[j]; ++part[j]) {
          if (whole[j] % part[j] == 0) choose(j + 1);
        }
        part[j] = whole[j];
        return;
      }
      int parts = 1;
      for (std::size_t i = 0; i < whole.size(); ++i) parts *= whole[i] / part[i];
      if (parts != arities[level]) return;
      boxes.push_back(part);
      down(level + 1);
      boxes.pop_back();
    };
    choose(0);
  };
  down(0);
  return least;
}

TEST(GridLinks, AreThoseOfCartShift) {
  for (const Grid& each :
       {grid({4, 3}), grid({4, 3}, {1, 0}), grid({2, 2}, {1, 1}), grid({1, 5}, {1, 1}), grid({2, 3, 2})}) {
    std::vector<std::vector<double>> expected(static_cast<std::size_t>(each.vertices()),
                                              std::vector<double>(static_cast<std::size_t>(each.vertices()), 0));
    for (const auto& [a, b] : links(each)) {
      expected[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] += 1;
      expected[static_cast<std::size_t>(b)][static_cast<std::size_t>(a)] += 1;
    }
    const pattern::Affinity affinity = grid_affinity(each);
    std::vector<std::vector<double>> found(expected.size(), std::vector<double>(expected.size(), 0));
    for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
      for (std::size_t i = 0; i < affinity.neighbours(rank).size(); ++i) {
        found[static_cast<std::size_t>(rank)][static_cast<std::size_t>(affinity.neighbours(rank)[i])] =
            affinity.weights_of(rank)[i];
      }
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(GridLinks, RefuseWhatIsNoGrid) {
  EXPECT_THROW(grid_affinity(grid({4, 0})), Error);
  EXPECT_THROW(grid_affinity(grid({4, -2})), Error);
  EXPECT_THROW(grid_affinity(Grid{{4, 4}, {0}}), Error);
  EXPECT_THROW(grid_affinity(grid({65536, 65536})), Error);
}

// 8 links between four squares of 2 x 2, 16 inside; row order has 12 and 12.
TEST(Tiling, CutsFourByFourIntoSquares) {
  const auto tiling = tile(symmetric({4, 4}), grid({4, 4}));
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->factors, (std::vector<std::vector<int>>{{2, 2}, {2, 2}}));
  EXPECT_EQ(tiling->cost, 8 * 4 + 16 * 2);
  const std::vector<topo::Leaf> squares{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
  EXPECT_EQ(tiling->placement.leaf_of, squares);
}

// Boxes of 4 x 4, then 2 x 2: 16 links at 6 hops, 32 at 4, 64 at 2.
TEST(Tiling, CutsEightByEightTwice) {
  const auto tiling = tile(symmetric({4, 4, 4}), grid({8, 8}));
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->cost, 16 * 6 + 32 * 4 + 64 * 2);
}

// A cube on 8 nodes of 8: 2 x 2 x 2 each. 3 cuts of 16 links between, 8 cubes of 12 inside.
TEST(Tiling, CutsACubeIntoCubes) {
  const auto tiling = tile(symmetric({8, 8}), grid({4, 4, 4}));
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->factors, (std::vector<std::vector<int>>{{2, 2, 2}, {2, 2, 2}}));
  EXPECT_EQ(tiling->cost, 48 * 4 + 96 * 2);
}

// 12 cores a node: 3 x 4, not the first prime first.
TEST(Tiling, FactorsNeedNotBePrime) {
  const auto tiling = tile(symmetric({4, 12}), grid({6, 8}));
  ASSERT_TRUE(tiling);
  EXPECT_EQ(tiling->factors[0], (std::vector<int>{2, 2}));
  EXPECT_EQ(tiling->cost, 14 * 4 + (82 - 14) * 2);
}

// A ring along the long side: cutting there costs one link more than on a line.
TEST(Tiling, CountsPeriodicLinks) {
  const auto line = tile(symmetric({2, 4}), grid({4, 2}));
  const auto ring = tile(symmetric({2, 4}), grid({4, 2}, {1, 0}));
  ASSERT_TRUE(line && ring);
  EXPECT_EQ(line->cost, 2 * 4 + 8 * 2);
  EXPECT_EQ(ring->cost, 4 * 4 + 8 * 2);
}

TEST(Tiling, IsTheCheapestOfAllFactorizations) {
  struct Case {
    std::vector<int> arities;
    Grid shape;
  };
  const std::vector<Case> cases{{{4, 4}, grid({2, 8})},       {{2, 2, 6}, grid({4, 6}, {1, 1})},
                                {{6, 4}, grid({3, 8})},       {{3, 2, 2}, grid({6, 2}, {0, 1})},
                                {{4, 3, 2}, grid({2, 3, 4})}, {{2, 4, 4}, grid({4, 2, 4}, {1, 0, 1})},
                                {{8, 6}, grid({12, 4})},      {{2, 2, 2, 4}, grid({2, 2, 2, 4}, {1, 1, 1, 1})},
                                {{5, 7}, grid({7, 5})},       {{16}, grid({4, 4})}};
  for (const Case& each : cases) {
    const topo::Tree tree = symmetric(each.arities);
    const auto tiling = tile(tree, each.shape);
    ASSERT_TRUE(tiling);
    expect_bijection(tree, tiling->placement);
    EXPECT_EQ(tiling->cost, cost_by_links(tree, each.shape, tiling->placement));
    EXPECT_EQ(tiling->cost, cheapest_tiling(tree, each.shape, each.arities));
  }
}

// Two cores in one package of a node, two packages of a core in the other: both branch in two, at different costs.
TEST(Tiling, IsSilentWhereEqualBranchesCostDifferently) { EXPECT_FALSE(tile(unequal({{2}, {1, 1}}), grid({2, 2}))); }

TEST(Tiling, IsSilentWhereNothingComesOutEven) {
  EXPECT_FALSE(tile(symmetric({4, 4}), grid({4, 5})));
  EXPECT_FALSE(tile(symmetric({4, 5}), grid({2, 10, 2})));
  EXPECT_FALSE(tile(symmetric({6, 6}), grid({36, 1, 2})));
  EXPECT_FALSE(tile(symmetric({3, 5}), grid({5, 4})));
  EXPECT_TRUE(tile(symmetric({3, 5}), grid({5, 3})));
  EXPECT_FALSE(tile(unequal({{4}, {5}}), grid({3, 3})));
}

// Most of the boxes are dropped, and a good tiling is still found: 256 x 256 on 16 levels of two.
TEST(Tiling, NarrowSearchStaysClose) {
  std::vector<topo::Level> levels;
  for (int i = 0; i < 16; ++i) levels.push_back({Kind::kSwitch, {}, {}});
  levels.push_back({Kind::kCore, {}, {}});
  const topo::Tree tree = topo::uniform_tree(levels, std::vector<int>(16, 2));
  const Grid square = grid({256, 256});
  const auto wide = tile(tree, square);
  const auto narrow = tile(tree, square, 2);
  ASSERT_TRUE(wide && narrow);
  EXPECT_GE(narrow->cost, wide->cost);
  EXPECT_LE(narrow->cost, 1.05 * wide->cost);
}

TEST(Tiling, TakesOneVertex) {
  const Slots one = in_order(symmetric({1, 1}));
  for (const Grid& each : {grid({}), grid({1}), grid({1, 1}, {1, 1})}) {
    const GridPlacement placed = place_grid(one, each, {});
    EXPECT_EQ(placed.placement.leaf_of, std::vector<topo::Leaf>{0});
    EXPECT_EQ(placed.after, 0);
  }
}

struct SharedCase {
  Nodes nodes;
  Grid shape;
};

// The true optimum, over all placements and not only boxes.
TEST(PlaceGrid, IsBestOfAllOnSmallGrids) {
  const std::vector<SharedCase> cases{{{{4}, {4}, {4}, {4}}, grid({4, 4})}, {{{8}, {8}}, grid({4, 4}, {1, 1})},
                                      {{{4}, {5}}, grid({3, 3})},           {{{3}, {3}, {3}}, grid({3, 3}, {1, 0})},
                                      {{{5}, {5}, {2}}, grid({4, 3})},      {{{5}, {5}, {5}}, grid({3, 5})},
                                      {{{2}, {7}, {3}}, grid({2, 3, 2})},   {{{6}, {6}}, grid({12}, {1})},
                                      {{{1}, {7}, {4}, {3}}, grid({5, 3})}, {{{4}, {4}, {4}, {3}}, grid({3, 5})}};
  for (const SharedCase& each : cases) {
    const Slots slots = in_order(unequal(each.nodes));
    const GridPlacement placed = place_grid(slots, each.shape, {});
    expect_bijection(slots.tree, placed.placement);
    std::vector<int> free_slots;
    for (const auto& node : each.nodes) free_slots.push_back(node[0]);
    const int cut = AllShares(each.shape, free_slots).least();
    const auto all = static_cast<int>(links(each.shape).size());
    EXPECT_EQ(placed.after, 4 * cut + 2 * (all - cut)) << each.shape.dims[0] << " x ...";
    EXPECT_EQ(placed.after, cost_by_links(slots.tree, each.shape, placed.placement));
  }
}

// 30 vertices on four nodes of 8, 8, 8 and 6: no placement has fewer than 13 links between nodes (an exhaustive search
// of the kind above, 27 million steps, has none with 12); row order has 18.
TEST(PlaceGrid, IsGoodWhereGridAndTreeDoNotDivide) {
  const Slots slots = in_order(unequal({{4, 4}, {4, 4}, {4, 4}, {4, 2}}));
  const Grid shape = grid({6, 5});
  const GridPlacement placed = place_grid(slots, shape, {});
  expect_bijection(slots.tree, placed.placement);
  EXPECT_EQ(placed.before, cost_by_links(slots.tree, shape, slots.home));
  EXPECT_EQ(placed.after, cost_by_links(slots.tree, shape, placed.placement));
  const auto levels = place::evaluate(slots.tree, grid_affinity(shape), placed.placement).weight;
  EXPECT_EQ(levels[0], 13);
  EXPECT_LT(placed.after, placed.before);
}

TEST(PlaceGrid, NeverCostsMoreThanLeavingAll) {
  for (const int seed : {1, 2, 3, 4, 5, 6}) {
    Slots slots = in_order(unequal({{3, 1}, {2, 2}, {1, 1, 1}, {5}}));
    std::rotate(slots.home.leaf_of.begin(), slots.home.leaf_of.begin() + seed, slots.home.leaf_of.end());
    const GridPlacement placed = place_grid(slots, grid({4, 4}, {static_cast<std::uint8_t>(seed % 2), 0}), {});
    EXPECT_LE(placed.after, placed.before);
    EXPECT_LE(placed.before,
              cost_by_links(slots.tree, grid({4, 4}, {static_cast<std::uint8_t>(seed % 2), 0}), slots.home));
    expect_bijection(slots.tree, placed.placement);
  }
}

// A grid that sits well already stays: no process is moved for nothing.
TEST(PlaceGrid, LeavesAGoodOrderAlone) {
  const Slots slots = in_order(symmetric({4, 4}));
  const GridPlacement placed = place_grid(slots, grid({4, 2, 2}), {});
  EXPECT_EQ(placed.method, GridMethod::kIdentity);
  EXPECT_EQ(placed.placement.leaf_of, slots.home.leaf_of);
  EXPECT_EQ(placed.before, placed.after);
}

TEST(PlaceGrid, RefusesAnotherNumberOfVertices) {
  EXPECT_THROW(place_grid(in_order(symmetric({4, 4})), grid({3, 5}), {}), Error);
}

}  // namespace
}  // namespace ranktree::core::reorder
