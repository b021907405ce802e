// Costs, bounds and plans of whole matrices, held against those of the same patterns as lists.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/bound.h"
#include "core/place/dense.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/topo/tree.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using namespace ranktree::test;
using ranktree::core::Error;
using ranktree::core::Random;
using ranktree::core::pattern::Matrix;
using ranktree::core::pattern::MatrixView;

// What the row's rank sends to the column's: whole numbers, both directions different, something on the diagonal.
template <class Number>
std::vector<Number> random_matrix(int ranks, std::uint64_t seed) {
  Random random(seed);
  std::vector<Number> matrix(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks));
  for (Number& value : matrix) value = static_cast<Number>(random.below(1000));
  return matrix;
}

// Whatever stands there, however large.
TEST(DenseCost, LeavesOutTheDiagonal) {
  constexpr int kRanks = 16;
  const Tree tree = machine({4, 2});
  std::vector<double> matrix(static_cast<std::size_t>(kRanks) * kRanks, 1);
  const Placement two_on_each = identity(tree, kRanks, {2});
  const Cost expected = evaluate(tree, Matrix(MatrixView<double>{kRanks, matrix.data()}), two_on_each);
  for (const double own : {0.0, 1e17, std::numeric_limits<double>::quiet_NaN()}) {
    for (std::size_t rank = 0; rank < kRanks; ++rank) matrix[rank * kRanks + rank] = own;
    const Cost found = evaluate(tree, Matrix(MatrixView<double>{kRanks, matrix.data()}), two_on_each);
    EXPECT_EQ(found.weight, expected.weight);
    EXPECT_EQ(found.total, expected.total);
  }
}

TEST(DenseCost, IsThatOfTheLists) {
  const Tree even = machine({4, 2, 8});
  const Tree uneven =
      even.with_allowed(std::vector<ranktree::core::topo::Leaf>{0, 1, 5, 9, 16, 17, 18, 31, 40, 41, 63});
  for (const auto& [tree, ranks, capacity] :
       {std::tuple{even, 64, 1}, std::tuple{even, 37, 1}, std::tuple{even, 100, 2}, std::tuple{uneven, 11, 1},
        std::tuple{uneven, 1, 1}}) {
    const auto matrix = random_matrix<double>(ranks, 3);
    const MatrixView<double> view{ranks, matrix.data()};
    const auto lists = affinity_of(view);
    for (const Placement& placement : {identity(tree, ranks, {capacity}), random(tree, ranks, {capacity}, 5)}) {
      const Cost one = evaluate(tree, Matrix(view), placement);
      const Cost other = evaluate(tree, lists, placement);
      EXPECT_EQ(one.weight, other.weight);
      EXPECT_EQ(one.total, other.total);
    }
    const double bound = lower_bound(tree, Matrix(view), {capacity});
    EXPECT_LE(bound, lower_bound(tree, lists, {capacity}) * (1 + 1e-12));
    EXPECT_LE(bound, cost(tree, lists, identity(tree, ranks, {capacity})));
    EXPECT_TRUE(bound > 0 || ranks == 1);
  }
}

TEST(DenseCost, SingleNumbersCountAsDouble) {
  const Tree tree = machine({2, 3});
  const auto matrix = random_matrix<float>(6, 4);
  const MatrixView<float> view{6, matrix.data()};
  const auto lists = affinity_of(view);
  EXPECT_EQ(evaluate(tree, Matrix(view), identity(tree, 6, {})).total, cost(tree, lists, identity(tree, 6, {})));
}

TEST(DensePlan, HasTheTableOfTheLists) {
  const Tree tree = machine({8, 2, 16});
  const auto matrix = random_matrix<double>(256, 6);
  const MatrixView<double> view{256, matrix.data()};
  ASSERT_TRUE(is_dense(view));
  const auto lists = affinity_of(view);
  PlanOptions options;
  options.pins = {{3, 200}};
  const Plan plan = make_plan(tree, Matrix(view), options);
  validate(tree, {plan.leaf_of}, 256, {1, options.pins});
  EXPECT_EQ(plan.costs.back().total, cost(tree, lists, {plan.leaf_of}));
  EXPECT_EQ(plan.costs.front().weight, evaluate(tree, lists, identity(tree, 256, {1, options.pins})).weight);
  EXPECT_LT(plan.costs.back().total, plan.costs.front().total);
  EXPECT_LE(*plan.bound, plan.costs.back().total);
  for (const char* algorithm : {"engine", "greedy", "random", "round-robin", "identity"}) {
    PlanOptions one;
    one.algorithm = algorithm;
    EXPECT_LE(make_plan(tree, Matrix(view), one).costs.back().total, plan.costs.front().total * 1.01) << algorithm;
  }
}

TEST(DensePlan, RefusesByEntry) {
  const Tree tree = machine({2, 2});
  for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> matrix{wrong, 1, 1, wrong};  // the diagonal does not count
    const MatrixView<double> view{2, matrix.data()};
    EXPECT_NO_THROW(check_matrix(view));
    matrix[2] = wrong;
    try {
      (void)make_plan(tree, Matrix(view), {});
      ADD_FAILURE() << "accepted " << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("pattern[1, 0]: expected a finite number, at least 0, found "), 0U);
    }
  }
}

}  // namespace
