// Grids recognised and tiled whatever the numbering, and orders that follow the structure alone.
#include "core/place/order/lattice.h"
#include "core/base/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/divide/regrouping.h"
#include "core/place/engine.h"
#include "core/place/graph/graph.h"
#include "core/place/order/ordered.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using namespace ranktree::test;
using engine::Graph;
using engine::Lattice;
using ranktree::core::at;

Graph graph_of(const Affinity& affinity) {
  Graph graph;
  graph.size.assign(at(affinity.ranks), 1);
  for (int rank = 0; rank < affinity.ranks; ++rank) {
    for (std::size_t i = 0; i < affinity.neighbours(rank).size(); ++i) {
      graph.arcs.push_back({affinity.neighbours(rank)[i], affinity.weights_of(rank)[i]});
    }
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

std::optional<Lattice> find_lattice(const Graph& graph, const std::function<bool()>& keep_going = {}) {
  ranktree::core::Workers workers(1, keep_going);
  return engine::find_lattice(graph, workers);
}

// The pairs of a grid, named as the lattice places them, all with one weight.
Affinity placed_again(const Affinity& affinity, const Lattice& lattice) {
  std::vector<int> place_of(lattice.vertex_at.size());
  for (std::size_t place = 0; place < place_of.size(); ++place) {
    place_of[at(lattice.vertex_at[place])] = static_cast<int>(place);
  }
  return relabelled(affinity, place_of);
}

struct Grid {
  std::vector<int> sizes;
  std::vector<std::uint8_t> wraps;
};

TEST(Lattice, RecognisesGridsHoweverTheyAreNumbered) {
  const std::vector<Grid> grids{
      {{5, 4}, {0, 0}}, {{3, 3, 3}, {0, 0, 0}}, {{7, 5}, {1, 1}},       {{6, 5, 3}, {1, 0, 1}},      {{17}, {0}},
      {{12}, {1}},      {{9, 2}, {0, 0}},       {{8, 3, 2}, {1, 0, 0}}, {{2, 2, 2, 2}, {0, 0, 0, 0}}};
  for (const Grid& grid : grids) {
    const Affinity affinity = lattice(grid.sizes, grid.wraps, 7);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Affinity other = renumbered(affinity, seed);
      const auto found = find_lattice(graph_of(other));
      ASSERT_TRUE(found) << testing::PrintToString(grid.sizes);
      EXPECT_EQ(found->sizes, grid.sizes);
      EXPECT_EQ(found->wraps, grid.wraps);
      EXPECT_EQ(to_matrix(placed_again(other, *found)), to_matrix(affinity)) << testing::PrintToString(grid.sizes);
    }
  }
}

TEST(Lattice, ARingOfFourIsTwoByTwo) {
  const auto found = find_lattice(graph_of(renumbered(lattice({4, 6}, {1, 1}, 1), 1)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sizes, (std::vector<int>{6, 2, 2}));
  EXPECT_EQ(found->wraps, (std::vector<std::uint8_t>{1, 0, 0}));
}

TEST(Lattice, LighterPairsMayBeThereToo) {
  auto matrix = to_matrix(lattice({5, 6}, {0, 0}, 100));
  for (std::size_t row = 0; row + 1 < 5; ++row) {
    for (std::size_t column = 0; column + 1 < 6; ++column) {
      const std::size_t here = row * 6 + column;
      matrix[here][here + 7] = matrix[here + 7][here] = matrix[here + 1][here + 6] = matrix[here + 6][here + 1] = 9;
    }
  }
  const auto found = find_lattice(graph_of(renumbered(from_matrix(matrix), 3)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sizes, (std::vector<int>{6, 5}));
}

TEST(Lattice, NothingElseIsTakenForOne) {
  const auto is_lattice = [](const std::vector<std::vector<double>>& matrix) {
    return find_lattice(graph_of(from_matrix(matrix))).has_value();
  };
  const auto whole = to_matrix(lattice({6, 5}, {0, 0}, 1));
  auto matrix = whole;
  matrix[7][8] = matrix[8][7] = 0;  // a link is missing
  EXPECT_FALSE(is_lattice(matrix));
  matrix = whole;
  matrix[0][29] = matrix[29][0] = 1;  // one too many
  EXPECT_FALSE(is_lattice(matrix));
  matrix = whole;
  matrix.pop_back();  // a corner is missing
  for (auto& row : matrix) row.pop_back();
  EXPECT_FALSE(is_lattice(matrix));
  matrix = whole;
  matrix.emplace_back(30, 0);  // a rank without partners
  for (auto& row : matrix) row.resize(31, 0);
  EXPECT_FALSE(is_lattice(matrix));
  EXPECT_FALSE(find_lattice(graph_of(random_affinity(40, 10, 9, 1))));
  EXPECT_FALSE(find_lattice(Graph{}));
  // Twice the same grid, with no link between.
  std::vector<std::vector<double>> twice(60, std::vector<double>(60, 0));
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t j = 0; j < 60; ++j) twice[i][j] = i / 30 == j / 30 ? whole[i % 30][j % 30] : 0;
  }
  EXPECT_FALSE(is_lattice(twice));
}

// A torus whose vertices talk to those so far from them.
Graph torus(const std::vector<int>& sizes, const std::vector<std::vector<int>>& offsets) {
  Graph graph;
  graph.size.assign(at(std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>())), 1);
  for (int vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const auto& offset : offsets) {
      int other = 0;
      for (int j = 0, stride = graph.vertices(); j < static_cast<int>(sizes.size()); ++j) {
        const int size = sizes[at(j)];
        stride /= size;
        other = other * size + (vertex / stride % size + offset[at(j)] + size) % size;
      }
      graph.arcs.push_back({other, 1});
    }
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

// Some random rings through all vertices.
Graph rings(int vertices, int count, std::uint64_t seed) {
  ranktree::core::Random random(seed);
  std::vector<std::set<int>> rows(at(vertices));
  std::vector<int> order(at(vertices));
  std::iota(order.begin(), order.end(), 0);
  for (int ring = 0; ring < count; ++ring) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int next = order[(i + 1) % order.size()];
      rows[at(order[i])].insert(next);
      rows[at(next)].insert(order[i]);
    }
  }
  Graph graph;
  graph.size.assign(rows.size(), 1);
  for (const auto& row : rows) {
    for (const int other : row) graph.arcs.push_back({other, 1});
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

// All offsets of -1, 0 and 1 that so many dimensions of are not 0.
std::vector<std::vector<int>> steps(int dimensions, int least, int most) {
  std::vector<std::vector<int>> result;
  const int all = dimensions == 2 ? 9 : 27;
  for (int code = 0; code < all; ++code) {
    const std::vector<int> step{code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
    const auto moved = dimensions - std::count(step.begin(), step.begin() + dimensions, 0);
    if (moved >= least && moved <= most) result.emplace_back(step.begin(), step.begin() + dimensions);
  }
  return result;
}

// keep_going is called every so many vertices, so its calls count the visited ones.
TEST(Lattice, WhatIsClearlyNoneIsNotLookedAtForLong) {
  const std::vector<Graph> graphs{rings(30000, 5, 1), torus({175, 175}, steps(2, 1, 2)),
                                  torus({32, 32, 32}, steps(3, 2, 2))};
  for (const Graph& graph : graphs) {
    int calls = 0;
    EXPECT_FALSE(find_lattice(graph, [&] { return ++calls > 0; }));
    EXPECT_LE(calls, 6) << graph.vertices();
  }
  int calls = 0;
  EXPECT_TRUE(find_lattice(torus({32, 32, 32}, steps(3, 1, 1)), [&] { return ++calls > 0; }));
  EXPECT_GT(calls, 8);
}

TEST(Lattice, NothingIsFoundWhenItIsToStop) {
  const Graph graph = torus({150, 150}, steps(2, 1, 1));
  for (const int last : {0, 1, 3}) {
    int calls = 0;
    EXPECT_FALSE(find_lattice(graph, [&] { return calls++ < last; }));
    EXPECT_LE(calls, last + 3);
  }
}

// Layers of 16 x 16 in a ring, each a torus; where the ring closes, a layer's rows meet columns.
Graph twisted(int layers) {
  Graph graph;
  graph.size.assign(at(256 * layers), 1);
  const auto vertex = [&](int row, int column, int layer) {
    if (layer < 0 || layer == layers) std::swap(row, column);
    return ((layer + layers) % layers * 16 + (row + 16) % 16) * 16 + (column + 16) % 16;
  };
  for (int i = 0; i < graph.vertices(); ++i) {
    const int row = i / 16 % 16;
    const int column = i % 16;
    const int layer = i / 256;
    for (const int step : {-1, 1}) {
      for (const int to :
           {vertex(row + step, column, layer), vertex(row, column + step, layer), vertex(row, column, layer + step)}) {
        graph.arcs.push_back({to, 1});
      }
    }
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

// Of a twisted one, each thread sees a grid; all together see that rows are columns.
TEST(Lattice, IsTheSameForAnyNumberOfThreads) {
  const auto alone = find_lattice(torus({24, 16, 20}, steps(3, 1, 1)));
  ASSERT_TRUE(alone);
  for (const int threads : {2, 3, 5}) {
    ranktree::core::Workers workers(threads);
    const auto shared = engine::find_lattice(torus({24, 16, 20}, steps(3, 1, 1)), workers);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->sizes, alone->sizes);
    EXPECT_EQ(shared->wraps, alone->wraps);
    EXPECT_EQ(shared->vertex_at, alone->vertex_at);
    EXPECT_FALSE(engine::find_lattice(twisted(20), workers));
    EXPECT_FALSE(engine::find_lattice(rings(30000, 3, 1), workers));
  }
  EXPECT_FALSE(find_lattice(twisted(20)));
}

TEST(Lattice, BothEndsOfALinkMustKnowOfIt) {
  const Graph whole = torus({5, 7}, steps(2, 1, 1));
  ASSERT_TRUE(find_lattice(whole));
  for (const std::size_t arc : {std::size_t{0}, std::size_t{61}, whole.arcs.size() - 1}) {
    Graph graph = whole;
    graph.arcs.erase(graph.arcs.begin() + static_cast<std::ptrdiff_t>(arc));
    for (std::size_t i = arc / 4 + 1; i < graph.offset.size(); ++i) --graph.offset[i];
    EXPECT_FALSE(find_lattice(graph));
    graph = whole;
    graph.arcs[arc].to = (graph.arcs[arc].to + 12) % graph.vertices();
    EXPECT_FALSE(find_lattice(graph));
  }
}

// The graph as its order names it.
std::vector<std::vector<double>> in_order(const Affinity& affinity) {
  ranktree::core::Workers workers(1);
  const auto order = engine::structural_order(affinity, workers);
  std::vector<int> number(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) number[at(order[i])] = static_cast<int>(i);
  return to_matrix(relabelled(affinity, number));
}

TEST(StructuralOrder, IsTheSameForRenumberedRanks) {
  std::vector<Affinity> patterns{random_affinity(60, 8, 50, 1), random_affinity(80, 4, 1000, 2),
                                 lattice({9, 7}, {0, 0}, 1), lattice({6, 5, 4}, {0, 0, 0}, 1)};
  for (const Affinity& affinity : patterns) {
    const auto first = in_order(affinity);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) EXPECT_EQ(in_order(renumbered(affinity, seed)), first);
  }
}

TEST(StructuralOrder, HoldsEveryRankOnce) {
  for (const Affinity& affinity : {random_affinity(50, 1, 5, 4), lattice({30}, {1}, 2), Affinity{}}) {
    ranktree::core::Workers workers(1);
    auto order = engine::structural_order(affinity, workers);
    std::sort(order.begin(), order.end());
    std::vector<int> all(at(affinity.ranks));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all);
  }
}

// A path of 60, in six parts that take every sixth vertex.
TEST(Regrouping, KeepsWhatCutsLessAndNothingElse) {
  engine::Guide path;
  path.size.assign(60, 1);
  std::vector<engine::Vertex> part_of;
  for (engine::Vertex vertex = 0; vertex < 60; ++vertex) {
    if (vertex > 0) path.arcs.push_back({vertex - 1, 1});
    if (vertex < 59) path.arcs.push_back({vertex + 1, 1});
    path.offset.push_back(static_cast<std::int64_t>(path.arcs.size()));
    part_of.push_back(vertex % 6);
  }
  const auto cut = [&] {
    int links = 0;
    for (std::size_t i = 1; i < part_of.size(); ++i) links += part_of[i] != part_of[i - 1] ? 1 : 0;
    return links;
  };
  const auto in_turn = [](std::span<const engine::Vertex> parts, const engine::Guide& graph, std::uint64_t) {
    std::vector<engine::Vertex> result;
    result.reserve(graph.size.size());
    for (engine::Vertex i = 0; i < graph.vertices(); ++i) result.push_back(parts[at(i) % parts.size()]);
    return result;
  };
  const auto in_runs = [](std::span<const engine::Vertex> parts, const engine::Guide& graph, std::uint64_t) {
    std::vector<engine::Vertex> result;
    result.reserve(graph.size.size());
    for (engine::Vertex i = 0; i < graph.vertices(); ++i) result.push_back(parts[at(i) / 10]);
    return result;
  };
  ranktree::core::Workers workers(1);
  const auto before = part_of;
  engine::regroup(path, 6, {3, 1}, workers, in_turn, part_of);
  EXPECT_EQ(part_of, before);
  engine::regroup(path, 6, {3, 1}, workers, in_runs, part_of);
  EXPECT_LT(cut(), 59);
  for (engine::Vertex part = 0; part < 6; ++part) EXPECT_EQ(std::count(part_of.begin(), part_of.end(), part), 10);
}

TEST(Engine, CostsTheSameHoweverRanksThatDifferAreNumbered) {
  const Tree tree = machine({6, 2, 4, 5});
  const Affinity affinity = random_affinity(240, 4, 100, 5);
  for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
    EngineOptions options;
    options.preset = preset;
    const double first = cost(tree, affinity, run_engine(tree, affinity, options));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Affinity other = renumbered(affinity, seed);
      EXPECT_EQ(cost(tree, other, run_engine(tree, other, options)), first);
    }
  }
}

// The first calls come while grids are sought; keep_going is not called again after it has returned false.
TEST(Engine, KeepsToItsTimeWhileGridsAreSought) {
  const Tree tree = machine({6, 2, 4, 5});
  const Affinity affinity = renumbered(lattice({16, 15}, {0, 0}, 1), 3);
  for (const Preset preset : {Preset::kFast, Preset::kStrong}) {
    for (const int last : {0, 1, 2}) {
      EngineOptions options;
      options.preset = preset;
      int calls = 0;
      options.keep_going = [&] { return calls++ < last; };
      EXPECT_EQ(run_engine(tree, affinity, options).leaf_of, identity(tree, 240, {}).leaf_of);
      EXPECT_EQ(calls, last + 1);
    }
  }
}

TEST(Engine, EveryPresetTilesGridsThatTile) {
  struct Case {
    Grid grid;
    Tree tree;
    double best;
  };
  // 16 x 16 on 16 nodes of 2 packages of 8: nodes hold 4 x 4, packages 4 x 2. 2 x 3 x 16 pairs between nodes at 6 hops,
  // 16 x 4 between packages at 4, the other 320 at 2. 8 x 8 x 8 wrapped on 8 nodes of 8 packages of 8: 4 x 4 x 4 and
  // 2 x 2 x 2; 3 x 2 x 64, 3 x 2 x 64 and 3 x 4 x 64 pairs.
  const std::vector<Case> cases{{{{16, 16}, {0, 0}}, machine({16, 2, 8}), 96 * 6 + 64 * 4 + 320 * 2},
                                {{{8, 8, 8}, {1, 1, 1}}, machine({8, 8, 8}), 384 * 6 + 384 * 4 + 768 * 2}};
  for (const Case& each : cases) {
    const Affinity affinity = lattice(each.grid.sizes, each.grid.wraps, 1);
    for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
      EngineOptions options;
      options.preset = preset;
      const Affinity other = renumbered(affinity, 11);
      EXPECT_EQ(cost(each.tree, other, run_engine(each.tree, other, options)), each.best);
    }
  }
}

}  // namespace
