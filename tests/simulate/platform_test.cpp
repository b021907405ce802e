#include "core/simulate/platform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"
#include "core/topo/machine.h"
#include "io/machine_file.h"

namespace {

using ranktree::core::simulate::LinkId;
using ranktree::core::simulate::Platform;
using ranktree::core::simulate::Route;
using ranktree::core::topo::Kind;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Machine;

// `network` and `costs` are JSON; every node is a "package:2 core:2".
Machine machine(const std::string& network, const std::string& costs) {
  return ranktree::io::read_machine(
      R"({"format": "ranktree-machine", "version": 1, "shapes": {"s": "package:2 core:2"},)"
      R"("network": )" +
          network + R"(, "costs": )" + costs + "}",
      "test");
}

const std::string kInside = R"("Node": {"latency_s": 4e-7, "bandwidth_bytes_per_s": 4e9},
                               "Package": {"latency_s": 1e-7, "bandwidth_bytes_per_s": 3e9})";

std::string costs(double cluster, double switches) {
  return R"({"Cluster": {"latency_s": 3e-6, "bandwidth_bytes_per_s": )" + std::to_string(cluster) +
         R"(}, "Switch": {"latency_s": 2e-6, "bandwidth_bytes_per_s": )" + std::to_string(switches) + "}, " + kInside +
         "}";
}

// Two switches of three nodes; leaves 0..11 below the first.
std::string two_switches(const std::string& uplinks) {
  return R"({"switches": [{"name": "a", "hosts": [{"names": "n[0-2]", "shape": "s"}]},
                          {"name": "b", "hosts": [{"names": "n[3-5]", "shape": "s"}]}], "uplinks": )" +
         uplinks + "}";
}

double narrowest(const Platform& platform, const Route& route) {
  double least = 1e300;
  for (const LinkId link : route.links) least = std::min(least, platform.bandwidth(link));
  return least;
}

std::vector<std::string> names(const Platform& platform, const Route& route) {
  std::vector<std::string> result;
  for (const LinkId link : route.links) result.push_back(platform.link_name(link));
  return result;
}

TEST(Platform, GivesAMessageAloneTheLatencyAndBandwidthOfItsLevel) {
  const Platform platform(machine(two_switches("{}"), costs(1e9, 2e9)), Kind::kCore);
  const auto expect = [&](Leaf to, double latency, double bandwidth) {
    const Route route = platform.route(0, to);
    EXPECT_DOUBLE_EQ(route.latency, latency) << to;
    EXPECT_DOUBLE_EQ(narrowest(platform, route), bandwidth) << to;
  };
  expect(1, 1e-7, 3e9);  // less than the Node level's, which its leaves' links have
  expect(2, 4e-7, 4e9);
  expect(4, 2e-6, 2e9);
  expect(12, 3e-6, 1e9);
}

TEST(Platform, PassesTheLinksOfTheTreeInOrder) {
  const Platform platform(machine(two_switches("{}"), costs(2e9, 2e9)), Kind::kCore);
  EXPECT_EQ(
      names(platform, platform.route(0, 3)),
      (std::vector<std::string>{"Core 0 of n0 up", "Package 0 of n0 up", "Package 1 of n0 down", "Core 3 of n0 down"}));
  EXPECT_EQ(names(platform, platform.route(0, 4)), (std::vector<std::string>{"node n0 up", "node n1 down"}));
  EXPECT_EQ(names(platform, platform.route(0, 23)), (std::vector<std::string>{"node n0 up", "node n5 down"}));
}

TEST(Platform, TakesHostsThatAreNotEquallyDeep) {
  const Platform platform(
      machine(R"({"switches": [{"name": "a", "switches": [{"name": "b", "hosts": [{"names": "n[0-1]", "shape": "s"}]}]},
                               {"name": "c", "hosts": [{"names": "n2", "shape": "s"}]}],
                  "hosts": [{"names": "login", "shape": "s"}]})",
              costs(2e9, 2e9)),
      Kind::kCore);
  std::set<std::string> first;
  std::set<std::string> last;
  for (Leaf from = 0; from < 16; from += 4) {
    const auto passed = names(platform, platform.route(from, (from + 4) % 16));
    first.insert(passed.front());
    last.insert(passed.back());
  }
  EXPECT_EQ(first, (std::set<std::string>{"node login up", "node n0 up", "node n1 up", "node n2 up"}));
  EXPECT_EQ(last, (std::set<std::string>{"node login down", "node n0 down", "node n1 down", "node n2 down"}));
}

TEST(Platform, PassesUplinksThatAreOversubscribed) {
  const Platform platform(machine(two_switches(R"({"oversubscription": 2})"), costs(2e9, 2e9)), Kind::kCore);
  EXPECT_EQ(names(platform, platform.route(0, 23)),
            (std::vector<std::string>{"node n0 up", "switch a up", "switch b down", "node n5 down"}));
}

TEST(Platform, HasALinkOfItsOwnForALevelBelowTheNodesBandwidth) {
  const Platform platform(machine(two_switches("{}"), costs(1e9, 2e9)), Kind::kCore);
  EXPECT_EQ(names(platform, platform.route(0, 23)),
            (std::vector<std::string>{"node n0 up", "node n0 up to the level Cluster",
                                      "node n5 down to the level Cluster", "node n5 down"}));
}

TEST(Platform, HasALinkOfItsOwnForALevelInsideTheNodeBelowTheNodesBandwidth) {
  const Platform platform(machine(two_switches("{}"), costs(2e9, 2e9)), Kind::kCore);
  const Route there = platform.route(2, 3);
  EXPECT_EQ(names(platform, there),
            (std::vector<std::string>{"Core 2 of n0 up to the level Package", "Core 2 of n0 up", "Core 3 of n0 down",
                                      "Core 3 of n0 down to the level Package"}));
  Route back = there;
  platform.turn_back(2, 3, back);
  EXPECT_EQ(back.links, platform.route(3, 2).links);
  const std::vector<LinkId> own = platform.links_of(2);
  EXPECT_EQ(std::count(own.begin(), own.end(), there.links[0]), 1);
}

TEST(Platform, DividesUplinksByTheOversubscriptionOfEachLayerOfSwitches) {
  const Platform platform(machine(R"({"kind": "fat-tree", "arities": [2, 2, 4], "uplinks": {"oversubscription": 2},
                  "hosts": [{"names": "n[0-15]", "shape": "s"}]})",
                                  costs(2e9, 2e9)),
                          Kind::kCore);
  std::vector<double> found;
  for (const LinkId link : platform.route(0, 63).links) found.push_back(platform.bandwidth(link));
  EXPECT_EQ(found, (std::vector<double>{2e9, 4e9, 4e9, 4e9, 4e9, 2e9}));
}

TEST(Platform, DividesUplinksByTheOversubscription) {
  const auto uplink = [](const std::string& uplinks) {
    const Platform platform(machine(two_switches(uplinks), costs(2e9, 2e9)), Kind::kCore);
    return platform.bandwidth(platform.route(0, 12).links[1]);
  };
  EXPECT_DOUBLE_EQ(uplink(R"({"oversubscription": 3})"), 2e9);
  EXPECT_DOUBLE_EQ(uplink(R"({"oversubscription": 1.5})"), 4e9);
  EXPECT_DOUBLE_EQ(uplink(R"([{"bandwidth_bytes_per_s": 5e8}])"), 5e8);
}

// The links below a switch are as wide as they are, also where they carry more than what is below them sends.
TEST(Platform, DividesUplinksThatAreWiderThanWhatIsBelow) {
  const Platform platform(machine(R"({"kind": "fat-tree", "arities": [2, 2, 2],
                  "uplinks": [{"oversubscription": 2}, {"bandwidth_bytes_per_s": 1e10}],
                  "hosts": [{"names": "n[0-7]", "shape": "s"}]})",
                                  costs(2e9, 2e9)),
                          Kind::kCore);
  std::vector<double> found;  // the lowest switches need no links of their own, those above them 2 x 1e10 / 2
  for (const LinkId link : platform.route(0, 31).links) found.push_back(platform.bandwidth(link));
  EXPECT_EQ(found, (std::vector<double>{2e9, 1e10, 1e10, 2e9}));
}

TEST(Platform, RoutesATorusDimensionByDimensionInTheShorterDirection) {
  const Platform platform(
      machine(R"({"kind": "torus", "dims": [5, 4], "wrap": [true, false], "latency_s": {"hop": 1e-7},
      "bandwidth_bytes_per_s": {"hop": [4e8, 5e8]}, "hosts": [{"names": "t[0-19]", "shape": "s"}]})",
              "{" + kInside + "}"),
      Kind::kCore);
  const Route route = platform.route(0, 4 * (4 * 4 + 3));  // from (0, 0) to (4, 3)
  EXPECT_EQ(names(platform, route),
            (std::vector<std::string>{"router 0 -0", "router 16 +1", "router 17 +1", "router 18 +1"}));
  EXPECT_DOUBLE_EQ(route.latency, 4e-7 + 4e-7);
  EXPECT_DOUBLE_EQ(platform.bandwidth(route.links[0]), 4e8);
  EXPECT_DOUBLE_EQ(platform.bandwidth(route.links[1]), 5e8);
}

TEST(Platform, RoutesADragonflyOverTheOneLinkOfTwoGroups) {
  const Platform platform(
      machine(R"({"kind": "dragonfly", "groups": 3, "routers_per_group": 2, "nodes_per_router": 2, "global_links": 1,
      "latency_s": {"local": 1e-7, "global": 1e-6, "node_link": 2e-7},
      "bandwidth_bytes_per_s": {"local": 3e9, "global": 1e9, "node_link": 2e9},
      "hosts": [{"names": "d[0-11]", "shape": "s"}]})",
              "{" + kInside + "}"),
      Kind::kCore);
  // From router 0 of group 0, whose link leads to group 1, to router 1 of group 2, whose link leads to group 1.
  const Route route = platform.route(0, 4 * 11);
  EXPECT_EQ(names(platform, route),
            (std::vector<std::string>{"node d0 up", "router 0 to router 1", "group 0 to group 2",
                                      "router 4 to router 5", "node d11 down"}));
  EXPECT_DOUBLE_EQ(route.latency, 2 * 2e-7 + 2 * 1e-7 + 1e-6 + 4e-7);
  EXPECT_DOUBLE_EQ(narrowest(platform, route), 1e9);
}

TEST(Platform, TakesLatenciesOfATable) {
  const Platform platform(machine(R"({"kind": "matrix", "unit": "s", "distances": [[0, 1e-6], [1e-6, 0]],
      "bandwidth_bytes_per_s": {"node_link": 7e8}, "hosts": [{"names": "m[0-1]", "shape": "s"}]})",
                                  "{" + kInside + "}"),
                          Kind::kCore);
  const Route route = platform.route(3, 4);
  EXPECT_DOUBLE_EQ(route.latency, 1e-6 + 4e-7);
  EXPECT_DOUBLE_EQ(narrowest(platform, route), 7e8);
  EXPECT_EQ(names(platform, route), (std::vector<std::string>{"node m0 up", "node m1 down"}));
}

TEST(Platform, HasUsualCostsWhereTheMachineHasNone) {
  const Platform platform(machine(two_switches("{}"), "{}"), Kind::kCore);
  for (const auto& cost : platform.costs()) {
    EXPECT_FALSE(cost.latency_given || cost.bandwidth_given);
    EXPECT_GT(cost.latency, 0);
    EXPECT_GT(cost.bandwidth, 0);
  }
  EXPECT_GT(platform.route(0, 12).latency, platform.route(0, 4).latency);
}

// Every link of every route exists, a route back passes as many, and turning a route gives the route back.
void expect_routes(const Platform& platform) {
  for (Leaf a = 0; a < platform.tree().leaf_count(); ++a) {
    for (Leaf b = 0; b < platform.tree().leaf_count(); ++b) {
      SCOPED_TRACE(std::to_string(a) + " to " + std::to_string(b));
      const Route there = platform.route(a, b);
      const Route back = platform.route(b, a);
      EXPECT_EQ(there.links.size(), back.links.size());
      EXPECT_EQ(std::set<LinkId>(there.links.begin(), there.links.end()).size(), there.links.size());
      for (const LinkId link : there.links) EXPECT_TRUE(link >= 0 && link < platform.link_count());
      EXPECT_FALSE(there.links.empty());
      EXPECT_EQ(there.distance, platform.tree().distance(a, b));
      Route turned = there;
      platform.turn_back(a, b, turned);
      EXPECT_EQ(turned.links, back.links);
      EXPECT_EQ(turned.latency, back.latency);
      EXPECT_EQ(turned.distance, back.distance);
    }
  }
}

TEST(Platform, RoutesEveryPair) {
  for (const std::string& network :
       {two_switches(R"({"oversubscription": 2})"),
        std::string(R"({"kind": "torus", "dims": [3, 2], "hosts": [{"names": "t[0-5]", "shape": "s"}]})"),
        std::string(R"({"kind": "torus", "dims": [4], "nodes_per_router": 2, "positions": [5, 0, 3],
                        "hosts": [{"names": "t[0-2]", "shape": "s"}]})"),
        std::string(R"({"kind": "dragonfly", "groups": 2, "routers_per_group": 3,
                        "hosts": [{"names": "d[0-5]", "shape": "s"}]})")}) {
    SCOPED_TRACE(network);
    expect_routes(Platform(machine(network, "{}"), Kind::kCore));
  }
  expect_routes(Platform(machine(two_switches("{}"), costs(1e8, 1e9)), Kind::kCore));
}

TEST(Platform, HasNoNetworkOnOneNode) {
  const Platform platform(machine(R"({"hosts": [{"names": "only", "shape": "s"}]})", "{}"), Kind::kCore);
  EXPECT_EQ(platform.network_link_count(), 0);
  EXPECT_EQ(names(platform, platform.route(0, 1)),
            (std::vector<std::string>{"Core 0 of only up", "Core 1 of only down"}));
}

TEST(Uplinks, AreWrittenAndReadAgain) {
  const Machine written = machine(two_switches(R"([{"oversubscription": 2.5}])"), "{}");
  const Machine read = ranktree::io::read_machine(ranktree::io::write_machine(written), "again");
  ASSERT_EQ(read.uplinks.size(), std::size_t{1});
  EXPECT_DOUBLE_EQ(read.uplinks[0].oversubscription, 2.5);
  const Machine through_a_tree = ranktree::core::topo::to_machine(ranktree::core::topo::to_tree(written));
  EXPECT_EQ(through_a_tree.uplinks, written.uplinks);
}

TEST(Uplinks, AreRefusedWhereTheyMakeNoSense) {
  const auto refused = [](const std::string& network, const std::string& part) {
    try {
      (void)machine(network, "{}");
      ADD_FAILURE() << network;
    } catch (const ranktree::core::Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused(two_switches(R"([{}, {}])"), "network.uplinks");
  refused(two_switches(R"({"oversubscription": 0})"), "network.uplinks.oversubscription");
  refused(R"({"hosts": [{"names": "n[0-1]", "shape": "s"}], "uplinks": {}})", "without switches");
  refused(R"({"kind": "torus", "dims": [2], "bandwidth_bytes_per_s": {"hop": 0},
              "hosts": [{"names": "n[0-1]", "shape": "s"}]})",
          "network.bandwidth_bytes_per_s.hop");
}

}  // namespace
