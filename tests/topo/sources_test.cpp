// Sources of machines: hwloc's synthetic grammar, XML files, this machine; bad input first.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/tree.h"
#include "hw/hwloc_node.h"
#include "hw/machine.h"
#include "io/file.h"

namespace {

using namespace ranktree::core::topo;
using ranktree::core::Error;
using ranktree::hw::load_tree;
using ranktree::hw::read_hwloc_xml;

std::string data(const std::string& name) { return std::string(RANKTREE_TEST_DATA) + "/" + name; }

std::string refusal(const std::string& spec) {
  try {
    (void)load_tree(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Synthetic, BadDescriptionsAreRefusedWithTheirText) {
  for (const std::string spec :
       {"switch:0", "node:-1 core:2", "node:x core:2", "node:2 switch:2 core:2", "core", "core:0", "blob:3", "node:4 (",
        "cluster:2 node:2 core:2", "node:99999999999 core:1", "node:2147483648 core:1"}) {
    EXPECT_NE(refusal(spec).find("machine '"), std::string::npos) << spec << " -> " << refusal(spec);
  }
}

TEST(Synthetic, HugeMachinesAreRefusedBeforeTheyAreBuilt) {
  EXPECT_NE(refusal("node:2147483647 core:1024").find("at most"), std::string::npos);
  EXPECT_NE(refusal("core:2147483648").find("at most"), std::string::npos);
  EXPECT_NE(refusal("package:65536 core:65536").find("at most"), std::string::npos);
}

TEST(Synthetic, DescriptionsThatStopAtCoresGetOnePuEach) {
  const Tree tree = load_tree("switch:2 node:4 package:2 l3:1 core:4");
  EXPECT_EQ(tree.leaf_count(), 64);
  EXPECT_EQ(level_names(tree),
            (std::vector<std::string>{"Cluster", "Switch0", "Node", "Package", "L3Cache", "Core", "PU"}));
  EXPECT_EQ(tree.name(tree.node_of(63)), "n7");
}

TEST(Synthetic, AttributesAndMemoryAfterTheLastLevelHideItNot) {
  for (const std::string spec :
       {"pack:2 core:4 [numa]", "pack:2 [numa] core:4", "pack:2 l3:4(size=1024 indexes=0,1,2,3,4,5,6,7)",
        "pack:2 core:4(indexes=0,1,2,3,4,5,6,7 )", "pack:2 core:4 pu:1 "}) {
    ASSERT_EQ(refusal(spec), "");
    EXPECT_EQ(load_tree(spec).leaf_count(), 8) << spec;
  }
}

TEST(Synthetic, NetworksOfTooManyLevelsAreRefused) {
  std::string deep;
  for (int i = 0; i < 23; ++i) deep += "switch:1 ";
  EXPECT_EQ(load_tree(deep + "node:3 core:1").leaf_count(), 3);
  EXPECT_NE(refusal(deep + "switch:1 node:3 core:1").find("at most 24 levels of network"), std::string::npos);
}

TEST(Synthetic, PlainHwlocTextIsOneNode) {
  const Tree tree = load_tree("pack:2 core:4 pu:2");
  EXPECT_EQ(tree.leaf_count(), 16);
  EXPECT_EQ(level_names(tree).front(), "Node");
  EXPECT_EQ(tree.pus(15)[0], 15);
  EXPECT_EQ(load_tree("4 4 2").leaf_count(), 32);
}

TEST(Synthetic, NodesAreDescribedOnce) {
  for (const char* const text : {"node:2 node:3 core:4", "cluster:1 cluster:1 node:2 core:1"}) {
    EXPECT_NE(refusal(text).find("only switch: several times"), std::string::npos) << text;
  }
  EXPECT_EQ(load_tree("switch:2 switch:2 node:2 core:1").leaf_count(), 8);
}

TEST(Synthetic, AttributesGoToHwloc) {
  // hwloc numbers the PUs of this machine round robin over packages.
  const Tree tree = load_tree("package:2 core:2 pu:1(indexes=0,2,1,3)");
  EXPECT_EQ(tree.pus(1)[0], 2);
  EXPECT_EQ(tree.pus(2)[0], 1);
}

TEST(Synthetic, NumaNodesAreALevelWhereTheySplitTheNode) {
  EXPECT_EQ(level_names(load_tree("numa:2 core:2 pu:1")), (std::vector<std::string>{"Node", "NUMANode", "Core", "PU"}));
  EXPECT_EQ(level_names(load_tree("package:2 numa:2 core:2 pu:1")),
            (std::vector<std::string>{"Node", "Package", "NUMANode", "Core", "PU"}));
  EXPECT_EQ(level_names(load_tree("package:2 core:2 pu:1")),
            (std::vector<std::string>{"Node", "Package", "Core", "PU"}));
}

TEST(Synthetic, CellsOfGroupsMayLieInPackages) {
  EXPECT_EQ(level_names(load_tree("package:2 group:2 core:2 pu:1")),
            (std::vector<std::string>{"Node", "Package", "Group", "Core", "PU"}));
  EXPECT_EQ(level_names(load_tree("group:2 package:2 core:2 pu:1")),
            (std::vector<std::string>{"Node", "Group", "Package", "Core", "PU"}));
}

TEST(Xml, BadFilesAreRefusedByName) {
  const std::string good = ranktree::io::read_file(data("epyc-2-cores.xml"));
  for (const std::string& bytes : {std::string(), std::string("<topology"), good.substr(0, good.size() / 2),
                                   std::string("<?xml version=\"1.0\"?><other/>"), std::string("\x93NUMPY")}) {
    try {
      (void)read_hwloc_xml(bytes, "some.xml");
      FAIL() << "accepted " << bytes.substr(0, 30);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("some.xml: "), 0U);
    }
  }
  EXPECT_NE(refusal("no/such.xml").find("no/such.xml: cannot open"), std::string::npos);
  EXPECT_NE(refusal("/dev.xml,/dev/null").find("dev"), std::string::npos);
  EXPECT_NE(refusal("/tmp").find("folder"), std::string::npos);
}

TEST(Xml, AFileWithoutMemoryIsRefusedBeforeHwlocComplains) {
  std::string text = ranktree::io::read_file(data("epyc-2-cores.xml"));
  const std::string memory = "\"NUMANode\"";
  const auto place = text.find(memory);
  ASSERT_NE(place, std::string::npos);
  text.replace(place, memory.size(), "\"Group\"");
  testing::internal::CaptureStderr();
  try {
    (void)read_hwloc_xml(text, "some.xml");
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("some.xml: expected an hwloc XML topology with a NUMANode"),
              std::string::npos);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// hwloc 2.9 aborts the process there.
TEST(Xml, ASetThatBeginsWithACommaIsNamedByLine) {
  const std::string bytes = ranktree::io::read_file(data("epyc-2-cores.xml"));
  const std::string set = " allowed_nodeset=\"0x";
  const std::size_t place = bytes.find(set);
  ASSERT_NE(place, std::string::npos);
  for (const char* value : {"=\",x", "=\"&#44;0x", " =\n\",0x"}) {
    std::string text = bytes;
    text.replace(place, set.size(), std::string(" allowed_nodeset") + value);
    try {
      (void)read_hwloc_xml(text, "some.xml");
      ADD_FAILURE() << "accepted" << value;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("expected a set that begins with a number"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Xml, TextAboutSetsIsNoSet) {
  std::string text = ranktree::io::read_file(data("epyc-2-cores.xml"));
  const std::size_t place = text.find("<info name=");
  ASSERT_NE(place, std::string::npos);
  text.insert(place, "<info name=\"Arguments\" value=\"cpuset=1,2\"/>\n");
  EXPECT_EQ(read_hwloc_xml(text, "some.xml").leaf_count(), 2);
}

// Captured with hwloc 2.9 on a virtual machine with two single-threaded cores of an EPYC under one L3.
TEST(Xml, AnObjectWithoutItsSetsIsNamedByLine) {
  std::string bytes = ranktree::io::read_file(data("epyc-2-cores.xml"));
  const std::size_t place = bytes.find(" cpuset=", bytes.find("type=\"Package\""));
  bytes.replace(place, 8, " cqueset");
  try {
    (void)read_hwloc_xml(bytes, "some.xml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("some.xml: line "), std::string::npos) << error.what();
  }
}

TEST(Xml, ACapturedVirtualMachine) {
  const Tree tree = load_tree(data("epyc-2-cores.xml"));
  EXPECT_EQ(level_names(tree),
            (std::vector<std::string>{"Node", "Package", "L3Cache", "L2Cache", "L1Cache", "Core", "PU"}));
  EXPECT_EQ(tree.leaf_count(), 2);
  EXPECT_EQ(tree.distance(0, 1), 2);
}

// Written by hwloc from "package:2 numa:2 l3:1 core:4 pu:2(indexes=core:pu)": hardware threads are numbered after all
// cores.
TEST(Xml, ADualSocketServerWithSubNumaClusters) {
  const Tree tree = load_tree(data("dual-socket-snc.xml"));
  EXPECT_EQ(tree.leaf_count(), 32);
  EXPECT_EQ(level_names(tree), (std::vector<std::string>{"Node", "Package", "NUMANode", "L3Cache", "Core", "PU"}));
  const Tree cores = tree.cut_at(Kind::kCore);
  EXPECT_EQ(std::vector<int>(cores.pus(1).begin(), cores.pus(1).end()), (std::vector<int>{1, 17}));
  EXPECT_EQ(cores.distance(0, 1), 2);
  EXPECT_EQ(cores.distance(0, 4), 4);
  EXPECT_EQ(cores.distance(0, 8), 6);
}

TEST(Xml, SeveralNodesBecomeOneTree) {
  const Tree tree = load_tree(data("epyc-2-cores.xml") + "," + data("dual-socket-snc.xml"));
  EXPECT_EQ(tree.leaf_count(), 34);
  EXPECT_EQ(level_names(tree).front(), "Cluster");
  EXPECT_EQ(tree.common_level(1, 2), 0);
}

TEST(Live, IsTheWholeMachineWithAtLeastOneAllowedLeaf) {
  const Tree tree = load_tree("live");
  int usable = 0;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) usable += tree.allowed(leaf) ? 1 : 0;
  EXPECT_GE(usable, 1);
  EXPECT_EQ(level_names(tree).front(), "Node");
  EXPECT_EQ(level_names(tree).back(), "PU");
}

}  // namespace
