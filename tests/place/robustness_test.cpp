// Machines and patterns at the edges of what there is: each placed by every preset, checked, never more expensive than
// in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/place/bound.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/topo/tree.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using namespace ranktree::test;
using ranktree::core::Error;
using ranktree::core::topo::Leaf;

// The cheapest cost that the presets find.
double placed(const Tree& tree, const Affinity& affinity, int capacity = 1) {
  double best = std::numeric_limits<double>::infinity();
  for (const Preset preset : kPresets) {
    EngineOptions options;
    options.preset = preset;
    options.constraints.capacity = capacity;
    const Placement found = run_engine(tree, affinity, options);
    validate(tree, found, affinity.ranks, options.constraints);
    const double before = cost(tree, affinity, identity(tree, affinity.ranks, options.constraints));
    best = std::min(best, cost(tree, affinity, found));
    EXPECT_LE(best, before);
  }
  EXPECT_LE(lower_bound(tree, affinity, {capacity}), best * (1 + 1e-12));
  return best;
}

// Pairs (i, j) of weight 1 or more, as a graph.
Affinity pairs(int ranks, const std::vector<std::pair<int, int>>& list, double weight = 1) {
  std::vector<std::vector<double>> matrix(static_cast<std::size_t>(ranks),
                                          std::vector<double>(static_cast<std::size_t>(ranks), 0));
  for (const auto& [i, j] : list) {
    matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = weight;
    matrix[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)] = weight;
  }
  return from_matrix(matrix);
}

TEST(Robustness, AritiesThatArePrimes) {
  // Groups of 13 that exchange among themselves, dealt out in turn: each fits a package of 13 cores.
  const Tree tree = machine({7, 5, 13});
  std::vector<std::pair<int, int>> list;
  for (int i = 0; i < 455; ++i) {
    for (int j = i + 35; j < 455; j += 35) list.emplace_back(i, j);
  }
  EXPECT_EQ(placed(tree, pairs(455, list)), 35 * 78 * 2.0);
  placed(machine({11, 17, 3}), random_affinity(509, 2, 50, 1));
}

TEST(Robustness, PatternsOfNothing) {
  EXPECT_EQ(placed(machine({3, 4}), pairs(12, {})), 0);
  EXPECT_EQ(placed(machine({3, 4}), pairs(1, {})), 0);
  EXPECT_EQ(placed(machine({1, 1}), pairs(1, {})), 0);
  EXPECT_EQ(placed(machine({1}), pairs(3, {{0, 1}, {1, 2}}), 3), 0);
}

TEST(Robustness, RanksWithoutPartnersYield) {
  // 0 and 11 talk, the ten between them do not.
  EXPECT_EQ(placed(machine({3, 4}), pairs(12, {{0, 11}}, 7)), 7 * 2.0);
}

TEST(Robustness, PartsThatDoNotTalkToEachOther) {
  // Eight rings of four, dealt out: each fits a node.
  std::vector<std::pair<int, int>> list;
  for (int i = 0; i < 32; ++i) list.emplace_back(i, (i + 8) % 32);
  EXPECT_EQ(placed(machine({8, 4}), pairs(32, list)), 32 * 2.0);
}

TEST(Robustness, AllWeightsEqualAndAllPairsTalking) {
  std::vector<std::pair<int, int>> list;
  for (int i = 0; i < 24; ++i) {
    for (int j = 0; j < i; ++j) list.emplace_back(i, j);
  }
  // Whatever the order: 6 nodes of 4 ranks, 6 pairs inside each.
  EXPECT_EQ(placed(machine({6, 4}), pairs(24, list, 3)), 3 * (36 * 2.0 + (276 - 36) * 4.0));
}

TEST(Robustness, WeightsOfTwoToThe53AddUpAsDoubles) {
  const double huge = 9007199254740992.0;
  EXPECT_EQ(placed(machine({2, 2}), pairs(4, {{0, 2}, {1, 3}}, huge)), 2 * huge * 2);
  EXPECT_TRUE(std::isfinite(placed(machine({4, 8}), pairs(32, {{0, 9}, {9, 18}, {18, 27}, {0, 27}}, 1e300))));
}

TEST(Robustness, WeightsBelowTheLeastNormalNumber) {
  for (const int degree : {6, 200}) {  // as lists and as a matrix
    Affinity affinity = random_affinity(256, degree, 90, 7);
    for (double& weight : affinity.weights) weight *= 1e-310;
    placed(machine({17, 16}), affinity);
  }
}

TEST(Robustness, AMillionLeaves) {
  const Tree tree = machine({64, 128, 128});  // 2^20
  std::vector<std::pair<int, int>> list;
  for (int i = 0; i < 500; ++i) list.emplace_back(i, i + 500);
  const Affinity affinity = pairs(1000, list);
  for (const Preset preset : kPresets) {
    EngineOptions options;
    options.preset = preset;
    const Placement found = run_engine(tree, affinity, options);
    validate(tree, found, 1000, {});
    EXPECT_EQ(cost(tree, affinity, found), 500 * 2.0);
  }
}

TEST(Robustness, AnAllocationScatteredOverTheMachine) {
  std::vector<Leaf> leaves;
  for (Leaf leaf = 0; leaf < 96; ++leaf) {
    if (leaf * leaf % 7 < 3) leaves.push_back(leaf);
  }
  const Tree tree = machine({4, 3, 8}).with_allowed(leaves);
  placed(tree, random_affinity(static_cast<int>(leaves.size()), 15, 90, 2));
  placed(tree, random_affinity(static_cast<int>(leaves.size()) - 11, 15, 90, 3));
  placed(tree, random_affinity(static_cast<int>(leaves.size()) + 20, 15, 90, 4), 2);
}

TEST(Robustness, WhatIsNoWeightIsRefused) {
  for (const double wrong :
       {-1.0, -5e-324, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Affinity affinity = pairs(4, {{0, 1}, {2, 3}});
    affinity.weights[1] = wrong;
    try {
      (void)run_engine(machine({2, 2}), affinity, {});
      ADD_FAILURE() << "accepted " << wrong;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("rank 1: expected a finite weight"), std::string::npos) << error.what();
    }
  }
}

TEST(Robustness, OfSeveralThreadsTheFirstRankThatIsWrongIsNamed) {
  Affinity affinity = random_affinity(1000, 8, 9, 5);
  const auto first_of = [&](int rank) {
    return static_cast<std::size_t>(affinity.indptr[static_cast<std::size_t>(rank)]);
  };
  affinity.weights[first_of(350)] = affinity.weights[first_of(30)] = -1;
  affinity.indices[first_of(150)] = 1000;
  EngineOptions options;
  options.threads = 3;
  for (int i = 0; i < 20; ++i) {
    try {
      (void)run_engine(machine({25, 40}), affinity, options);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("rank 30: expected a finite weight"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
