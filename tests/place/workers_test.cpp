// Threads that share work, and what is the same however many there are.
#include "core/base/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/base/random.h"
#include "core/place/graph/graph.h"
#include "core/place/order/ordered.h"
#include "fixtures.h"
#include "guide_rows.h"

namespace {

using namespace ranktree::core::place::engine;
using namespace ranktree::test;
using ranktree::core::Random;
using ranktree::core::Workers;

constexpr std::int64_t kMuch = 1000000;  // steps that are shared in any case

bool are_seen_once(Workers& workers, std::size_t count, std::int64_t steps) {
  std::vector<std::atomic<int>> seen(count);
  workers.for_ranges(count, steps, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) ++seen[i];
  });
  return std::all_of(seen.begin(), seen.end(), [](const std::atomic<int>& each) { return each == 1; });
}

TEST(Workers, RangesHoldEachIndexOnce) {
  for (const int threads : {1, 2, 3, 5}) {
    Workers workers(threads);
    for (const std::size_t count : {0, 1, 7, 1000}) {
      EXPECT_TRUE(are_seen_once(workers, count, 0)) << threads << " " << count;
      EXPECT_TRUE(are_seen_once(workers, count, kMuch)) << threads << " " << count;
    }
  }
}

// Within each other, one after the other: threads that wait for long sleep, those that wait for a moment do not.
TEST(Workers, ShareWorkWithinWorkAgainAndAgain) {
  Workers workers(3);
  std::atomic<std::int64_t> sum{0};
  const auto outer_work = [&](int outer) { workers.for_each(2, kMuch, [&](int inner) { sum += 2 * outer + inner; }); };
  for (int i = 0; i < 2000; ++i) workers.for_each(3, kMuch, outer_work);
  EXPECT_EQ(sum, 2000 * 15);
}

void throw_at_40(std::size_t first, std::size_t last) {
  if (first <= 40 && 40 < last) throw std::runtime_error("40");
}

TEST(Workers, ARangeThatThrowsEndsTheWork) {
  Workers alone(1);
  Workers three(3);
  EXPECT_THROW(alone.for_ranges(100, kMuch, throw_at_40), std::runtime_error);
  EXPECT_THROW(three.for_ranges(100, kMuch, throw_at_40), std::runtime_error);
  EXPECT_FALSE(three.go_on(1));
}

Guide ring_with_chords(Vertex vertices) {
  Random random(3);
  std::vector<std::vector<GuideArc>> rows(static_cast<std::size_t>(vertices));
  const auto tie = [&](Vertex a, Vertex b) {
    const auto weight = static_cast<float>(random.below(1000)) / 7;
    rows[static_cast<std::size_t>(a)].push_back({b, weight});
    rows[static_cast<std::size_t>(b)].push_back({a, weight});
  };
  for (Vertex vertex = 0; vertex < vertices; ++vertex) {
    tie(vertex, (vertex + 1) % vertices);
    tie(vertex, (vertex + 2 + static_cast<Vertex>(random.below(500))) % vertices);
  }
  return guide_of(rows);
}

void expect_same(const Guide& a, const Guide& b) {
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.size, b.size);
  const auto same = [](const GuideArc& one, const GuideArc& other) {
    return one.to == other.to && one.weight == other.weight;
  };
  EXPECT_TRUE(std::equal(a.arcs.begin(), a.arcs.end(), b.arcs.begin(), b.arcs.end(), same));
}

TEST(Workers, AGraphIsContractedTheSameByAnyNumber) {
  const Guide graph = ring_with_chords(20000);
  std::vector<Vertex> part_of(graph.size.size());
  for (const Vertex parts : {1, 5, 6000}) {
    for (std::size_t i = 0; i < part_of.size(); ++i)
      part_of[i] = static_cast<Vertex>(i * 7 % static_cast<std::size_t>(parts));
    Workers alone(1);
    const Guide expected = contract(graph, part_of, parts, alone);
    EXPECT_EQ(std::accumulate(expected.size.begin(), expected.size.end(), 0), 20000);
    for (const int threads : {2, 3}) {
      Workers workers(threads);
      expect_same(contract(graph, part_of, parts, workers), expected);
    }
  }
}

TEST(Workers, AGraphIsCutIntoTheSamePiecesByAnyNumber) {
  const Guide graph = ring_with_chords(20000);
  ASSERT_GT(graph.arcs.size(), 65536U);  // from where threads share a piece
  std::vector<Vertex> name(graph.size.size());
  std::iota(name.begin(), name.end(), 100);
  std::vector<Vertex> part_of(graph.size.size());
  for (const Vertex parts : {1, 2, 5}) {
    for (std::size_t i = 0; i < part_of.size(); ++i) part_of[i] = static_cast<Vertex>(i / 3000) % parts;
    Workers alone(1);
    const std::vector<Piece> expected = pieces_of(graph, name, part_of, parts, alone);
    for (const int threads : {2, 3}) {
      Workers workers(threads);
      const std::vector<Piece> pieces = pieces_of(graph, name, part_of, parts, workers);
      ASSERT_EQ(pieces.size(), expected.size());
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        EXPECT_EQ(pieces[i].name, expected[i].name);
        expect_same(pieces[i].graph, expected[i].graph);
      }
    }
  }
}

TEST(Workers, TotalsAreTheSameForAnyNumber) {
  const Guide graph = ring_with_chords(20000);
  Workers alone(1);
  Workers three(3);
  EXPECT_EQ(totals_of(graph, three), totals_of(graph, alone));
}

TEST(Workers, RanksComeInTheSameOrderForAnyNumber) {
  for (const Affinity& affinity : {random_affinity(400, 8, 50, 1), random_affinity(1200, 2, 3, 2)}) {
    ASSERT_GT(affinity.indices.size(), 5000U);  // from where threads share it
    Workers alone(1);
    const auto expected = structural_order(affinity, alone);
    for (const int threads : {2, 3}) {
      Workers workers(threads);
      EXPECT_EQ(structural_order(affinity, workers), expected);
    }
  }
}

}  // namespace
