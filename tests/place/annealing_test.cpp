// Divisions refined by annealing.
#include "core/place/divide/annealing.h"
#include "core/base/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/graph/graph.h"
#include "guide_rows.h"

namespace {

using namespace ranktree::core::place::engine;
using ranktree::core::at;
using ranktree::core::Random;
using ranktree::core::Workers;

// Neighbours in a grid exchange 1 to `most`.
Guide grid_guide(Vertex rows, Vertex columns, std::uint64_t most) {
  Random random(5);
  std::vector<std::vector<GuideArc>> arcs(at(rows) * at(columns));
  const auto join = [&](Vertex a, Vertex b) {
    const auto weight = static_cast<float>(1 + random.below(most));
    arcs[at(a)].push_back({b, weight});
    arcs[at(b)].push_back({a, weight});
  };
  for (Vertex vertex = 0; vertex < rows * columns; ++vertex) {
    if ((vertex + 1) % columns != 0) join(vertex, vertex + 1);
    if (vertex + columns < rows * columns) join(vertex, vertex + columns);
  }
  return guide_of(arcs);
}

// Vertices in the order of their numbers, as many in each part.
std::vector<Vertex> stripes(const Guide& graph, Vertex parts) {
  std::vector<Vertex> part_of;
  part_of.reserve(graph.size.size());
  for (std::int64_t i = 0; i < graph.vertices(); ++i) {
    part_of.push_back(static_cast<Vertex>(i * parts / graph.vertices()));
  }
  return part_of;
}

double cut(const Guide& graph, const std::vector<Vertex>& part_of) {
  double sum = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const GuideArc& arc : graph.arcs_of(vertex)) {
      sum += arc.to > vertex && part_of[at(arc.to)] != part_of[at(vertex)] ? arc.weight : 0;
    }
  }
  return sum;
}

std::vector<int> sizes(const std::vector<Vertex>& part_of, Vertex parts) {
  std::vector<int> count(at(parts), 0);
  for (const Vertex part : part_of) ++count[at(part)];
  return count;
}

std::vector<Vertex> annealed(const Guide& graph, Vertex parts, int trials, int threads, std::vector<Vertex> part_of) {
  constexpr std::int64_t kArcs = 1000000000;
  Workers workers(threads);
  anneal_borders(graph, parts, {trials, kArcs, 7}, workers, part_of);
  return part_of;
}

// 16 stripes of two rows of 32 cut 15 x 32; squares of 8 x 8 cut 6 x 32.
TEST(Annealing, TurnsStripesIntoBlocks) {
  const Guide graph = grid_guide(32, 32, 1);
  const std::vector<Vertex> first = stripes(graph, 16);
  ASSERT_EQ(cut(graph, first), 15 * 32);
  const std::vector<Vertex> result = annealed(graph, 16, 2000, 1, first);
  EXPECT_LE(cut(graph, result), 1.3 * 6 * 32);
  EXPECT_EQ(sizes(result, 16), sizes(first, 16));
}

TEST(Annealing, KeepsTheSizesOfPartsAndNeverCutsMore) {
  for (const Vertex parts : {2, 3, 7, 16}) {
    for (const int trials : {20, 100, 500}) {
      const Guide graph = grid_guide(19, 23, 9);
      std::vector<Vertex> first = stripes(graph, parts);
      std::replace(first.begin() + 30, first.begin() + 50, first[30], static_cast<Vertex>(parts - 1));  // not all alike
      const std::vector<Vertex> result = annealed(graph, parts, trials, 1, first);
      EXPECT_EQ(sizes(result, parts), sizes(first, parts)) << parts << " parts, " << trials << " trials";
      EXPECT_LE(cut(graph, result), cut(graph, first)) << parts << " parts, " << trials << " trials";
    }
  }
}

TEST(Annealing, TheAnswerDoesNotDependOnTheNumberOfThreads) {
  const Guide graph = grid_guide(96, 96, 9);
  const std::vector<Vertex> first = stripes(graph, 48);
  const std::vector<Vertex> one = annealed(graph, 48, 100, 1, first);
  EXPECT_LT(cut(graph, one), 0.8 * cut(graph, first));
  EXPECT_EQ(sizes(one, 48), sizes(first, 48));
  for (const int threads : {2, 3}) EXPECT_EQ(annealed(graph, 48, 100, threads, first), one);
}

// As where ranks are packed and leave whole subtrees free.
TEST(Annealing, EmptyPartsStayEmpty) {
  const Guide graph = grid_guide(96, 96, 9);
  const std::vector<Vertex> first = stripes(graph, 48);
  const std::vector<Vertex> result = annealed(graph, 48 + 40, 100, 2, first);
  EXPECT_LT(cut(graph, result), cut(graph, first));
  EXPECT_EQ(sizes(result, 48 + 40), sizes(first, 48 + 40));
}

TEST(Annealing, LeavesWhatIsBestAsItIs) {
  Guide graph;  // 32 cliques of 4 in a ring, each tied a little to the next
  constexpr Vertex kCliques = 32;
  for (Vertex vertex = 0; vertex < 4 * kCliques; ++vertex) {
    graph.size.push_back(1);
    const Vertex clique = vertex / 4;
    for (Vertex other = 4 * clique; other < 4 * clique + 4; ++other) {
      if (other != vertex) graph.arcs.push_back({other, 100});
    }
    for (const Vertex next : {clique + 1, clique + kCliques - 1}) {
      graph.arcs.push_back({4 * (next % kCliques) + vertex % 4, 1});
    }
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
  const std::vector<Vertex> first = stripes(graph, kCliques);
  EXPECT_EQ(annealed(graph, kCliques, 200, 1, first), first);
}

TEST(Annealing, ChangesNothingWhenItIsToStop) {
  const Guide graph = grid_guide(64, 64, 9);
  const std::vector<Vertex> first = stripes(graph, 32);
  std::vector<Vertex> part_of = first;
  Workers workers(1, [] { return false; });
  anneal_borders(graph, 32, {2000, 1000000000, 7}, workers, part_of);
  EXPECT_EQ(part_of, first);
}

}  // namespace
