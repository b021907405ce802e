// treematch-2013, Figures 5 and 6: the worked example, step by step.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/place/engine.h"
#include "core/place/grouping.h"
#include "core/place/treematch.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;  // the tests read better without four words a name
using ranktree::core::topo::Kind;
using ranktree::core::topo::Tree;
using ranktree::core::topo::TreeBuilder;
using ranktree::test::from_matrix;
using ranktree::test::to_matrix;
using Rows = ranktree::test::Matrix;

// Figure 5(a) as printed.
const Rows kFigure5{{0, 1000, 10, 1, 100, 1, 1, 1},    {1000, 0, 1000, 1, 1, 100, 1, 1},
                    {10, 1000, 0, 1000, 1, 1, 100, 1}, {1, 1, 1000, 0, 1, 1, 1, 100},
                    {100, 1, 1, 1, 0, 1000, 10, 1},    {1, 100, 1, 1, 1000, 0, 1000, 1},
                    {1, 1, 100, 1, 10, 1000, 0, 1000}, {1, 1, 1, 100, 1, 1, 1000, 0}};
const std::vector<int> kArities{2, 3, 2};  // Figure 5(b), root first: 12 leaves

// Figure 5(b): physical numbers 0, 2, ..., 10 under the left half, 1, 3, ..., 11 under the right.
Tree figure5_tree() {
  TreeBuilder builder({{Kind::kNode, {}, {}}, {Kind::kPackage, {}, {}}, {Kind::kL3, {}, {}}, {Kind::kCore, {}, {}}});
  const auto root = builder.add(-1, 0, 0, "n0");
  for (int half = 0; half < 2; ++half) {
    const auto package = builder.add(root, 1, half);
    for (int cache = 0; cache < 3; ++cache) {
      const auto l3 = builder.add(package, 2, 3 * half + cache);
      for (int core = 0; core < 2; ++core) builder.add(l3, 3, 2 * (2 * cache + core) + half);
    }
  }
  return std::move(builder).build();
}

std::vector<TreeMatchStep> steps() { return treematch_steps(kArities, from_matrix(kFigure5), {}); }

TEST(PaperExample, ThereAreTwentyEightPairsAndTheFirstIsWorth1218) {
  const GroupList list = list_all_possible_groups(from_matrix(kFigure5), 2);
  ASSERT_EQ(list.values.size(), 28U);
  EXPECT_EQ(list.group(0)[0], 0);
  EXPECT_EQ(list.group(0)[1], 1);
  // §4.1: 1114 + 2104 - 2000.
  EXPECT_EQ(list.values[0], 1218);
}

TEST(PaperExample, EveryHeuristicFindsThePairsOfNeighbours) {
  const auto matrix = from_matrix(kFigure5);
  const GroupList list = list_all_possible_groups(matrix, 2);
  const auto degrees = weighted_degrees(matrix, list);
  for (const auto& selected : {smallest_values_first(list, 8), largest_values_last(list, 8),
                               largest_weighted_degrees_first(list, degrees, 8)}) {
    std::vector<int> partner(8, -1);
    for (const std::size_t index : selected)
      partner[static_cast<std::size_t>(list.group(index)[0])] = list.group(index)[1];
    EXPECT_EQ(partner, (std::vector<int>{1, -1, 3, -1, 5, -1, 7, -1}));
  }
}

TEST(PaperExample, TheGroupsOfEveryDepthAreThePapers) {
  const auto made = steps();
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[0].groups, (Grouping{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(made[1].groups, (Grouping{{0, 1, 4}, {2, 3, 5}}));
  EXPECT_EQ(made[2].groups, (Grouping{{0, 1}}));
}

TEST(PaperExample, TheAggregatedMatrixOfDepth2IsFigure6a) {
  const Rows expected{{0, 1012, 202, 4}, {1012, 0, 4, 202}, {202, 4, 0, 1012}, {4, 202, 1012, 0}};
  const auto made = steps();
  EXPECT_EQ(to_matrix(aggregate_matrix(made[0].matrix, made[0].groups)), expected);
}

TEST(PaperExample, TheExtendedMatrixIsFigure6b) {
  const Rows expected{{0, 1012, 202, 4, 0, 0}, {1012, 0, 4, 202, 0, 0}, {202, 4, 0, 1012, 0, 0},
                      {4, 202, 1012, 0, 0, 0}, {0, 0, 0, 0, 0, 0},      {0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(to_matrix(steps()[1].matrix), expected);
}

TEST(PaperExample, TheAggregatedMatrixOfDepth1IsFigure6c) {
  EXPECT_EQ(to_matrix(steps()[2].matrix), (Rows{{0, 412}, {412, 0}}));
}

TEST(PaperExample, TheMappingIsThePapersInPhysicalNumbers) {
  const Tree tree = figure5_tree();
  const Placement placement = treematch(tree, from_matrix(kFigure5), {});
  std::vector<int> physical;
  for (const auto leaf : placement.leaf_of) physical.push_back(tree.os_index(tree.leaf_object(leaf)));
  EXPECT_EQ(physical, (std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(PaperExample, TheEngineFindsAMappingOfTheSameCost) {
  const Tree tree = figure5_tree();
  const auto affinity = from_matrix(kFigure5);
  for (const Preset preset : {Preset::kFast, Preset::kDefault, Preset::kStrong}) {
    EngineOptions options;
    options.preset = preset;
    EXPECT_EQ(evaluate(tree, affinity, run_engine(tree, affinity, options)).total,
              evaluate(tree, affinity, treematch(tree, affinity, {})).total);
  }
}

TEST(PaperExample, TheMappingBeatsPackedAndRoundRobinOfTheFigure) {
  const Tree tree = figure5_tree();
  const auto affinity = from_matrix(kFigure5);
  const double ours = evaluate(tree, affinity, treematch(tree, affinity, {})).total;
  const Placement packed = identity(tree, 8, {});
  // Round robin is the physical identity: process i on the leaf with physical number i.
  Placement round_robin_of_figure;
  for (int process = 0; process < 8; ++process) {
    round_robin_of_figure.leaf_of.push_back(process % 2 == 0 ? process / 2 : 6 + process / 2);
  }
  EXPECT_LT(ours, evaluate(tree, affinity, packed).total);
  EXPECT_LT(ours, evaluate(tree, affinity, round_robin_of_figure).total);
}

}  // namespace
