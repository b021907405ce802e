// JSON machine files: each bad input with what the error must name, then what good ones mean.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "io/machine_file.h"

namespace {

using namespace ranktree::core::topo;
using ranktree::core::Error;
using ranktree::io::read_machine;
using ranktree::io::write_machine;

std::string with(const std::string& shapes, const std::string& network, const std::string& more = "") {
  return R"({"format":"ranktree-machine","version":1,"shapes":)" + shapes + R"(,"network":)" + network + more + "}";
}

const std::string kShapes = R"({"thin":"package:2 core:2"})";
const std::string kNetwork = R"({"hosts":[{"names":"n[0-2]","shape":"thin"}]})";

TEST(MachineFile, BadInputNamesFileAndField) {
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"", "m.json: line 1"},
      {with(kShapes, kNetwork).substr(0, 60), "m.json: line 1: expected JSON, found the end of the file"},
      {"[1]", "expected an object"},
      {R"({"format":"other","version":1})", "format"},
      {R"({"format":"ranktree-machine","version":2})", "version: expected 1"},
      {R"({"format":"ranktree-machine","version":1,"version":1})", "given twice"},
      {with(R"({"thin":"package:0"})", kNetwork), "shapes.thin"},
      {with(R"({"thin":"package:-1"})", kNetwork), "shapes.thin"},
      {with(R"({"thin":"package"})", kNetwork), "shapes.thin"},
      {with(R"({"thin":""})", kNetwork), "shapes.thin"},
      {with(R"({"thin":"switch:2 core:2"})", kNetwork), "shapes.thin"},
      {with(R"({"thin":"package:2147483648 core:2147483648"})", kNetwork), "shapes.thin"},
      {with(R"({"thin":{"children":[]}})", kNetwork), "shapes.thin.children: expected at least one object"},
      {with(R"({"thin":{"children":[{"kind":"Rack"}]}})", kNetwork), "shapes.thin.children[0].kind"},
      {with(R"({"thin":{"children":[{"kind":"Core"}]}})", kNetwork), "shapes.thin.children[0]"},
      {with(R"({"thin":{"children":[{"kind":"Core","pus":[1,1]}]}})", kNetwork), "pus"},
      {with(R"({"thin":{"children":[{"kind":"Core","pus":[-1]}]}})", kNetwork), "pus[0]"},
      {with(kShapes, R"({})"), "network"},
      {with(kShapes, R"({"hosts":[]})"), "at least one host"},
      {with(kShapes, R"({"hosts":[{"names":"a","shape":"fat"}]})"), "network.hosts[0].shape"},
      {with(kShapes, R"({"hosts":[{"names":"a[3-1]","shape":"thin"}]})"), "network.hosts[0].names"},
      {with(kShapes, R"({"hosts":[{"names":"a[0-2147483647]","shape":"thin"}]})"), "network.hosts[0].names"},
      {with(kShapes, R"({"hosts":[{"names":"a[0-","shape":"thin"}]})"), "network.hosts[0].names"},
      {with(kShapes, R"({"hosts":[{"names":"a","shape":"thin"},{"names":"a","shape":"thin"}]})"), "named twice"},
      {with(kShapes, R"({"switches":[{"name":"s"}]})"), "network.switches[0]"},
      {with(kShapes, kNetwork, R"(,"costs":{"Rack":{}})"), "costs.Rack"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"latency_s":-1}})"), "costs.Node.latency_s"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"latency_s":"fast"}})"), "costs.Node.latency_s"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"latency_s":1e999}})"), "m.json"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"bandwidth_bytes_per_s":0}})"), "bandwidth_bytes_per_s"},
      {with(kShapes, kNetwork, R"(,"distances":[[0]])"), "in \"network\""},
  };
  for (const Case& each : cases) {
    try {
      (void)to_tree(read_machine(each.text, "m.json"));
      ADD_FAILURE() << "accepted: " << each.text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(each.expected), std::string::npos)
          << each.text << "\n  said: " << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(MachineFile, HostsSwitchesAndCosts) {
  const Machine machine =
      read_machine(with(kShapes, R"({"switches":[{"name":"s0","hosts":[{"names":"n[08-10,12]","shape":"thin"}]},
                                    {"name":"s1","hosts":[{"names":"login","shape":"thin"}]}]})",
                        R"(,"costs":{"Cluster":{"latency_s":4e-6},"Switch":{"latency_s":2e-6},"Node":{"latency_s":5e-7},
                        "Package":{"latency_s":1e-7}})"),
                   "m.json");
  const Tree tree = to_tree(machine).with_metric(Metric::kLatency);
  EXPECT_EQ(tree.leaf_count(), 20);
  EXPECT_EQ(tree.name(tree.node_of(0)), "n08");
  EXPECT_EQ(tree.name(tree.node_of(12)), "n12");
  EXPECT_EQ(tree.name(tree.node_of(16)), "login");
  EXPECT_EQ(tree.distance(0, 1), 1e-7);
  EXPECT_EQ(tree.distance(0, 2), 5e-7);
  EXPECT_EQ(tree.distance(0, 4), 2e-6);
  EXPECT_EQ(tree.distance(0, 16), 4e-6);
}

TEST(MachineFile, NodesWhosePartsDiffer) {
  const Machine machine = read_machine(with(R"({"big.little":{"children":[
                {"kind":"L2","os_index":0,"children":[{"kind":"Core","os_index":0},{"kind":"Core","os_index":1}]},
                {"kind":"Core","os_index":2,"pus":[2,3],"allowed":false}]}})",
                                            R"({"hosts":[{"names":"phone","shape":"big.little"}]})"),
                                       "m.json");
  const Tree tree = to_tree(machine);
  ASSERT_EQ(tree.leaf_count(), 3);
  EXPECT_EQ(tree.common_level(0, 1), 1);
  EXPECT_EQ(tree.common_level(0, 2), 0);
  EXPECT_FALSE(tree.allowed(2));
  EXPECT_EQ(tree.pus(2).size(), 2U);
}

TEST(MachineFile, WhatIsWrittenReadsBackTheSame) {
  const std::string text = with(
      R"({"thin":"package:2 core:2","odd":{"children":[{"kind":"Core","os_index":4,"pus":[4,5]},{"kind":"Core","os_index":6}]}})",
      R"({"name":"net","switches":[{"name":"s","hosts":[{"names":"a[0-1]","shape":"thin"}]}],"hosts":[{"names":"b","shape":"odd"}]})",
      R"(,"costs":{"Node":{"latency_s":1e-6,"bandwidth_bytes_per_s":1e10}})");
  const std::string once = write_machine(read_machine(text, "m.json"));
  EXPECT_EQ(write_machine(read_machine(once, "again.json")), once);
  const Tree first = to_tree(read_machine(text, "m.json"));
  const Tree second = to_tree(read_machine(once, "again.json"));
  ASSERT_EQ(first.leaf_count(), second.leaf_count());
  for (Leaf leaf = 0; leaf < first.leaf_count(); ++leaf) {
    EXPECT_EQ(first.common_level(0, leaf), second.common_level(0, leaf));
    EXPECT_TRUE(std::equal(first.pus(leaf).begin(), first.pus(leaf).end(), second.pus(leaf).begin()));
  }
  EXPECT_EQ(*second.level(second.common_level(0, 1) - 1).latency, 1e-6);
}

}  // namespace
