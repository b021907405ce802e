// Which objects contain a binding, and what they are called.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "hw/hwloc_node.h"

namespace {

using namespace ranktree::core::split;
using ranktree::core::topo::Kind;
using ranktree::hw::synthetic_node;

// "NUMANode:1 L2Cache:3"
std::string located(const std::string& machine, const std::vector<int>& pus) {
  const Chain chain = NodeMap(synthetic_node(machine)).locate(pus);
  std::string text;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    text += (i == 0 ? "" : " ") + type_name(chain, i) + ":" + std::to_string(chain[i].id);
  }
  return text;
}

const char* const kFigure1 = "pack:2 [numa] l3:1 l2:2 l1d:1 core:2 pu:1";

TEST(Locate, ABindingTheNodeDoesNotHaveIsInNoObject) {
  EXPECT_EQ(located(kFigure1, {}), "");
  EXPECT_EQ(located(kFigure1, {8}), "");
  EXPECT_EQ(located(kFigure1, {0, 4095}), "");
  EXPECT_EQ(located(kFigure1, {-1}), "");
}

TEST(Locate, EveryObjectThatContainsTheBindingIsNamedOnceWithItsHighestName) {
  EXPECT_EQ(located(kFigure1, {5}), "NUMANode:1 L2Cache:2 Core:5");
  EXPECT_EQ(located(kFigure1, {2, 3}), "NUMANode:0 L2Cache:1");
  EXPECT_EQ(located(kFigure1, {4, 5, 6, 7}), "NUMANode:1");
}

TEST(Locate, HolesInABindingAreSpanned) {
  EXPECT_EQ(located(kFigure1, {4, 6}), "NUMANode:1");
  EXPECT_EQ(located(kFigure1, {0, 7}), "");
}

TEST(Locate, AMissingCacheIsNeverNamed) { EXPECT_EQ(located("pack:2 core:2 pu:2", {3}), "Package:0 Core:1 PU:3"); }

TEST(Locate, ObjectsThatSpanTheWholeNodeAreTheNode) {
  EXPECT_EQ(located("pack:1 [numa] l3:1 core:2 pu:1", {0}), "Core:0");
  EXPECT_EQ(located("pack:1 core:1 pu:1", {0}), "");
}

TEST(Locate, AGroupGivesItsPlaceToWhateverHasItsPus) {
  EXPECT_EQ(located("pack:2 group:2 [numa] l3:1 core:2 pu:1", {6}), "Package:1 NUMANode:3 Core:6");
  EXPECT_EQ(located("group:2 pack:2 core:2 pu:1", {6}), "Group:1 Package:3 Core:6");
}

TEST(Locate, TwoMemoriesOfOnePackageAreOneLevel) {
  EXPECT_EQ(located("pack:2 [numa] [numa] core:2 pu:1", {3}), "NUMANode:1 Core:3");
}

TEST(Locate, MoreThan1024PusAreNoLimit) {
  EXPECT_EQ(located("pack:4 core:400 pu:2", {3199}), "Package:3 Core:1599 PU:3199");
}

TEST(LocateAll, NamesWhatLocateMerges) {
  const Chain all = NodeMap(synthetic_node(kFigure1)).locate_all(std::vector<int>{1});
  std::vector<Kind> kinds;
  for (const Link& link : all) kinds.push_back(link.kind);
  EXPECT_EQ(kinds,
            (std::vector{Kind::kPackage, Kind::kNumaNode, Kind::kL3, Kind::kL2, Kind::kL1, Kind::kCore, Kind::kPu}));
}

TEST(LocateAll, AMachineWithOneNumaNodeHasIt) {
  const NodeMap node(synthetic_node("pack:1 [numa] l3:2 core:2 pu:1"));
  EXPECT_EQ(node.locate_all(std::vector<int>{0, 3}), (Chain{{Kind::kNumaNode, 0}, {Kind::kPackage, 0}}));
  EXPECT_TRUE(node.locate_all(std::vector<int>{9}).empty());
  EXPECT_EQ(node.kinds(),
            (std::vector{Kind::kNode, Kind::kPackage, Kind::kNumaNode, Kind::kL3, Kind::kCore, Kind::kPu}));
}

TEST(Codes, AreDifferentAndComeBack) {
  for (const Link link : {Link{Kind::kNode, 0}, Link{Kind::kSwitch, name_id("s0")}, Link{Kind::kPu, 16777216}}) {
    EXPECT_EQ(link_of(code_of(link)), link);
    EXPECT_FALSE(code_of(link) >> 63U);
  }
  EXPECT_NE(name_id("leaf1"), name_id("leaf2"));
}

}  // namespace
