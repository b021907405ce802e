#include "core/place/dense.h"
#include "core/base/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/dense/dense_scan.h"
#include "core/place/engine.h"
#include "core/place/graph/graph.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"
#include "fixtures.h"
#include "helpers/sanitized.h"

namespace {

using namespace ranktree::core::place;
using ranktree::core::at;
using ranktree::core::Error;
using ranktree::core::Fault;
using ranktree::core::Random;
using ranktree::core::pattern::Affinity;
using ranktree::core::pattern::Matrix;
using ranktree::core::pattern::MatrixView;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Tree;
using ranktree::test::machine;
using ranktree::test::shuffled;

// A matrix that owns its numbers.
template <class Number = double>
struct Numbers {
  explicit Numbers(int count) : ranks(count), values(at(count) * at(count), 0) {}
  Number& operator()(int from, int to) { return values[at(from) * at(ranks) + at(to)]; }
  [[nodiscard]] MatrixView<Number> view() const { return {ranks, values.data()}; }
  int ranks;
  std::vector<Number> values;
};

template <class Number>
engine::DenseScan scanned(const MatrixView<Number>& matrix, std::size_t strongest, int threads = 2) {
  ranktree::core::Workers workers(threads);
  return engine::scan(matrix, strongest, workers);
}

template <class Number>
double cost(const Tree& tree, const Numbers<Number>& matrix, const Placement& placement) {
  double sum = 0;
  for (int i = 0; i < matrix.ranks; ++i) {
    for (int j = 0; j < matrix.ranks; ++j) {
      if (i == j) continue;
      const double weight = static_cast<double>(matrix.values[at(i) * at(matrix.ranks) + at(j)]);
      sum += weight * tree.distance(placement.leaf_of[at(i)], placement.leaf_of[at(j)]);
    }
  }
  return sum;
}

template <class Number = double>
Numbers<Number> random_matrix(int ranks, std::uint64_t limit, bool symmetric, std::uint64_t seed) {
  Random random(seed);
  Numbers<Number> matrix(ranks);
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < ranks; ++j) {
      matrix(i, j) = symmetric && j < i ? matrix(j, i) : static_cast<Number>(random.below(limit));
    }
  }
  return matrix;
}

// All pairs talk, the nearer ones more: points in a square, weight 1 + 1 / distance^2.
Numbers<> gravity(int ranks, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < ranks; ++i) {
    const double x = static_cast<double>(random.below(1U << 30U)) / (1U << 30U);
    points.emplace_back(x, static_cast<double>(random.below(1U << 30U)) / (1U << 30U));
  }
  Numbers<> matrix(ranks);
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < ranks; ++j) {
      const double x = points[at(i)].first - points[at(j)].first;
      const double y = points[at(i)].second - points[at(j)].second;
      if (i != j) matrix(i, j) = std::floor(1 + std::min(2000.0, 1 / (x * x + y * y)));
    }
  }
  return matrix;
}

Numbers<> renumbered(Numbers<> matrix, const std::vector<int>& order) {
  Numbers<> result(matrix.ranks);
  for (int i = 0; i < matrix.ranks; ++i) {
    for (int j = 0; j < matrix.ranks; ++j) result(order[at(i)], order[at(j)]) = matrix(i, j);
  }
  return result;
}

// Ranks whose numbers agree in their first digits, of these bases, exchange more.
Numbers<> blocks(const std::vector<int>& bases, const std::vector<double>& weights) {
  const int ranks = std::accumulate(bases.begin(), bases.end(), 1, std::multiplies<>());
  Numbers<> matrix(ranks);
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < ranks; ++j) {
      int size = ranks;
      std::size_t depth = 0;
      while (depth < bases.size() && i / (size / bases[depth]) == j / (size / bases[depth])) size /= bases[depth++];
      if (i != j) matrix(i, j) = weights[depth];
    }
  }
  return matrix;
}

Placement place(const Tree& tree, const Matrix& matrix, EngineOptions options = {}) {
  Placement placement = run_engine(tree, matrix, options);
  validate(tree, placement, ranktree::core::pattern::ranks_of(matrix), options.constraints);
  return placement;
}

void expect_error(const Matrix& matrix, const std::string& text) {
  try {
    run_engine(machine({8, 64}), matrix, {});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kInput);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(DenseScan, SumsBothDirectionsOfEachPairOnce) {
  for (const int ranks : {31, 32, 33, 64, 100}) {
    for (const bool symmetric : {true, false}) {
      auto matrix = random_matrix<float>(ranks, 1000, symmetric, 5);
      double sum = 0;
      for (int i = 0; i < ranks; ++i) {
        for (int j = 0; j < ranks; ++j) sum += i == j ? 0 : static_cast<double>(matrix(i, j));
      }
      const auto scan = scanned(matrix.view(), 5);
      EXPECT_EQ(scan.total, sum);
      EXPECT_EQ(scan.symmetric, symmetric);
    }
  }
}

TEST(DenseScan, KeepsTheStrongestPairsOfEachRank) {
  constexpr int kRanks = 75;
  constexpr std::size_t kKept = 6;
  auto matrix = random_matrix(kRanks, std::uint64_t{1} << 40U, false, 3);
  const auto scan = scanned(matrix.view(), kKept);
  double least = std::numeric_limits<double>::max();
  std::vector<std::vector<double>> sums(kRanks, std::vector<double>(kRanks, -1));
  for (int i = 0; i < kRanks; ++i) {
    for (int j = 0; j < kRanks; ++j) {
      if (i != j) least = std::min(least, sums[at(i)][at(j)] = matrix(i, j) + matrix(j, i));
    }
  }
  std::vector<double> last;  // the weakest that each rank keeps itself
  for (auto row : sums) {
    std::nth_element(row.begin(), row.begin() + kKept - 1, row.end(), std::greater<>());
    last.push_back(row[kKept - 1]);
  }
  for (int i = 0; i < kRanks; ++i) {
    std::vector<int> found;
    for (const auto& arc : scan.strongest.arcs_of(i)) {
      found.push_back(arc.to);
      EXPECT_EQ(arc.weight, sums[at(i)][at(arc.to)] - least);
    }
    std::vector<int> expected;
    for (int j = 0; j < kRanks; ++j) {
      if (i != j && sums[at(i)][at(j)] >= std::min(last[at(i)], last[at(j)])) expected.push_back(j);
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(DenseScan, SeesNothingInWhatIsAlikeEverywhere) {
  Numbers<> matrix(70);
  std::fill(matrix.values.begin(), matrix.values.end(), 3.5);
  EXPECT_TRUE(scanned(matrix.view(), 5).strongest.arcs.empty());
}

// All ranks of a ring exchange the same.
TEST(DenseScan, FindsWhetherRanksCanBeNamed) {
  Numbers<> ring(300);
  for (int i = 0; i < ring.ranks; ++i) {
    for (int j = 0; j < ring.ranks; ++j) {
      const int apart = std::min((i - j + ring.ranks) % ring.ranks, (j - i + ring.ranks) % ring.ranks);
      ring(i, j) = i == j ? 0 : 1000.0 / apart;
    }
  }
  EXPECT_FALSE(scanned(ring.view(), 24).named);
  EXPECT_TRUE(scanned(gravity(300, 1).view(), 24).named);
}

// So much between all pairs, and more between those of a ring of rings.
Numbers<> torus_and_all(int side, double all, double more) {
  Numbers<> matrix(side * side);
  for (int i = 0; i < matrix.ranks; ++i) {
    for (int j = 0; j < matrix.ranks; ++j) matrix(i, j) = i == j ? 0 : all;
    const int row = i / side * side;
    for (const int near : {row + (i + 1) % side, (i + side) % matrix.ranks}) {
      matrix(i, near) = all + more;
      matrix(near, i) = all + more;
    }
  }
  return matrix;
}

TEST(DenseScan, FindsWhetherTheStrongestAreAllThatIsMore) {
  const Numbers<> torus = torus_and_all(20, 3, 50);  // four partners each
  EXPECT_TRUE(scanned(torus.view(), 5).whole);
  EXPECT_FALSE(scanned(torus.view(), 4).whole);
  EXPECT_FALSE(scanned(gravity(300, 1).view(), 24).whole);
  Numbers<> one_way = torus;
  one_way(77, 301) += 1;
  EXPECT_TRUE(scanned(one_way.view(), 6).whole);
  Numbers<> one_less = torus;  // all others exchange more than these two
  one_less(77, 301) = one_less(301, 77) = 1;
  EXPECT_FALSE(scanned(one_less.view(), 5).whole);
}

// 8 nodes of 2 packages of 4 pairs of cores; every pair of ranks exchanges by the depth of its common block.
TEST(DenseEngine, FindsBlocksThatNestAsTheMachineDoes) {
  const Tree tree = machine({8, 2, 4, 8}).with_costs(std::vector<double>{1000, 100, 10, 1});
  const Numbers<> natural = blocks({8, 2, 4, 8}, {1, 10, 100, 1000, 0});
  const double best = cost(tree, natural, identity(tree, 512, {}));
  const Numbers<> matrix = renumbered(natural, shuffled(512, 7));
  for (const Preset preset : {Preset::kDefault, Preset::kStrong}) {
    EngineOptions options;
    options.preset = preset;
    EXPECT_EQ(cost(tree, matrix, place(tree, matrix.view(), options)), best);
  }
}

TEST(DenseEngine, TakesOneDirectionAndFloatsAsWell) {
  const Tree tree = machine({8, 4, 8});
  const Numbers<> natural = blocks({8, 4, 8}, {1, 10, 100, 0});
  Numbers<> matrix = renumbered(natural, shuffled(256, 8));
  const double best = cost(tree, natural, identity(tree, 256, {}));
  Numbers<float> floats(256);
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) floats(i, j) = static_cast<float>(matrix(i, j));
    for (int j = 0; j < i; ++j) matrix(i, j) = 0;  // half of all that is exchanged
  }
  EXPECT_EQ(2 * cost(tree, matrix, place(tree, matrix.view())), best);
  EXPECT_EQ(cost(tree, floats, place(tree, floats.view())), best);
}

TEST(DenseEngine, NeverCostsMoreThanTheStart) {
  const Tree tree = machine({5, 3, 23});  // 345 slots
  for (std::uint64_t seed = 1; seed <= (ranktree::test::kSanitized ? 2 : 3); ++seed) {
    for (const int ranks : {256, 301, 345}) {
      const auto matrix = random_matrix(ranks, 4, seed == 2, seed);
      EngineOptions options;
      options.seed = seed;
      EXPECT_LE(cost(tree, matrix, place(tree, matrix.view(), options)), cost(tree, matrix, identity(tree, ranks, {})));
      options.start = random(tree, ranks, {}, seed);
      EXPECT_LE(cost(tree, matrix, place(tree, matrix.view(), options)), cost(tree, matrix, *options.start));
    }
  }
}

TEST(DenseEngine, ReachesWhatListsReach) {
  const Tree tree = machine({4, 16, 2, 4}).with_costs(std::vector<double>{1000, 100, 10, 1});
  const Numbers<> matrix = gravity(512, 11);
  // Sparse enough to stay lists: what both share is the division, not the search.
  EngineOptions options;
  options.preset = Preset::kStrong;
  const double dense = cost(tree, matrix, place(tree, matrix.view(), options));
  EXPECT_LT(dense, 0.5 * cost(tree, matrix, identity(tree, 512, {})));
  const double greedy_cost = cost(tree, matrix, greedy(tree, affinity_of(matrix.view()), {}));
  EXPECT_LT(dense, 0.9 * greedy_cost);
}

TEST(DenseEngine, ListsOfADensePatternArePlacedAsItsMatrix) {
  const Tree tree = machine({4, 16, 5});
  const Numbers<> matrix = gravity(320, 12);
  const Affinity lists = affinity_of(matrix.view());
  EXPECT_EQ(run_engine(tree, lists, {}).leaf_of, place(tree, matrix.view()).leaf_of);
}

TEST(DenseEngine, HonoursForbiddenPlacesAndSharedOnes) {
  const Tree whole = machine({8, 4, 16});
  std::vector<Leaf> allowed;
  for (Leaf leaf = 0; leaf < whole.leaf_count(); ++leaf) {
    if (leaf % 7 != 3 && leaf / 64 != 5) allowed.push_back(leaf);
  }
  const Tree tree = whole.with_allowed(allowed);
  const Numbers<> matrix = gravity(300, 13);
  EXPECT_LE(cost(tree, matrix, place(tree, matrix.view())), cost(tree, matrix, identity(tree, 300, {})));
  const Tree small = machine({8, 19});
  EngineOptions options;
  options.constraints.capacity = 2;
  EXPECT_LE(cost(small, matrix, place(small, matrix.view(), options)),
            cost(small, matrix, identity(small, 300, options.constraints)));
}

TEST(DenseEngine, UsesAsFewSubtreesAsHoldTheRanks) {
  const Tree tree = machine({6, 64});
  const Numbers<> natural = blocks({4, 64}, {1, 2, 0});
  const Numbers<> matrix = renumbered(natural, shuffled(256, 9));
  const auto placement = place(tree, matrix.view());
  EXPECT_EQ(cost(tree, matrix, placement), cost(tree, natural, identity(tree, 256, {})));
}

TEST(DenseEngine, NumberingDecidesNothing) {
  const Tree tree = machine({4, 16, 2, 4}).with_costs(std::vector<double>{1000, 100, 10, 1});
  for (const Numbers<>& matrix : {gravity(512, 14), random_matrix(300, 100000, false, 15)}) {
    const Numbers<> other = renumbered(matrix, shuffled(matrix.ranks, 16));
    for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
      EngineOptions options;
      options.preset = preset;
      const double before = cost(tree, matrix, place(tree, matrix.view(), options));
      const double after = cost(tree, other, place(tree, other.view(), options));
      EXPECT_NEAR(after / before, 1, 1e-9) << matrix.ranks << " ranks, preset " << static_cast<int>(preset);
    }
  }
}

TEST(DenseEngine, AFewPairsThatExchangeMoreArePlacedAsLists) {
  const Tree tree = machine({4, 16, 2, 2}).with_costs(std::vector<double>{1000, 100, 10, 1});
  Numbers<> sparse(256);
  Random random(31);
  for (int i = 0; i < 256 * 3; ++i) sparse(i / 3, static_cast<int>(random.below(256))) = static_cast<double>(i % 100);
  Numbers<> matrix = sparse;
  for (double& each : matrix.values) each += 7;
  for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
    EngineOptions options;
    options.preset = preset;
    options.constraints.pins = {{3, 200}, {250, 0}};
    const auto expected = run_engine(tree, affinity_of(sparse.view()), options).leaf_of;
    EXPECT_EQ(place(tree, matrix.view(), options).leaf_of, expected) << static_cast<int>(preset);
  }
}

// With slots to spare it does not: few subtrees are cheaper for all pairs, though the few that exchange more lose
// nothing where they are.
TEST(DenseEngine, WithSlotsToSpareAllPairsCount) {
  const Tree tree = machine({8, 64});
  Numbers<> matrix(256);
  EngineOptions options;
  options.start = Placement{std::vector<Leaf>(256)};
  for (int i = 0; i < 256; ++i) {  // a ring of 32 in each subtree
    for (int j = 0; j < 256; ++j) matrix(i, j) = i == j ? 0 : 40;
    matrix(i, i / 32 * 32 + (i + 1) % 32) += 1;
    options.start->leaf_of[at(i)] = i / 32 * 64 + i % 32;
  }
  const Placement found = place(tree, matrix.view(), options);
  std::vector<int> used(8, 0);
  for (const Leaf leaf : found.leaf_of) used[at(leaf / 64)] = 1;
  EXPECT_EQ(std::accumulate(used.begin(), used.end(), 0), 4);
}

TEST(DenseEngine, GridsAmongAllPairsAreFoundHoweverTheyAreNumbered) {
  const Tree tree = machine({4, 4, 4, 4}).with_costs(std::vector<double>{1000, 100, 10, 1});
  const Numbers<> natural = torus_and_all(16, 1, 200);
  const Numbers<> links = torus_and_all(16, 0, 200);
  EngineOptions fast;
  fast.preset = Preset::kFast;
  const double least = cost(tree, natural, run_engine(tree, affinity_of(links.view()), fast));
  for (const std::uint64_t seed : {33, 34, 35, 36}) {
    const Numbers<> matrix = renumbered(natural, shuffled(256, seed));
    EXPECT_LE(cost(tree, matrix, place(tree, matrix.view(), fast)), 1.001 * least) << seed;
  }
}

TEST(DenseEngine, ALevelWithOneSubtreeChangesNothing) {
  const Numbers<> matrix = renumbered(gravity(512, 14), shuffled(512, 16));
  const auto below_one = place(machine({1, 8, 64}), matrix.view());
  EXPECT_EQ(below_one.leaf_of, place(machine({8, 64}), matrix.view()).leaf_of);
}

TEST(DenseEngine, GivesTheSameAnswerHoweverManyThreads) {
  constexpr int kShared = 601;  // ranks from about which threads share passes
  const Tree tree = machine({8, 2, 19, 2});
  Numbers<> matrix = gravity(kShared, 16);
  for (const bool symmetric : {true, false}) {
    EngineOptions options;
    options.preset = Preset::kFast;
    const auto one = place(tree, matrix.view(), options).leaf_of;
    EXPECT_EQ(place(tree, matrix.view(), options).leaf_of, one) << symmetric;
    options.threads = 3;
    EXPECT_EQ(place(tree, matrix.view(), options).leaf_of, one) << symmetric;
    for (int i = 1; i < kShared; ++i) matrix(i, i / 2) *= 3;
  }
}

void expect_same_for_threads(const Numbers<float>& matrix, bool symmetric) {
  const auto one = scanned(matrix.view(), 9, 1);
  const auto three = scanned(matrix.view(), 9, 3);
  EXPECT_EQ(one.symmetric, symmetric);
  EXPECT_EQ(three.total, one.total);
  EXPECT_EQ(three.named, one.named);
  EXPECT_EQ(three.strongest.offset, one.strongest.offset);
  const auto alike = [](const engine::Arc& a, const engine::Arc& b) { return a.to == b.to && a.weight == b.weight; };
  EXPECT_TRUE(std::ranges::equal(three.strongest.arcs, one.strongest.arcs, alike));
}

TEST(DenseScan, IsTheSameHoweverManyThreads) {
  Numbers<float> matrix(613);
  Random random(3);
  for (float& value : matrix.values) value = static_cast<float>(1 + random.below(1000));
  expect_same_for_threads(matrix, false);
  for (int i = 0; i < matrix.ranks; ++i) {
    for (int j = 0; j < i; ++j) matrix(i, j) = matrix(j, i);
  }
  expect_same_for_threads(matrix, true);
}

TEST(DenseEngine, StopsWhenItIsToStop) {
  const Tree tree = machine({8, 64});
  const Numbers<> matrix = gravity(512, 17);
  EngineOptions options;
  options.keep_going = [] { return false; };
  EXPECT_EQ(place(tree, matrix.view(), options).leaf_of, identity(tree, 512, {}).leaf_of);
}

TEST(DenseEngine, LargestWeightsDoNotOverflow) {
  const Tree tree = machine({4, 64});
  const Numbers<> natural = blocks({4, 64}, {1, 1e308, 0});
  const Numbers<> matrix = renumbered(natural, shuffled(256, 18));
  const auto placement = place(tree, matrix.view());
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      if (matrix.values[at(i) * 256 + at(j)] < 2) continue;
      EXPECT_EQ(placement.leaf_of[at(i)] / 64, placement.leaf_of[at(j)] / 64);
    }
  }
}

TEST(DenseEngine, OneHugeWeightBringsItsRanksTogether) {
  const Tree tree = machine({8, 32, 2});
  auto matrix = random_matrix(512, 5, false, 19);
  matrix(3, 500) = 9007199254740992.0;
  const auto placement = place(tree, matrix.view());
  EXPECT_EQ(placement.leaf_of[3] / 2, placement.leaf_of[500] / 2);
}

TEST(DenseEngine, MessagesToOneselfDoNotCount) {
  const Tree tree = machine({8, 32});
  Numbers<> matrix = gravity(256, 20);
  const auto without = place(tree, matrix.view()).leaf_of;
  for (int i = 0; i < 256; ++i) matrix(i, i) = 1e300;
  EXPECT_EQ(place(tree, matrix.view()).leaf_of, without);
}

TEST(DenseEngine, WhatIsAlikeEverywhereStaysWhereItStarts) {
  const Tree tree = machine({8, 32});
  Numbers<> matrix(256);
  std::fill(matrix.values.begin(), matrix.values.end(), 2);
  EXPECT_EQ(place(tree, matrix.view()).leaf_of, identity(tree, 256, {}).leaf_of);
}

TEST(DenseEngine, NamesTheEntryThatIsNoWeight) {
  auto matrix = random_matrix(300, 9, true, 21);
  matrix(299, 13) = -1;
  expect_error(matrix.view(), "[299, 13]");
  matrix(299, 13) = std::numeric_limits<double>::quiet_NaN();
  expect_error(matrix.view(), "[299, 13]");
  matrix(299, 13) = 1;
  matrix(40, 41) = std::numeric_limits<double>::infinity();
  expect_error(matrix.view(), "[40, 41]");
  matrix(40, 41) = 1;
  matrix(7, 7) = -2;
  expect_error(matrix.view(), "[7, 7]");
  auto floats = random_matrix<float>(257, 9, false, 22);
  floats(0, 256) = std::numeric_limits<float>::infinity();
  expect_error(floats.view(), "[0, 256]");
}

TEST(DenseEngine, RefusesMoreRanksThanSlots) {
  const auto matrix = random_matrix(300, 9, true, 23);
  EXPECT_THROW(run_engine(machine({8, 32}), matrix.view(), {}), Error);
}

TEST(Dense, IsWhatHasAQuarterOfItsPairs) {
  auto matrix = random_matrix(300, 2, true, 24);
  EXPECT_TRUE(is_dense(matrix.view()));
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < 300; ++j) matrix(i, j) = (i + j) % 5 == 0 ? 1 : 0;
  }
  EXPECT_FALSE(is_dense(matrix.view()));
  EXPECT_FALSE(is_dense(random_matrix(200, 9, true, 25).view()));
}

}  // namespace
