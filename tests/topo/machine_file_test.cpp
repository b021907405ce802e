// JSON machine files: bad input and the field that the error must name, then the meaning of valid files.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/interconnect.h"
#include "core/topo/machine.h"
#include "core/topo/tree.h"
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

struct Case {
  std::string text;
  std::string expected;
};

void expect_refusals(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    try {
      (void)to_tree(read_machine(each.text, "m.json"));
      ADD_FAILURE() << "accepted: " << each.text;
    } catch (const Error& error) {
      const std::string said = error.what();
      EXPECT_NE(said.find(each.expected), std::string::npos) << each.text << "\n  said: " << said;
      EXPECT_EQ(said.find('\n'), std::string::npos);
      EXPECT_TRUE(said.starts_with("m.json: ")) << said;
    }
  }
}

TEST(MachineFile, BadInputNamesFileAndField) {
  expect_refusals({
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
      {with(R"({"thin":{"children":[{"kind":"Core","os_index":3},{"kind":"Core","os_index":3}]}})", kNetwork),
       "shapes.thin.children[1].os_index: expected PUs that no other leaf of the node has, found 3"},
      {with(R"({"thin":{"children":[{"kind":"Package","children":[{"kind":"Core","pus":[1,2]}]},
                                    {"kind":"Package","children":[{"kind":"Core","pus":[2,3]}]}]}})",
            kNetwork),
       "shapes.thin.children[1].children[0].pus: expected PUs that no other leaf"},
  });
}

TEST(MachineFile, BadHostsAndCostsNameFileAndField) {
  expect_refusals({
      {with(kShapes, R"({})"), "network"},
      {with(kShapes, R"({"hosts":[]})"), "network: expected at least one host"},
      {with(kShapes, R"({"hosts":[{"names":"a","shape":"fat"}]})"), "network.hosts[0].shape"},
      {with(kShapes, R"({"hosts":[{"names":"a[3-1]","shape":"thin"}]})"), "network.hosts[0].names"},
      {with(kShapes, R"({"hosts":[{"names":"a[0-2147483647]","shape":"thin"}]})"), "network.hosts[0].names"},
      {with(kShapes, R"({"hosts":[{"names":"a[0-","shape":"thin"}]})"), "network.hosts[0].names"},
      {with(kShapes, R"({"hosts":[{"names":"x,x","shape":"thin"}]})"), "network.hosts[0].names: expected a host name"},
      {with(kShapes, R"({"hosts":[{"names":"a b[0-1]","shape":"thin"}]})"), "expected a host name around '[...]'"},
      {with(kShapes, R"({"hosts":[{"names":"-[0-1]","shape":"thin"}]})"), "expected a host name around '[...]'"},
      {with(kShapes, R"({"hosts":[{"names":"a","shape":"thin"},{"names":"a","shape":"thin"}]})"),
       "network.hosts[1].names: expected hosts that are named once, found \"a\""},
      {with(kShapes, R"({"switches":[{"name":"s"}]})"), "network.switches[0]"},
      {with(kShapes, kNetwork, R"(,"costs":{"Rack":{}})"), "costs.Rack"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"latency_s":-1}})"), "costs.Node.latency_s"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"latency_s":"fast"}})"), "costs.Node.latency_s"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"latency_s":1e999}})"), "m.json"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"latency_s":1e101}})"), "latency_s: expected at most 1e100"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"bandwidth_bytes_per_s":0}})"), "bandwidth_bytes_per_s"},
      {with(kShapes, kNetwork, R"(,"costs":{"Node":{"bandwidth_bytes_per_s":1e-101}})"), "bandwidth_bytes_per_s"},
      {with(kShapes, R"({"kind":"torus","dims":[3],"hop":1e308,"hosts":[{"names":"n[0-2]","shape":"thin"}]})"),
       "network.hop: expected at most 1e100, found 1e+308"},
      {with(kShapes, kNetwork, R"(,"distances":[[0]])"), "in \"network\""},
  });
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

std::string network(const std::string& fields, const std::string& hosts = "n[0-7]") {
  return with(kShapes, "{" + fields + R"(,"hosts":[{"names":")" + hosts + R"(","shape":"thin"}]})");
}

TEST(MachineFile, BadNetworksNameFileAndField) {
  const std::string ring = R"("kind":"torus","dims":[8])";
  expect_refusals({
      {network(R"("kind":"ring")"), "m.json: network.kind: expected \"torus\", \"dragonfly\""},
      {network(R"("kind":3)"), "network.kind: expected a text"},
      {network(R"("kind":"torus")"), "network.dims: expected this field"},
      {network(R"("kind":"torus","dims":[])"), "network.dims: expected 1 to 8 sizes"},
      {network(R"("kind":"torus","dims":[0,8])"), "network.dims[0]"},
      {network(R"("kind":"torus","dims":[2.5])"), "network.dims[0]"},
      {network(R"("kind":"torus","dims":[1048576,1048576])"), "at most 1048576 nodes"},
      {network(R"("kind":"torus","dims":[3,3])"), "network.hosts: expected 9 hosts"},
      {network(ring + R"(,"wrap":[true,true])"), "network.wrap"},
      {network(ring + R"(,"wrap":1)"), "network.wrap"},
      {network(ring + R"(,"hop":-1)"), "network.hop"},
      {network(ring + R"(,"hop":[1,1])"), "network.hop"},
      {network(ring + R"(,"latency_s":{"hop":"fast"})"), "network.latency_s.hop"},
      {network(ring + R"(,"nodes_per_router":0)"), "network.nodes_per_router"},
      {network(ring + R"(,"positions":[0,1,2])"), "network.positions: expected 8 positions"},
      {network(ring + R"(,"positions":[0,1,2,3,4,5,6,6])"),
       "network.positions[7]: expected positions that are distinct"},
      {network(ring + R"(,"positions":[0,1,2,3,4,5,6,8])"), "network.positions[7]"},
      {network(ring + R"(,"switches":[])"), "network.switches: expected none"},
      {network(R"("kind":"dragonfly","groups":4)"), "network.routers_per_group"},
      {network(R"("kind":"dragonfly","groups":8,"routers_per_group":1,"global_links":6)"), "global links"},
      {network(R"("kind":"fat-tree","arities":[2,3])"), "network.hosts: expected 6 hosts"},
      {network(R"("kind":"fat-tree","arities":[])"), "network.arities"},
      {network(R"("kind":"fat-tree","arities":[1048576,1048576])"), "network.arities"},
      {network(R"("kind":"matrix")"), "network: expected one of \"distances\" and \"file\""},
      {network(R"("kind":"matrix","file":"x")"), "network.file: expected \"distances\" instead"},
      {network(R"("kind":"matrix","unit":"km","distances":[])"), "network.unit"},
      {network(R"("kind":"matrix","distances":[[0]])"), "network.distances: expected 8 rows"},
      {network(R"("kind":"matrix","distances":[[0,1],[1]])", "n[0-1]"), "network.distances[1]: expected 2 distances"},
      {network(R"("kind":"matrix","distances":[[0,-1],[1,0]])", "n[0-1]"), "network.distances[0][1]"},
      {network(R"("kind":"matrix","distances":[[0,null],[1,0]])", "n[0-1]"), "network.distances[0][1]"},
      {network(R"("kind":"matrix","distances":[[1,1],[1,0]])", "n[0-1]"), "distances[0][0]: expected 0"},
      {with(kShapes, R"({"kind":"torus","dims":[2],"hosts":[{"names":"n[0-1]","shape":"thin"}]})",
            R"(,"costs":{"Cluster":{"latency_s":1}})"),
       "costs.Cluster: expected none"},
  });
}

TEST(MachineFile, NumbersOfObjectsMayBeLarge) {
  const std::string shape =
      R"({"thin":{"children":[{"kind":"L3","os_index":2147483647,"children":[{"kind":"Core","os_index":0}]}]}})";
  const auto tree = to_tree(read_machine(with(shape, kNetwork), "m.json"));
  EXPECT_EQ(tree.os_index(tree.parent(tree.leaf_object(0))), 2147483647);
  expect_refusals({{with(R"({"thin":{"children":[{"kind":"Core","os_index":1048576}]}})", kNetwork), "os_index"},
                   {with(kShapes, R"({"hosts":[{"names":"n[0-1048575,0-1048575]","shape":"thin"}]})"),
                    "at most 1048576 hosts in all"}});
}

TEST(MachineFile, NetworksThatAreNoTrees) {
  const Tree torus = to_tree(read_machine(network(R"("kind":"torus","dims":[2,4],"hop":[3,1])"), "m.json"));
  EXPECT_EQ(torus.distance(0, 4), 4 + 1);
  EXPECT_EQ(torus.distance(0, 12), 4 + 1);  // around
  EXPECT_EQ(torus.distance(0, 16), 4 + 3);  // the other dimension
  const Tree open = to_tree(read_machine(network(R"("kind":"torus","dims":[2,4],"wrap":[true,false])"), "m.json"));
  EXPECT_EQ(open.distance(0, 12), 4 + 3);
  const Tree part =
      to_tree(read_machine(network(R"("kind":"torus","dims":[9],"positions":[0,4])", "n[0-1]"), "m.json"));
  EXPECT_EQ(part.distance(0, 4), 4 + 4);
  const Tree fly = to_tree(read_machine(
      network(R"("kind":"dragonfly","groups":2,"routers_per_group":2,"nodes_per_router":2,"global":5)"), "m.json"));
  EXPECT_EQ(fly.distance(0, 4), 4 + 2);       // same router
  EXPECT_EQ(fly.distance(0, 8), 4 + 3);       // same group
  EXPECT_EQ(fly.distance(0, 16), 4 + 2 + 5);  // the routers with the global link
  EXPECT_EQ(fly.distance(8, 28), 4 + 2 + 1 + 5 + 1);
  const Tree table =
      to_tree(read_machine(network(R"("kind":"matrix","unit":"s","distances":[[0,2],[4,0]])", "n[0-1]"), "m.json"));
  EXPECT_EQ(table.interconnect()->distance(0, 1), 3);
}

TEST(MachineFile, FatTreesAreTrees) {
  const Tree tree = to_tree(read_machine(network(R"("kind":"fat-tree","arities":[2,2,2])"), "m.json"));
  EXPECT_EQ(tree.interconnect(), nullptr);
  EXPECT_EQ(tree.level_count(), 6);  // the cluster, two levels of switches, nodes, packages, cores
  EXPECT_EQ(tree.distance(0, 4), 6);
  EXPECT_EQ(tree.distance(0, 8), 8);
  EXPECT_EQ(tree.distance(0, 16), 10);
}

TEST(MachineFile, PositionsAreTheOrderOfAFatTree) {
  const Tree tree =
      to_tree(read_machine(network(R"("kind":"fat-tree","arities":[2,2],"positions":[0,2,1,3])", "n[0-3]"), "m.json"));
  std::vector<std::string> hosts;
  for (ranktree::core::topo::Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    const std::string host(tree.name(tree.node_of(leaf)));
    if (hosts.empty() || hosts.back() != host) hosts.push_back(host);
  }
  EXPECT_EQ(hosts, (std::vector<std::string>{"n0", "n2", "n1", "n3"}));
}

TEST(MachineFile, DistancesComeFromAnotherFile) {
  const auto read = [](const std::string& name) {
    EXPECT_EQ(name, "d.txt");
    return std::string("# from n0, n1\n0 1.5e0\n1.5 0  # the end\n");
  };
  const std::string text = network(R"("kind":"matrix","file":"d.txt")", "n[0-1]");
  EXPECT_EQ(to_tree(read_machine(text, "m.json", read)).interconnect()->distance(0, 1), 1.5);
  const std::vector<std::pair<std::string, std::string>> bad{
      {"0 1 1", "d.txt: line 2: the file ends, expected 4"},
      {"0 1\n1 0 7", "d.txt: line 2: expected 4 distances"},
      {"0 x 1 0", "d.txt: line 1: expected a number from 0 to 1e100"},
      {"0 nan 1 0", "d.txt: line 1"},
      {"0 -1 1 0", "d.txt: line 1"}};
  for (const auto& [contents, expected] : bad) {
    try {
      (void)read_machine(text, "m.json", [&contents = contents](const std::string&) { return contents; });
      ADD_FAILURE() << "accepted: " << contents;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
}

TEST(MachineFile, NetworksThatAreWrittenReadBackTheSame) {
  const std::vector<std::string> texts{
      network(R"("kind":"torus","dims":[2,2,2],"wrap":[true,false,true],"hop":[1,2,3],"latency_s":{"hop":1e-7})"),
      network(R"("kind":"torus","dims":[9],"positions":[8,7,6,5,4,3,1,0])"),
      network(R"("kind":"dragonfly","groups":2,"routers_per_group":2,"nodes_per_router":2,"global_links":1,
                 "latency_s":{"local":1e-7,"global":1e-6,"node_link":5e-8})"),
      network(R"("kind":"matrix","unit":"s","distances":[[0,0.1],[0.3,0]])", "n[0-1]")};
  for (const std::string& text : texts) {
    const Machine machine = read_machine(text, "m.json");
    const std::string written = write_machine(machine);
    EXPECT_EQ(write_machine(read_machine(written, "again.json")), written);
    const Tree one = to_tree(machine);
    const Tree other = to_tree(to_machine(to_tree(read_machine(written, "again.json"))));
    for (Leaf leaf = 0; leaf < one.leaf_count(); ++leaf) EXPECT_EQ(one.distance(0, leaf), other.distance(0, leaf));
  }
}

}  // namespace
