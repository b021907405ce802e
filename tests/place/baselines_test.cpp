#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/place/placement.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using ranktree::core::Error;
using ranktree::core::topo::Leaf;
using ranktree::test::from_matrix;
using ranktree::test::machine;
using ranktree::test::random_affinity;

TEST(Identity, TakesAllowedLeavesInOrder) {
  const auto tree = machine({2, 3}).with_allowed(std::vector<Leaf>{0, 2, 4, 5});
  EXPECT_EQ(identity(tree, 3, {}).leaf_of, (std::vector<Leaf>{0, 2, 4}));
}

TEST(Identity, SharesLeavesWhenOversubscribed) {
  EXPECT_EQ(identity(machine({2, 2}), 5, {2}).leaf_of, (std::vector<Leaf>{0, 0, 1, 1, 2}));
}

TEST(Baselines, RefuseMoreRanksThanPlaces) {
  EXPECT_THROW(identity(machine({2, 2}), 5, {}), Error);
  EXPECT_THROW(round_robin(machine({2, 2}), 5, {}), Error);
  EXPECT_THROW(random(machine({2, 2}), 5, {}, 1), Error);
  EXPECT_THROW(greedy(machine({2, 2}), random_affinity(5, 50, 9, 1), {}), Error);
}

TEST(RoundRobin, DealsRanksToNodesInTurn) {
  EXPECT_EQ(round_robin(machine({3, 2}), 5, {}).leaf_of, (std::vector<Leaf>{0, 2, 4, 1, 3}));
}

TEST(RoundRobin, SkipsFullNodes) {
  const auto tree = machine({2, 3}).with_allowed(std::vector<Leaf>{0, 3, 4, 5});
  EXPECT_EQ(round_robin(tree, 4, {}).leaf_of, (std::vector<Leaf>{0, 3, 4, 5}));
}

TEST(Random, IsAPermutationThatTheSeedDecides) {
  const auto tree = machine({4, 4});
  const auto first = random(tree, 16, {}, 7).leaf_of;
  EXPECT_EQ(std::set<Leaf>(first.begin(), first.end()).size(), 16U);
  EXPECT_EQ(first, random(tree, 16, {}, 7).leaf_of);
  EXPECT_NE(first, random(tree, 16, {}, 8).leaf_of);
}

TEST(Greedy, PutsPartnersSideBySide) {
  std::vector<std::vector<double>> matrix(4, std::vector<double>(4, 0));
  matrix[0][3] = matrix[3][0] = 9;
  matrix[1][2] = matrix[2][1] = 5;
  const auto tree = machine({2, 2});
  const auto placement = greedy(tree, from_matrix(matrix), {});
  EXPECT_EQ(tree.common_level(placement.leaf_of[0], placement.leaf_of[3]), 1);
  EXPECT_EQ(tree.common_level(placement.leaf_of[1], placement.leaf_of[2]), 1);
}

TEST(Greedy, PlacesRanksWithoutPartners) {
  const auto tree = machine({2, 3});
  const auto placement = greedy(tree, random_affinity(6, 0, 9, 1), {});
  EXPECT_NO_THROW(validate(tree, placement, 6, {}));
}

TEST(Evaluate, AgreesWithTheDefinition) {
  const auto tree = machine({3, 2, 2});
  const auto affinity = random_affinity(11, 60, 100, 5);
  const auto matrix = ranktree::test::to_matrix(affinity);
  const auto placement = random(tree, 11, {}, 3);
  double expected = 0;
  for (std::size_t i = 0; i < 11; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      expected += matrix[i][j] * tree.distance(placement.leaf_of[i], placement.leaf_of[j]);
    }
  }
  const Cost cost = evaluate(tree, affinity, placement);
  EXPECT_EQ(cost.total, expected);
  EXPECT_EQ(std::accumulate(cost.weight.begin(), cost.weight.end(), 0.0) * 2,
            std::accumulate(affinity.weights.begin(), affinity.weights.end(), 0.0));
}

TEST(Validate, NamesTheRankThatIsWrong) {
  const auto tree = machine({2, 2}).with_allowed(std::vector<Leaf>{0, 1, 2});
  const auto message = [&](std::vector<Leaf> leaves) -> std::string {
    try {
      validate(tree, {std::move(leaves)}, 2, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({0, 1}), "");
  EXPECT_NE(message({0, 0}).find("rank 1: leaf 0 already holds 1"), std::string::npos);
  EXPECT_NE(message({0, 3}).find("rank 1: leaf 3 may not be used"), std::string::npos);
  EXPECT_NE(message({0, 4}).find("rank 1: expected a leaf in 0..3, found 4"), std::string::npos);
  EXPECT_NE(message({0}).find("expected 2 ranks, found 1"), std::string::npos);
}

}  // namespace
