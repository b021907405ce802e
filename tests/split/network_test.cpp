// Networks from files: the trees that topology.conf(5) and topology.yaml(5) mean, drawn by hand, and refusals.
#include "io/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "io/hostlist.h"

namespace {

using ranktree::core::Error;
using ranktree::core::Fault;
using ranktree::core::topo::NetworkPart;
using ranktree::io::compress_names;
using ranktree::io::expand_hostlist;
using ranktree::io::load_network;
using ranktree::io::read_network;
using ranktree::io::switches_above;
using ranktree::io::switches_of_address;
using Names = std::vector<std::string>;

// "s0(s1(n0 n1) s2(n2))": switches before hosts.
std::string drawn(const NetworkPart& part) {
  std::string inside;
  for (const NetworkPart& child : part.switches) inside += (inside.empty() ? "" : " ") + drawn(child);
  for (const auto& host : part.hosts) inside += (inside.empty() ? "" : " ") + host.name;
  return part.name + "(" + inside + ")";
}

std::string drawn_text(const std::string& text) { return drawn(read_network(text, "file")); }

NetworkPart from_data(const std::string& name) {
  return load_network(std::string(RANKTREE_TEST_DATA) + "/network/" + name);
}

std::string refusal(const std::string& text, Fault fault = Fault::kInput) {
  try {
    read_network(text, "file");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return "";
}

Names expand(const std::string& text) { return expand_hostlist(text, {"file", 1}); }

bool is_accepted(const std::string& text) {
  try {
    return !expand(text).empty();
  } catch (const Error&) {
    return false;
  }
}

Names accepted(const Names& texts) {
  Names result;
  std::copy_if(texts.begin(), texts.end(), std::back_inserter(result), is_accepted);
  return result;
}

TEST(Hostlist, MeansWhatSlurmMeans) {
  EXPECT_EQ(expand("tux[0-3,12,018-020]"),
            (Names{"tux0", "tux1", "tux2", "tux3", "tux12", "tux018", "tux019", "tux020"}));
  EXPECT_EQ(expand("rack[0-1]n[08-10],login"),
            (Names{"rack0n08", "rack0n09", "rack0n10", "rack1n08", "rack1n09", "rack1n10", "login"}));
  EXPECT_EQ(expand("a,b-1.c,[7]x"), (Names{"a", "b-1.c", "7x"}));
  EXPECT_EQ(accepted({"", "a,,b", "a[1", "a1]", "a[]", "a[3-1]", "a[1-]", "a[-1]", "a[x]", "a[1,]", "a b", "a=b"}),
            Names{});
}

TEST(Hostlist, RefusesExplosionsBeforeTheyAreStored) {
  EXPECT_EQ(accepted({"n[0-999999999]", "n[0-999999999999999999]", "n[0-999][0-999][0-999]", "n[0-262143],m",
                      "n[0-262144]", std::string(256, 'x')}),
            Names{});
  EXPECT_EQ(expand("n[0-262143]").size(), std::size_t{262144});
  EXPECT_NE(refusal("SwitchName=a Nodes=n[0-199999]\nSwitchName=b Nodes=m[0-199999]\n").find("file: line 2:"),
            std::string::npos);
}

TEST(Hostlist, NeighboursShareBrackets) {
  EXPECT_EQ(compress_names({"b1", "b2", "b3", "b5", "c1", "d"}), "b[1-3,5],c1,d");
  EXPECT_EQ(compress_names({"n9", "n10", "n011"}), "n[9-10,011]");
  EXPECT_EQ(compress_names({"n08", "n09", "n10"}), "n[08-10]");
  EXPECT_EQ(compress_names({"spine"}), "spine");
  EXPECT_EQ(compress_names({"a", "a"}), "a,a");
}

TEST(SlurmTopology, TheExampleOfTheManual) {
  EXPECT_EQ(drawn(from_data("tree.conf")),
            "(s3(s0(dev0 dev1 dev2 dev3 dev4 dev5) s1(dev6 dev7 dev8 dev9 dev10 dev11) "
            "s2(dev12 dev13 dev14 dev15 dev16 dev17)))");
}

TEST(SlurmTopology, UnconnectedTreesAreSideBySide) {
  EXPECT_EQ(drawn_text("SwitchName=a Nodes=x\nSwitchName=b Nodes=y,z\n"), "(a(x) b(y z))");
  EXPECT_EQ(drawn_text("SwitchName=a Nodes=x[1-2],\\\ny[3\\\n-4]\n"), "(a(x1 x2 y3 y4))");  // Slurm joins them directly
  EXPECT_EQ(drawn_text("SwitchName=top Switches=low Nodes=z\nSwitchName=low Nodes=x\nSwitchName=unused Switches=empty\n"
                       "SwitchName=empty\n"),
            "(top(low(x) z))");
}

TEST(SlurmTopology, BlocksAreAggregatedLikeSlurm) {
  const NetworkPart network = from_data("block.conf");
  ASSERT_EQ(network.switches.size(), 1U);
  EXPECT_EQ(network.switches[0].name, "block[1-4]");
  ASSERT_EQ(network.switches[0].switches.size(), 4U);
  EXPECT_EQ(switches_above(network, "node65"), (Names{"block[1-4]", "block3"}));

  const std::string five =
      "BlockName=b1 Nodes=a\nBlockName=b2 Nodes=b\nBlockName=b3 Nodes=c\nBlockName=b4 Nodes=d\n"
      "BlockName=b5 Nodes=e\n";
  EXPECT_EQ(drawn_text(five), "(b1(a) b2(b) b3(c) b4(d) b5(e))");
  EXPECT_EQ(drawn_text("BlockSizes=1,2,4\n" + five), "(b[1-4](b[1-2](b1(a) b2(b)) b[3-4](b3(c) b4(d))) b5(e))");
  EXPECT_EQ(drawn_text(five + "BlockSizes=1,2,8\n"), "(b[1-5](b[1-2](b1(a) b2(b)) b[3-4](b3(c) b4(d)) b5(e)))");
  EXPECT_EQ(drawn_text(five + "BlockName=b6 Nodes=f\nBlockName=b7 Nodes=g\nBlockSizes=2,4,8\n"),
            "(b[1-4](b[1-2](b1(a) b2(b)) b[3-4](b3(c) b4(d))) b[5-7](b[5-6](b5(e) b6(f)) b7(g)))");
}

TEST(SlurmTopology, BadInputNamesFileAndLine) {
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"SwitchName=a Nodes=x\nSwitchName=b Nodes=x\n", "file: line 2: expected each host once, found 'x' again"},
      {"SwitchName=a Nodes=x,x\n", "which is below 'a' already"},
      {"SwitchName=a Nodes=x\nSwitchName=b Nodes=y%z\n", "file: line 2: expected a host name, found 'y%z'"},
      {"SwitchName=a Nodes=x\nSwitchName=a Nodes=y\n", "file: line 2: expected each switch or block once, found 'a'"},
      {"SwitchName=a Switches=a\n", "file: line 1: expected a tree, found switch 'a' below itself"},
      {"SwitchName=d Switches=a\nSwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=b\n",
       "file: line 4: expected 'b' in one place"},
      {"SwitchName=x Nodes=n\nSwitchName=b Switches=c\nSwitchName=c Switches=b\n", "below itself"},
      {"SwitchName=a Switches=c\nSwitchName=b Switches=c\nSwitchName=c Nodes=x\n",
       "file: line 2: expected 'c' in one place, found it below 'a' and below 'b'"},
      {"\nSwitchName=a Switches=b,nowhere\nSwitchName=b Nodes=x", "file: line 2: expected the name of a switch"},
      {"SwitchName=a Nodes=\n", "expected a value for 'nodes'"},
      {"SwitchName=a Nodes=\"x\n", "closing"},
      {"SwitchName=a Nodes=x[1\n", "closing ']'"},
      {"SwitchName=a Node=x\n", "file: line 1: expected a keyword that topology.conf(5) has here, found 'node'"},
      {"SwitchName=a Nodes=x Nodes=y\n", "each keyword once, found 'nodes'"},
      {"SwitchName=a[0-1] Nodes=x\n", "expected one name, found 'a[0-1]'"},
      {"SwitchName=a Nodes=x rest\n", "expected keyword=value, found 'rest'"},
      {"NodeName=a Nodes=x\n", "expected SwitchName=, BlockName= or BlockSizes=, found 'nodename'"},
      {"SwitchName=a Nodes=x\nBlockName=b Nodes=y\n", "file: line 2: expected either switches or blocks"},
      {"BlockName=b Nodes=y\nBlockSizes=2,3\n", "file: line 2: expected block sizes"},
      {"BlockName=b Nodes=y\nBlockSizes=0\n", "expected block sizes"},
      {"BlockName=b Nodes=y\nBlockSizes=2,-4\n", "expected block sizes"},
      {"BlockName=b Nodes=y\nBlockSizes=2,x\n", "expected sizes like 4,8,16"},
      {"BlockName=b Nodes=y\nBlockSizes=2\nBlockSizes=4\n", "BlockSizes= once"},
      {"SwitchName=a\n", "file: expected at least one host, found none"},
  };
  for (const Case& each : cases) {
    EXPECT_NE(refusal(each.text).find(each.expected), std::string::npos) << each.text << refusal(each.text);
  }
  EXPECT_NE(refusal("RingName=r Nodes=n[1-4]\n", Fault::kUnsupported).find("line 1: topology/ring"), std::string::npos);
  EXPECT_NE(refusal("Include other.conf\nSwitchName=a Nodes=x\n").find("file: line 1: expected keyword=value"),
            std::string::npos);
}

TEST(SlurmTopology, TooManyLevelsAreRefused) {
  std::string text;
  for (int i = 0; i < 25; ++i) {
    text += "SwitchName=s" + std::to_string(i) + (i < 24 ? " Switches=s" + std::to_string(i + 1) : " Nodes=n") + "\n";
  }
  EXPECT_NE(refusal(text).find("file: line 25: expected at most 24 levels"), std::string::npos);
}

TEST(SlurmYaml, TheClusterDefaultIsTaken) {
  EXPECT_EQ(drawn(from_data("topology.yaml")), "(s0(s1(n0 n1 n2 n3) s2(n4 n5 n6)))");
  EXPECT_EQ(drawn_text("- topology: a\n  tree:\n    switches:\n      - switch: x\n        nodes: n0\n"
                       "- topology: b\n  flat: true\n"),
            "(x(n0))");
}

TEST(SlurmYaml, Blocks) {
  EXPECT_EQ(switches_above(from_data("blocks.yaml"), "node07"), (Names{"b[1-4]", "b[1-2]", "b2"}));
  EXPECT_EQ(switches_above(from_data("blocks.yaml"), "node20"), (Names{"b5"}));
}

TEST(SwitchesAbove, AreUnknownWhereAShortNameHasSeveralHosts) {
  const NetworkPart network = read_network("n1.east core.r0\nn1.west core.r1\nn2.east core.r0\n", "hosts");
  EXPECT_EQ(switches_above(network, "n1"), Names{});
  EXPECT_NE(switches_above(network, "n1.west"), switches_above(network, "n1.east"));
  EXPECT_EQ(switches_above(network, "n2"), switches_above(network, "n2.east"));
}

TEST(SlurmYaml, FlatHasNoSwitches) {
  EXPECT_EQ(drawn_text("- topology: a\n  flat: true\n"), "()");
  EXPECT_EQ(drawn_text("- topology: a\n  flat:\n    alpha_step_rank: true\n"), "()");
}

TEST(SlurmYaml, BadInputNamesFileAndLine) {
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::string tree = "- topology: a\n  tree:\n    switches:\n";
  const std::vector<Case> cases{
      {"- topology: [\n", "file: line 2: expected YAML, found: "},
      {"---\n", "expected a list of topologies"},
      {"topology: a\nflat: true\n", "file: line 1: expected a list of topologies, found 'keys and values'"},
      {"[]", "expected at least one topology"},
      {"- topology: a\n", "expected 'tree:', 'block:' or 'flat: true'"},
      {"- topology: a\n  flat: false\n", "file: line 2: expected 'flat: true'"},
      {"- tree: {}\n", "expected the key 'topology'"},
      {"- topology: a\n  cluster_default: perhaps\n  flat: true\n", "file: line 2: expected true or false"},
      {"- topology: a\n  tree: {}\n", "expected the key 'switches'"},
      {tree + "      - switch: s\n        nodess: n0\n", "file: line 5: expected a key that topology.yaml(5) has here"},
      {tree + "      - switch: s\n        nodes: n0\n        nodes: n1\n", "file: line 6: expected each key once"},
      {tree + "      - switch: s\n        nodes: n0\n      - switch: t\n        nodes: n0\n",
       "file: line 7: expected each host once"},
      {tree + "      - switch: s\n        children: t\n",
       "file: line 5: expected the name of a switch that has a line"},
      {tree + "      - nodes: n0\n", "file: line 4: expected the key 'switch'"},
      {"- topology: " + std::string(1000000, '['), "file: line 1: expected topologies, found lists in lists too deep"},
      {"- topology: a\n  block:\n    block_sizes: [2, 5]\n    blocks: []\n", "file: line 3: expected block sizes"},
      {"- topology: a\n  block:\n    block_sizes: [two]\n    blocks: []\n", "expected a number, found 'two'"},
  };
  for (const Case& each : cases) {
    EXPECT_NE(refusal(each.text).find(each.expected), std::string::npos)
        << each.text.substr(0, 200) << refusal(each.text);
  }
  EXPECT_NE(refusal("- topology: a\n  torus3d: {}\n", Fault::kUnsupported).find("line 2: topology/torus3d"),
            std::string::npos);
}

TEST(Ibnetdiscover, SpinesThatAllLeavesReachAreOnePart) {
  EXPECT_EQ(drawn(from_data("fat-tree.ibnetdiscover")),
            "(MF0;spine1:MSB7700/U1,MF0;spine2:MSB7700/U1(MF0;leaf1:MSB7700/U1(n0 n1) MF0;leaf2:MSB7700/U1(n2 n3)))");
}

TEST(Ibnetdiscover, PodsBelowCores) {
  const NetworkPart network = from_data("three-levels.ibnetdiscover");
  const std::string cores = "MF0;core0:MQM8700/U1,MF0;core1:MQM8700/U1";
  EXPECT_EQ(drawn(network), "(" + cores +
                                "(MF0;mid00:MQM8700/U1,MF0;mid01:MQM8700/U1(S-248a070300030000(c0.cluster.org) "
                                "S-248a070300030010(c1.cluster.org)) MF0;mid10:MQM8700/U1,MF0;mid11:MQM8700/U1("
                                "S-248a070300030020(c2.cluster.org) S-248a070300030030(c3.cluster.org))))");
  EXPECT_EQ(switches_above(network, "c3"),
            (Names{cores, "MF0;mid10:MQM8700/U1,MF0;mid11:MQM8700/U1", "S-248a070300030030"}));
}

TEST(Ibnetdiscover, LinksCountFromEitherEnd) {
  const std::string leaf = "Switch 4 \"S-1\" # \"leaf\" base port 0 lid 1 lmc 0\n";
  const std::string host = "Ca 1 \"H-1\" # \"n0 HCA-1\"\n";
  EXPECT_EQ(drawn_text(leaf + "[1] \"H-1\"[1](1) # \"n0 HCA-1\" lid 2 4xEDR\n" + host), "(leaf(n0))");
  EXPECT_EQ(drawn_text(host + "[1](1) \"S-1\"[1] # lid 2 lmc 0 \"leaf\" lid 1 4xEDR\n" + leaf), "(leaf(n0))");
  EXPECT_EQ(drawn_text(host + "[1](1) \"H-2\"[1](2) # lid 2\nCa 1 \"H-2\" # \"n1 HCA-1\"\n"), "(n0 n1)");
}

TEST(Ibnetdiscover, ADescriptionThatNamesNoHostGivesWayToTheId) {
  const std::string other = "Ca 1 \"H-2\" # \"n1 HCA-1\"\n";
  for (const char* description :
       {"", "localhost mlx5_0", "MT4115 ConnectX4 Mellanox Technologies", "n0,n2 HCA-1", "#0 HCA-1"}) {
    EXPECT_EQ(drawn_text("Ca 1 \"H-1\" # \"" + std::string(description) + "\"\n[1](1) \"H-2\"[1](2) # lid 2\n" + other),
              "(H-1 n1)");
  }
}

TEST(Ibnetdiscover, BadInputNamesFileAndLine) {
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::string leaf = "Switch 4 \"S-1\" # \"leaf\"\n";
  const std::vector<Case> cases{
      {"[1] \"H-1\"[1]\n" + leaf, "file: line 1: expected a Switch or Ca line above links"},
      {leaf + "[one] \"H-1\"[1]\n", "file: line 2: expected a port like [1]"},
      {leaf + "[1] H-1[1]\n", "file: line 2: expected the id of the other end in quotes"},
      {leaf + "[1] \"H-1\"[1]\n", "file: line 2: expected a device of this file, found 'H-1'"},
      {leaf + leaf, "file: line 2: expected each device once, found 'S-1' again"},
      {"Switch 4 \"S-1\n", "file: line 1: expected the device's id in quotes"},
      {leaf, "file: expected at least one host (Ca), found none"},
  };
  for (const Case& each : cases) {
    EXPECT_NE(refusal(each.text).find(each.expected), std::string::npos) << each.text << refusal(each.text);
  }
}

TEST(HostFile, LinesOfHostAndSwitches) {
  EXPECT_EQ(drawn(from_data("hosts.txt")), "(core(rack0(n0 n1) rack1(n2 n3)) login0)");
  EXPECT_EQ(drawn_text("n0 a.b\r\nn1 a\r\n"), "(a(b(n0) n1))");
}

TEST(HostFile, BadInputNamesFileAndLine) {
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"", "file: line 1: expected topology.conf, topology.yaml, ibnetdiscover's output or lines 'host switch.switch'"},
      {"# nothing\n\n", "found nothing"},
      {"<?xml version=\"1.0\"?>\n", "found '<?xml"},
      {"n0 a b\n", "file: line 1: expected 'host switch.switch', found 'b'"},
      {"n0 a..b\n", "file: line 1: expected a name"},
      {"n0 a[0-1]\n", "expected one switch between two points"},
      {"n0 a\nn0 b\n", "file: line 2: expected each host once"},
      {"n0 a.b\nn1 c.b\n", "file: line 2: expected 'b' in one place, found it below 'a' and below 'c'"},
      {"n0 a.b\nn1 b\n", "file: line 2: expected 'b' in one place"},
      {"n1 b\nn0 a.b\n", "file: line 2: expected 'b' in one place"},
      {"n0 a.a\n", "file: line 1: expected 'a' in one place"},
      {"n0 a.b.a\n", "file: line 1: expected 'a' in one place"},
  };
  for (const Case& each : cases) {
    EXPECT_NE(refusal(each.text).find(each.expected), std::string::npos) << each.text << refusal(each.text);
  }
}

TEST(Network, FilesThatCannotBeReadAreNamed) { EXPECT_THROW(load_network("/nowhere/topology.conf"), Error); }

TEST(Network, ACommentMayFollowAHostWithOrWithoutSwitches) {
  const NetworkPart network = read_network("n0 # the login node\nn1 #the other\nn2 a # below a\n", "file");
  EXPECT_EQ(switches_above(network, "n0"), Names{});
  EXPECT_EQ(switches_above(network, "n2"), (Names{"a"}));
}

TEST(Network, AHostIsFoundWithAndWithoutItsDomain) {
  const NetworkPart network = read_network("n0.cluster.org a.b\nn1 a.c\nn1.other.org d\n", "file");
  EXPECT_EQ(switches_above(network, "n0"), (Names{"a", "b"}));
  EXPECT_EQ(switches_above(network, "n1"), (Names{"a", "c"}));
  EXPECT_EQ(switches_above(network, "n1.other.org"), (Names{"d"}));
  EXPECT_EQ(switches_above(network, "n2"), Names{});
}

TEST(SlurmAddress, SwitchesAndBlocksOutermostFirst) {
  EXPECT_EQ(switches_of_address("root.leaf1.n5", "switch.switch.node", "n5"), (Names{"root", "leaf1"}));
  EXPECT_EQ(switches_of_address("root.leaf1.n5.cluster.org", "switch.switch.node", "n5"), (Names{"root", "leaf1"}));
  EXPECT_EQ(switches_of_address("b[1-4].b2.n5", "block.block.node", "n5"), (Names{"b[1-4]", "b2"}));
  // As Slurm 22.05 writes it for "leaf0 below mid below root, leaf1 below root": a branch that lacks a level.
  EXPECT_EQ(switches_of_address("root.mid.leaf0.n1", "switch.switch.switch.node", "n1"),
            (Names{"root", "mid", "leaf0"}));
  EXPECT_EQ(switches_of_address("root..leaf1.n2", "switch.switch.switch.node", "n2"), (Names{"root", "leaf1"}));
  EXPECT_EQ(switches_of_address("n5", "node", "n5"), Names{});
  EXPECT_EQ(switches_of_address("", "", "n5"), Names{});
  EXPECT_EQ(switches_of_address("root.n5", "switch.switch.node", "n5"), Names{});
  EXPECT_EQ(switches_of_address("root.n5", "switch", "n5"), Names{});
  EXPECT_EQ(switches_of_address("root.n5", "place.node", "n5"), Names{});
  // A name with points, and the node of another rank's environment.
  EXPECT_EQ(switches_of_address("root.n5.cluster.org", "switch.node", "n5.cluster.org"), (Names{"root"}));
  EXPECT_EQ(switches_of_address("root.n5", "switch.node", "n5.cluster.org"), (Names{"root"}));
  EXPECT_EQ(switches_of_address("root.n5", "switch.node", "n6"), Names{});
  EXPECT_EQ(switches_of_address("root.n5.cluster.org", "switch.node", "org"), Names{});
}

}  // namespace
