// The parts of the engine that divide graphs in two.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/divide/bisection.h"
#include "core/place/divide/coarsening.h"
#include "core/place/graph/graph.h"
#include "guide_rows.h"

namespace {

using namespace ranktree::core::place::engine;
using ranktree::core::Random;

// Each pair talks with the given chance in sixteenths, weights 1 to 9.
Guide random_guide(int vertices, std::uint64_t chance, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<GuideArc>> rows(static_cast<std::size_t>(vertices));
  for (Vertex i = 0; i < vertices; ++i) {
    for (Vertex j = 0; j < i; ++j) {
      if (random.below(16) >= chance) continue;
      const auto weight = static_cast<float>(1 + random.below(9));
      rows[static_cast<std::size_t>(i)].push_back({j, weight});
      rows[static_cast<std::size_t>(j)].push_back({i, weight});
    }
  }
  return guide_of(rows);
}

// What is between two different parts, added up from the finer graph.
std::map<std::pair<Vertex, Vertex>, double> between_parts(const Guide& graph, const std::vector<Vertex>& part_of) {
  std::map<std::pair<Vertex, Vertex>, double> sums;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const GuideArc& arc : graph.arcs_of(vertex)) {
      const Vertex from = part_of[static_cast<std::size_t>(vertex)];
      const Vertex to = part_of[static_cast<std::size_t>(arc.to)];
      if (from != to) sums[{from, to}] += arc.weight;
    }
  }
  return sums;
}

std::vector<Vertex> themselves(const Guide& graph) {
  std::vector<Vertex> vertices(graph.size.size());
  std::iota(vertices.begin(), vertices.end(), 0);
  return vertices;
}

void expect_sizes_of_members(const Coarse& coarse) {
  std::vector<std::int32_t> members(coarse.graph.size.size(), 0);
  for (const Vertex part : coarse.part_of) ++members[static_cast<std::size_t>(part)];
  EXPECT_EQ(members, coarse.graph.size);
  EXPECT_LE(*std::max_element(members.begin(), members.end()), 2);
}

TEST(Coarsening, KeepsAllWeightBetweenDifferentVertices) {
  ranktree::core::Workers workers(1);
  Coarsening coarsening(workers);
  Coarse coarse;  // used again, larger and smaller ones in turn
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Guide graph = random_guide(seed % 2 == 0 ? 90 : 31, 1 + seed % 4, seed);
    Random random(seed);
    coarsening.run(graph, totals_of(graph, workers), 2, random, coarse);
    EXPECT_EQ(between_parts(coarse.graph, themselves(coarse.graph)), between_parts(graph, coarse.part_of)) << seed;
    EXPECT_EQ(coarse.total, totals_of(coarse.graph, workers)) << seed;
    expect_sizes_of_members(coarse);
  }
}

// Of two equal arcs the one to the vertex that is tied to little else: 0 to 2, not to 1.
TEST(Coarsening, JoinsWhoIsTiedToLittleElse) {
  Guide graph;
  graph.size.assign(7, 1);
  graph.offset = {0, 2, 5, 8, 10, 12, 14, 16};
  for (const GuideArc& arc : {GuideArc{1, 1},
                              {2, 1},
                              {0, 1},
                              {5, 4},
                              {6, 4},
                              {0, 1},
                              {3, 0.25},
                              {4, 0.25},
                              {2, 0.25},
                              {4, 1},
                              {2, 0.25},
                              {3, 1},
                              {1, 4},
                              {6, 8},
                              {1, 4},
                              {5, 8}}) {
    graph.arcs.push_back(arc);
  }
  ranktree::core::Workers workers(1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Coarse coarse;
    Coarsening(workers).run(graph, totals_of(graph, workers), 2, random, coarse);
    EXPECT_EQ(coarse.part_of[0], coarse.part_of[2]) << seed;
  }
}

// A ring with chords, weights 1 to 9; 10 % of the vertices have most of the chords.
Guide large_guide(int vertices, int chords, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::map<Vertex, float>> rows(static_cast<std::size_t>(vertices));
  const auto talk = [&](std::size_t a, std::size_t b) {
    if (a == b) return;
    const auto weight = static_cast<float>(1 + random.below(9));
    rows[a][static_cast<Vertex>(b)] = weight;
    rows[b][static_cast<Vertex>(a)] = weight;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) talk(i, (i + 1) % rows.size());
  for (int i = 0; i < chords; ++i) talk(random.below(rows.size()), random.below(rows.size() / 10));
  Guide graph;
  graph.size.assign(rows.size(), 1);
  for (const auto& row : rows) {
    for (const auto& [to, weight] : row) graph.arcs.push_back({to, weight});
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  return graph;
}

void expect_same(const Guide& a, const Guide& b) {
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.size, b.size);
  EXPECT_TRUE(std::equal(a.arcs.begin(), a.arcs.end(), b.arcs.begin(), b.arcs.end(),
                         [](const GuideArc& c, const GuideArc& d) { return c.to == d.to && c.weight == d.weight; }));
}

TEST(Coarsening, DoesNotDependOnHowManyWorkersShareIt) {
  const Guide graph = large_guide(9001, 40000, 3);
  ASSERT_GT(graph.arcs.size(), 65536U);  // from where a graph is shared
  std::vector<Coarse> coarse(3);
  for (int i = 0; i < 3; ++i) {
    ranktree::core::Workers workers(i + 1);
    Coarsening coarsening(workers);
    Random random(7);
    coarsening.run(graph, totals_of(graph, workers), 2, random, coarse[static_cast<std::size_t>(i)]);
  }
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(coarse[i].part_of, coarse[0].part_of);
    EXPECT_EQ(coarse[i].total, coarse[0].total);
    expect_same(coarse[i].graph, coarse[0].graph);
  }
  EXPECT_EQ(between_parts(coarse[0].graph, themselves(coarse[0].graph)), between_parts(graph, coarse[0].part_of));
}

TEST(Pieces, KeepWhatIsWithinThemInOrder) {
  const Guide graph = random_guide(40, 8, 5);
  std::vector<Vertex> part_of;
  std::vector<Vertex> name;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    part_of.push_back(vertex * 7 % 3);
    name.push_back(100 + vertex);
  }
  ranktree::core::Workers workers(2);
  const std::vector<Piece> pieces = pieces_of(graph, name, part_of, 4, workers);  // the last one is empty
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[3].graph.vertices(), 0);
  std::map<std::pair<Vertex, Vertex>, float> expected;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const GuideArc& arc : graph.arcs_of(vertex)) {
      if (vertex * 7 % 3 == arc.to * 7 % 3) expected[{100 + vertex, 100 + arc.to}] = arc.weight;
    }
  }
  std::map<std::pair<Vertex, Vertex>, float> found;
  for (const Piece& piece : pieces) {
    EXPECT_TRUE(std::is_sorted(piece.name.begin(), piece.name.end()));
    for (Vertex vertex = 0; vertex < piece.graph.vertices(); ++vertex) {
      for (const GuideArc& arc : piece.graph.arcs_of(vertex)) {
        found[{piece.name[static_cast<std::size_t>(vertex)], piece.name[static_cast<std::size_t>(arc.to)]}] =
            arc.weight;
      }
    }
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
