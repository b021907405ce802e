// Machines put together from nodes and taken apart again.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "hw/hwloc_node.h"
#include "hw/machine.h"

namespace {

using namespace ranktree::core::topo;
using ranktree::core::Error;
using ranktree::hw::synthetic_node;

Machine two_kinds_of_nodes() {
  Machine machine;
  const int thin = machine.add_shape(synthetic_node("package:2 core:2 pu:1"));
  const int fat = machine.add_shape(synthetic_node("package:1 l3:2 core:3 pu:2"));
  machine.network.switches = {{"left", {}, {{"a", thin}, {"b", fat}}}, {"right", {}, {{"c", thin}}}};
  return machine;
}

TEST(Machine, EqualNodesAreStoredOnce) {
  Machine machine;
  EXPECT_EQ(machine.add_shape(synthetic_node("package:2 core:2 pu:1")), 0);
  EXPECT_EQ(machine.add_shape(synthetic_node("package:2 core:2 pu:1")), 0);
  EXPECT_EQ(machine.add_shape(synthetic_node("package:2 core:2 pu:2")), 1);
  EXPECT_EQ(machine.add_shape(synthetic_node("package:2 l2:2 core:1 pu:1")), 2);
  EXPECT_EQ(machine.shapes.size(), 3U);
}

TEST(Machine, NodesWithDifferentLevelsAreJoined) {
  const Tree tree = to_tree(two_kinds_of_nodes());
  EXPECT_EQ(tree.leaf_count(), 4 + 12 + 4);
  EXPECT_EQ(level_names(tree),
            (std::vector<std::string>{"Cluster", "Switch0", "Node", "Package", "L3Cache", "Core", "PU"}));
  EXPECT_EQ(tree.common_level(0, 1), 3);  // thin: two cores of one package
  EXPECT_EQ(tree.common_level(4, 5), 5);  // fat: two PUs of one core
  EXPECT_EQ(tree.common_level(4, 9), 4);  // fat: under one L3
  EXPECT_EQ(tree.common_level(0, 4), 1);  // under one switch
  EXPECT_EQ(tree.common_level(0, 19), 0);
  EXPECT_EQ(tree.name(tree.node_of(4)), "b");
}

TEST(Machine, TakenApartItIsTheSameMachine) {
  const Tree tree = to_tree(two_kinds_of_nodes());
  const Machine machine = to_machine(tree);
  EXPECT_EQ(machine.shapes.size(), 2U);
  const Tree again = to_tree(machine);
  ASSERT_EQ(again.leaf_count(), tree.leaf_count());
  for (Leaf a = 0; a < tree.leaf_count(); ++a) {
    EXPECT_EQ(again.common_level(0, a), tree.common_level(0, a));
    EXPECT_EQ(again.name(again.node_of(a)), tree.name(tree.node_of(a)));
  }
}

TEST(Machine, SwitchesMayBeNestedUnevenly) {
  Machine machine;
  machine.add_shape(synthetic_node("core:2 pu:1"));
  NetworkPart deep{"deep", {{"inner", {}, {{"a", 0}, {"b", 0}}}}, {}};
  machine.network.switches = {deep, {"flat", {}, {{"c", 0}}}};
  machine.network.hosts = {{"d", 0}};
  const Tree tree = to_tree(machine);
  EXPECT_EQ(tree.leaf_count(), 8);
  EXPECT_EQ(tree.level(tree.common_level(0, 2)).kind, Kind::kSwitch);
  EXPECT_EQ(tree.common_level(0, 4), 0);
}

TEST(Machine, ThreeLevelsOfSwitches) {
  const Tree tree = ranktree::hw::load_tree("switch:2 switch:3 switch:2 node:2 core:2");
  EXPECT_EQ(tree.leaf_count(), 2 * 3 * 2 * 2 * 2);
  EXPECT_EQ(tree.distance(0, 1), 2);
  EXPECT_EQ(tree.distance(0, 2), 4);
  EXPECT_EQ(tree.distance(0, 4), 6);
  EXPECT_EQ(tree.distance(0, 8), 8);
  EXPECT_EQ(tree.distance(0, 47), 10);
}

std::string_view path_of(const Tree& tree, Leaf leaf, std::string& text) {
  for (Object object = tree.leaf_object(leaf); object >= 0; object = tree.parent(object)) {
    const std::string kind(kind_name(tree.level(tree.level_of(object)).kind));
    text.insert(0, kind + ":" + std::to_string(tree.os_index(object)) + (text.empty() ? "" : " "));
  }
  return text;
}

// Sub-NUMA clustering off and on: a NUMA node is a whole package, or half of what has one L3.
TEST(Machine, ObjectsWithTheSameLeavesChangePlacesWhereAnotherNodeNeedsIt) {
  Machine machine;
  machine.add_shape(synthetic_node("package:2 [numa] l3:1 core:4 pu:1"));
  machine.add_shape(synthetic_node("package:2 l3:1 group:2 [numa] core:2 pu:1"));
  machine.network.hosts = {{"off", 0}, {"on", 1}};
  const Tree tree = to_tree(machine);
  EXPECT_EQ(level_names(tree),
            (std::vector<std::string>{"Cluster", "Node", "Package", "L3Cache", "NUMANode", "Core", "PU"}));
  std::string off;
  EXPECT_EQ(path_of(tree, 4, off), "Cluster:-1 Node:0 Package:1 L3Cache:-1 NUMANode:1 Core:4 PU:4");
  std::string on;
  EXPECT_EQ(path_of(tree, 8 + 6, on), "Cluster:-1 Node:1 Package:1 L3Cache:-1 NUMANode:3 Core:6 PU:6");

  const Machine apart = to_machine(tree);
  ASSERT_EQ(apart.shapes.size(), 2U);
  EXPECT_EQ(level_names(to_tree(apart)), level_names(tree));
}

// An L3 under a NUMA node of several, and a NUMA node under an L3 of several, have no common order.
TEST(Machine, LevelsThatContradictEachOtherAreRefusedByName) {
  Machine machine;
  machine.add_shape(synthetic_node("package:2 [numa] l3:2 core:4 pu:1"));
  machine.add_shape(synthetic_node("package:2 l3:1 group:2 [numa] core:2 pu:1"));
  machine.network.hosts = {{"a", 0}, {"b", 1}};
  try {
    const Tree tree = to_tree(machine);
    FAIL() << tree.level_count();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "machine: level L3Cache lies above level NUMANode in one place and below it in another");
  }
}

TEST(Machine, RefusesNoHostsTwinsBadNamesAndEmptySwitches) {
  EXPECT_THROW(to_tree(Machine{}), Error);
  Machine twins;
  twins.add_shape(synthetic_node("core:1 pu:1"));
  twins.network.hosts = {{"a", 0}, {"a", 0}};
  EXPECT_THROW(to_tree(twins), Error);
  Machine no_name = twins;
  no_name.network.hosts = {{"a", 0}, {"b c", 0}};
  EXPECT_THROW(to_tree(no_name), Error);
  Machine empty_switch = twins;
  empty_switch.network.hosts = {{"a", 0}};
  empty_switch.network.switches = {{"s", {}, {}}};
  EXPECT_THROW(to_tree(empty_switch), Error);
}

}  // namespace
