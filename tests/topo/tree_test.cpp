// The tree itself, compared with slow literal versions.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

using namespace ranktree::core::topo;
using ranktree::core::Error;
using ranktree::core::Random;

std::vector<Level> levels_of(std::initializer_list<Kind> kinds) {
  std::vector<Level> levels;
  for (const Kind kind : kinds) levels.push_back({kind, {}, {}});
  return levels;
}

Tree cluster() {
  return uniform_tree(levels_of({Kind::kCluster, Kind::kSwitch, Kind::kNode, Kind::kL3, Kind::kCore}),
                      std::vector<int>{2, 3, 1, 4});
}

// A random tree: arities 1..4 everywhere, children now and then skip a level.
Tree random_tree(std::uint64_t seed) {
  Random random(seed);
  const int depth = 5;
  TreeBuilder builder(levels_of({Kind::kCluster, Kind::kSwitch, Kind::kNode, Kind::kPackage, Kind::kCore}));
  struct Open {
    std::int32_t handle;
    int level;
  };
  std::vector<Open> open{{builder.add(-1, 0), 0}};
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i].level == depth - 1) continue;
    const auto children = 1 + random.below(4);
    for (std::uint64_t child = 0; child < children; ++child) {
      const int level = open[i].level + 1 + (open[i].level < 2 && random.below(4) == 0 ? 1 : 0);
      open.push_back({builder.add(open[i].handle, level, static_cast<int>(child)), level});
    }
  }
  return std::move(builder).build();
}

std::vector<Object> ancestors(const Tree& tree, Leaf leaf) {
  std::vector<Object> path;
  for (Object object = tree.leaf_object(leaf); object >= 0; object = tree.parent(object)) path.push_back(object);
  return path;
}

TEST(Tree, TheCommonLevelIsThatOfTheFirstSharedAncestor) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Tree tree = random_tree(seed);
    for (Leaf a = 0; a < tree.leaf_count(); ++a) {
      const auto left = ancestors(tree, a);
      const std::set<Object> of_a(left.begin(), left.end());
      for (Leaf b = 0; b < tree.leaf_count(); ++b) {
        Object shared = tree.leaf_object(b);
        while (!of_a.contains(shared)) shared = tree.parent(shared);
        ASSERT_EQ(tree.common_level(a, b), tree.level_of(shared)) << "seed " << seed;
      }
    }
  }
}

TEST(Tree, LeavesBelowEveryObjectAreConsecutive) {
  const Tree tree = random_tree(3);
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    for (const Object object : ancestors(tree, leaf)) {
      EXPECT_GE(leaf, tree.first_leaf(object));
      EXPECT_LT(leaf, tree.first_leaf(object) + tree.leaves_below(object));
    }
  }
  EXPECT_EQ(tree.leaves_below(0), tree.leaf_count());
}

TEST(Tree, HopsCountBranchingLevelsOnly) {
  // Cluster, Switch, Node branch or not: 2 switches x 3 nodes x 1 L3 x 4 cores.
  const Tree tree = cluster();
  EXPECT_EQ(tree.distance(0, 0), 0);
  EXPECT_EQ(tree.distance(0, 1), 2);   // below one L3
  EXPECT_EQ(tree.distance(0, 4), 4);   // the next node; the L3 level adds nothing
  EXPECT_EQ(tree.distance(0, 12), 6);  // the other switch
  EXPECT_EQ(tree.distance(12, 0), 6);
}

TEST(Tree, CoresAreNumberedWithinTheirNode) {
  const Tree tree = cluster();
  EXPECT_EQ(tree.os_index(tree.leaf_object(5)), 1);
  EXPECT_EQ(tree.name(tree.node_of(5)), "n1");
  EXPECT_EQ(tree.node_of(23), tree.node_of(20));
}

TEST(Tree, LatencyAndBandwidthAreRefusedWhereUnknown) {
  EXPECT_THROW((void)cluster().with_metric(Metric::kLatency), Error);
  auto levels = levels_of({Kind::kNode, Kind::kCore});
  levels[0].latency = 1e-6;
  levels[0].bandwidth = 4e9;
  const Tree tree = uniform_tree(levels, std::vector<int>{2});
  EXPECT_EQ(tree.with_metric(Metric::kLatency).distance(0, 1), 1e-6);
  EXPECT_EQ(tree.with_metric(Metric::kBandwidth).distance(0, 1), 1 / 4e9);
  EXPECT_EQ(tree.with_metric(Metric::kBandwidth).with_metric(Metric::kHops).distance(0, 1), 2);
}

TEST(Tree, GivenCostsAreChecked) {
  EXPECT_EQ(cluster().with_costs(std::vector<double>{1000, 100, 10, 1}).distance(0, 12), 1000);
  EXPECT_THROW((void)cluster().with_costs(std::vector<double>{1, 2}), Error);
  EXPECT_THROW((void)cluster().with_costs(std::vector<double>{1, 2, 3, -1}), Error);
  EXPECT_THROW((void)cluster().with_costs(std::vector<double>{1, 2, 3, 0.0 / 0.0}), Error);
}

TEST(Tree, CuttingKeepsDistancesAndPus) {
  const Tree tree =
      uniform_tree(levels_of({Kind::kCluster, Kind::kNode, Kind::kCore, Kind::kPu}), std::vector<int>{2, 2, 2});
  const Tree cut = tree.cut_at(Kind::kCore);
  ASSERT_EQ(cut.leaf_count(), 4);
  EXPECT_EQ(std::vector<int>(cut.pus(3).begin(), cut.pus(3).end()), (std::vector<int>{2, 3}));
  EXPECT_EQ(cut.distance(0, 2), 4);
  EXPECT_EQ(tree.cut_at(Kind::kL2).leaf_count(), tree.leaf_count());  // no such level: unchanged
  EXPECT_EQ(cut.cut_at(Kind::kCore).leaf_count(), 4);
}

TEST(Tree, CuttingKeepsTheLeavesOfBranchesWithoutThatKind) {
  // One package has an L3 over two cores, the other has two cores and no L3.
  TreeBuilder builder(levels_of({Kind::kNode, Kind::kPackage, Kind::kL3, Kind::kCore}));
  const auto root = builder.add(-1, 0);
  const auto with = builder.add(root, 1, 0);
  const auto without = builder.add(root, 1, 1);
  const auto cache = builder.add(with, 2, 0);
  for (int i = 0; i < 2; ++i) builder.add(cache, 3, i);
  for (int i = 2; i < 4; ++i) builder.add(without, 3, i);
  const Tree cut = std::move(builder).build().cut_at(Kind::kL3);
  ASSERT_EQ(cut.leaf_count(), 3);
  EXPECT_EQ(cut.pus(0).size(), 2U);
  EXPECT_EQ(cut.pus(2)[0], 3);
}

TEST(Tree, ACutLeafMayBeUsedWhenOneOfItsPusMay) {
  const Tree tree = uniform_tree(levels_of({Kind::kNode, Kind::kCore, Kind::kPu}), std::vector<int>{2, 2});
  for (const Leaf pu : {0, 1}) {
    const Tree cut = tree.with_allowed(std::vector<Leaf>{pu}).cut_at(Kind::kCore);
    EXPECT_TRUE(cut.allowed(0)) << "PU " << pu;
    EXPECT_FALSE(cut.allowed(1)) << "PU " << pu;
    EXPECT_EQ(std::vector<int>(cut.pus(0).begin(), cut.pus(0).end()), std::vector<int>{pu});
    EXPECT_EQ(cut.pus(1).size(), 2U);
  }
}

TEST(TreeBuilder, ChildrenMayComeInAnyOrder) {
  TreeBuilder builder(levels_of({Kind::kNode, Kind::kPackage, Kind::kCore}));
  const auto root = builder.add(-1, 0);
  const auto first = builder.add(root, 1, 0);
  const auto second = builder.add(root, 1, 1);
  builder.add(second, 2, 7);
  builder.add(first, 2, 3);
  builder.add(second, 2, 8);
  const Tree tree = std::move(builder).build();
  EXPECT_EQ(tree.os_index(tree.leaf_object(0)), 3);
  EXPECT_EQ(tree.os_index(tree.leaf_object(1)), 7);
  EXPECT_EQ(tree.common_level(1, 2), 1);
}

TEST(TreeBuilder, RefusesWhatIsNoTree) {
  EXPECT_THROW(TreeBuilder({}), Error);
  TreeBuilder two_roots(levels_of({Kind::kNode, Kind::kCore}));
  two_roots.add(-1, 0);
  EXPECT_THROW(two_roots.add(-1, 0), Error);
  EXPECT_THROW(two_roots.add(5, 1), Error);
  EXPECT_THROW(two_roots.add(0, 2), Error);
  EXPECT_THROW(two_roots.add(0, 0), Error);
  TreeBuilder no_leaf(levels_of({Kind::kNode, Kind::kPackage, Kind::kCore}));
  no_leaf.add(no_leaf.add(-1, 0), 1);
  EXPECT_THROW((void)std::move(no_leaf).build(), Error);
  EXPECT_THROW(uniform_tree(levels_of({Kind::kNode, Kind::kCore}), std::vector<int>{0}), Error);
}

TEST(TreeBuilder, AMillionLeavesAreNoTrouble) {
  const Tree tree = uniform_tree(levels_of({Kind::kCluster, Kind::kNode, Kind::kPackage, Kind::kCore}),
                                 std::vector<int>{16384, 2, 32});
  EXPECT_EQ(tree.leaf_count(), 1048576);
  EXPECT_EQ(tree.distance(0, 1048575), 6);
}

}  // namespace
