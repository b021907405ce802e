// Slots for ranks that need several leaves each.
#include "core/topo/bundle.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

using namespace ranktree::core::topo;

Tree machine() {  // 3 nodes of 2 packages of 6 cores
  const std::vector<Level> levels{
      {Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kPackage, {}, {}}, {Kind::kCore, {}, {}}};
  return uniform_tree(levels, std::vector<int>{3, 2, 6});
}

std::vector<int> pus(const Tree& tree, Leaf leaf) { return {tree.pus(leaf).begin(), tree.pus(leaf).end()}; }

TEST(BundleLeaves, StayInTheLowestObjectThatHasAsMany) {
  const Tree two = bundle_leaves(machine(), 2);
  ASSERT_EQ(two.leaf_count(), 18);
  EXPECT_EQ(pus(two, 0), (std::vector<int>{0, 1}));
  EXPECT_EQ(pus(two, 5), (std::vector<int>{10, 11}));
  EXPECT_EQ(two.distance(0, 2), 2);
  EXPECT_EQ(two.distance(0, 3), 4);
  EXPECT_EQ(two.distance(0, 6), 6);
  const Tree four = bundle_leaves(machine(), 4);  // one a package, two cores are left over
  ASSERT_EQ(four.leaf_count(), 6);
  EXPECT_EQ(pus(four, 1), (std::vector<int>{6, 7, 8, 9}));
  EXPECT_EQ(four.name(four.node_of(5)), "n2");
  const Tree eight = bundle_leaves(machine(), 8);  // over both packages
  ASSERT_EQ(eight.leaf_count(), 3);
  EXPECT_EQ(pus(eight, 2), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

// Four fast cores with a cache of their own each, and two caches of four slow ones, of which one has three to use.
TEST(BundleLeaves, ChildrenThatAreTooSmallShareThem) {
  TreeBuilder builder({{Kind::kNode, {}, {}}, {Kind::kL2, {}, {}}, {Kind::kCore, {}, {}}});
  const std::int32_t node = builder.add(-1, 0);
  int pu = 0;
  for (const int cores : {1, 1, 4, 1, 1, 4}) {
    const std::int32_t cache = builder.add(node, 1);
    for (int core = 0; core < cores; ++core) builder.set_pus(builder.add(cache, 2), {pu++});
  }
  const Tree tree = std::move(builder).build();
  const Tree bundled = bundle_leaves(tree.with_allowed(std::vector<Leaf>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 4);
  ASSERT_EQ(bundled.leaf_count(), 2);
  EXPECT_EQ(pus(bundled, 0), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_EQ(pus(bundled, 1), (std::vector<int>{0, 1, 6, 7}));
  ASSERT_EQ(bundle_leaves(tree, 4).leaf_count(), 3);
}

TEST(BundleLeaves, OnlyLeavesThatMayBeUsedCount) {
  std::vector<Leaf> leaves(36);
  std::iota(leaves.begin(), leaves.end(), 0);
  std::erase_if(leaves, [](Leaf leaf) { return leaf == 1 || (leaf >= 12 && leaf < 22); });
  const Tree tree = bundle_leaves(machine().with_allowed(leaves), 3);
  ASSERT_EQ(tree.leaf_count(), 1 + 2 + 1 + 4);
  EXPECT_EQ(pus(tree, 0), (std::vector<int>{0, 2, 3}));
  EXPECT_FALSE(tree.allowed(3));  // n1 has two cores left
  EXPECT_EQ(tree.name(tree.node_of(3)), "n1");
  EXPECT_TRUE(tree.allowed(4));
}

TEST(BundleLeaves, CostsAndNetworksStay) {
  const Tree given = machine().with_costs(std::vector<double>{100, 10, 1});
  EXPECT_EQ(bundle_leaves(given, 2).distance(0, 3), 10);
  const Torus ring{{3}, {0}, {{2}}};
  const auto network = std::make_shared<const Interconnect>(ring, std::vector<int>{0, 1, 2});
  const Tree tree = bundle_leaves(machine().with_interconnect(network), 6);
  ASSERT_EQ(tree.leaf_count(), 6);
  EXPECT_EQ(tree.distance(0, 4), 2 + 4);
  EXPECT_EQ(bundle_leaves(machine().with_interconnect(network), 13).leaf_count(), 3);
}

TEST(BundleLeaves, OneIsTheMachineAndLessIsRefused) {
  EXPECT_EQ(bundle_leaves(machine(), 1).leaf_count(), 36);
  EXPECT_THROW((void)bundle_leaves(machine(), 0), ranktree::core::Error);
}

}  // namespace
