// Distances of nodes in networks that are not trees, compared with paths found link by link.
#include "core/topo/interconnect.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

using namespace ranktree::core::topo;
using ranktree::core::Error;

std::vector<int> all(int hosts) {
  std::vector<int> positions(static_cast<std::size_t>(hosts));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

Torus torus(const std::vector<int>& sizes, bool wraps) {
  return {sizes, std::vector<std::uint8_t>(sizes.size(), wraps ? 1 : 0), std::vector<Step>(sizes.size())};
}

struct Link {
  int a, b;
  double cost;
};

// Shortest paths by Bellman and Ford, from each vertex.
std::vector<std::vector<double>> shortest(int vertices, const std::vector<Link>& links) {
  std::vector<std::vector<double>> distance(
      static_cast<std::size_t>(vertices),
      std::vector<double>(static_cast<std::size_t>(vertices), std::numeric_limits<double>::infinity()));
  for (std::size_t from = 0; from < distance.size(); ++from) {
    auto& row = distance[from];
    row[from] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [a, b, cost] : links) {
        const auto i = static_cast<std::size_t>(a);
        const auto j = static_cast<std::size_t>(b);
        if (row[i] + cost < row[j]) row[j] = row[i] + cost, changed = true;
        if (row[j] + cost < row[i]) row[i] = row[j] + cost, changed = true;
      }
    }
  }
  return distance;
}

TEST(Interconnect, TorusDistancesAreShortestPaths) {
  for (const bool wraps : {true, false}) {
    Torus network = torus({3, 4, 5}, wraps);
    network.steps[2].hops = 2.5;
    std::vector<Link> links;
    for (int x = 0; x < 3; ++x) {
      for (int y = 0; y < 4; ++y) {
        for (int z = 0; z < 5; ++z) {
          const int here = (x * 4 + y) * 5 + z;
          if (x + 1 < 3 || wraps) links.push_back({here, ((x + 1) % 3 * 4 + y) * 5 + z, 1});
          if (y + 1 < 4 || wraps) links.push_back({here, (x * 4 + (y + 1) % 4) * 5 + z, 1});
          if (z + 1 < 5 || wraps) links.push_back({here, (x * 4 + y) * 5 + (z + 1) % 5, 2.5});
        }
      }
    }
    const auto expected = shortest(60, links);
    const Interconnect interconnect(network, all(60));
    for (int a = 0; a < 60; ++a) {
      for (int b = 0; b < 60; ++b) {
        EXPECT_DOUBLE_EQ(interconnect.distance(a, b),
                         expected[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]);
      }
    }
    EXPECT_EQ(interconnect.nearest(), 1);
  }
}

// Each group's links go to the other groups in order, `links` of each router.
TEST(Interconnect, DragonflyDistancesAreShortestPathsOfOneGlobalLink) {
  constexpr int kGroups = 5;
  constexpr int kRouters = 2;
  constexpr int kLinks = 2;
  const Interconnect interconnect(Dragonfly{kGroups, kRouters, 3, kLinks, {1}, {3}, {0.5}},
                                  all(kGroups * kRouters * 3));
  std::vector<Link> links;
  for (int group = 0; group < kGroups; ++group) {
    links.push_back({group * kRouters, group * kRouters + 1, 1});
    for (int link = 0; link < kGroups - 1; ++link) {
      const int other = link < group ? link : link + 1;
      const int back = group < other ? group : group - 1;  // which of the other's links comes here
      links.push_back({group * kRouters + link / kLinks, other * kRouters + back / kLinks, 3});
    }
  }
  const auto routers = shortest(kGroups * kRouters, links);
  for (int a = 0; a < interconnect.hosts(); ++a) {
    for (int b = 0; b < interconnect.hosts(); ++b) {
      const double between = routers[static_cast<std::size_t>(a / 3)][static_cast<std::size_t>(b / 3)];
      // Two global links cost more than two local ones and one global: never shortest here.
      EXPECT_EQ(interconnect.distance(a, b), a == b ? 0 : between + 1);
    }
  }
  EXPECT_EQ(interconnect.nearest(), 1);
}

TEST(Interconnect, TablesAreMadeSymmetric) {
  const Interconnect interconnect(DistanceTable{3, false, {0, 1, 4, 3, 0, 6, 4, 8, 0}}, {2, 0, 1});
  EXPECT_EQ(interconnect.distance(1, 2), 2);
  EXPECT_EQ(interconnect.distance(0, 2), 7);
  EXPECT_EQ(interconnect.nearest(), 2);
  EXPECT_EQ(interconnect.near(0, 1), std::vector<int>{1});
}

TEST(Interconnect, NearHostsAreNearestFirst) {
  const Interconnect interconnect(torus({4, 4}, true), all(16));
  EXPECT_EQ(interconnect.near(0, 9), (std::vector<int>{1, 3, 4, 12}));
  EXPECT_EQ(interconnect.near(0, 2), (std::vector<int>{1, 3}));
  EXPECT_EQ(Interconnect(torus({4, 4}, false), all(16)).near(0, 9), (std::vector<int>{1, 4}));
  const Interconnect part(torus({4, 4}, true), {0, 5, 1});
  EXPECT_EQ(part.near(0, 9), std::vector<int>{2});
}

TEST(Interconnect, LatenciesAreThoseGiven) {
  Torus network = torus({4}, true);
  EXPECT_THROW((void)Interconnect(network, all(4)).with_metric(Metric::kLatency), Error);
  network.steps[0].latency = 1e-6;
  const Interconnect known = Interconnect(network, all(4)).with_metric(Metric::kLatency);
  EXPECT_DOUBLE_EQ(known.distance(0, 2), 2e-6);
  EXPECT_THROW((void)known.with_metric(Metric::kBandwidth), Error);
  const Interconnect seconds(DistanceTable{2, true, {0, 1e-6, 1e-6, 0}}, all(2));
  EXPECT_THROW((void)seconds.with_metric(Metric::kHops), Error);
  EXPECT_EQ(seconds.with_metric(Metric::kLatency).distance(0, 1), 1e-6);
}

TEST(Interconnect, RefusesWhatIsNoNetwork) {
  const auto refused = [](const Interconnect::Network& network, const std::vector<int>& positions,
                          const std::string& text) {
    try {
      const Interconnect made(network, positions);
      ADD_FAILURE() << "accepted, expected " << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  refused(torus({}, true), {}, "dimensions");
  refused(torus({4, 0}, true), {0}, "at least 1");
  refused(torus({1 << 20, 2}, true), {0}, "at most 1048576 nodes");
  refused(torus({4}, true), {0, 4}, "position in 0..3");
  refused(torus({4}, true), {0, 0}, "taken");
  refused(Dragonfly{9, 2, 1, 3, {}, {}, {}}, {0}, "global links");
  refused(Dragonfly{2, 2, 1, 0, {-1}, {}, {}}, {0}, "local");
  refused(DistanceTable{2, false, {0, 1, 1}}, {0, 1}, "2 x 2");
  refused(DistanceTable{2, false, {0, 1, 1, 2}}, {0, 1}, "distances[1][1]");
  refused(DistanceTable{2, false, {0, std::numeric_limits<double>::quiet_NaN(), 1, 0}}, {0, 1}, "distances[0][1]");
}

TEST(Interconnect, ATreeAddsThePathOutOfItsNodes) {
  const std::vector<Level> levels{
      {Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kPackage, {}, {}}, {Kind::kCore, {}, {}}};
  const std::vector<int> arities{4, 2, 2};
  const Tree plain = uniform_tree(levels, arities);
  const auto ring = std::make_shared<const Interconnect>(torus({4}, true), all(4));
  const Tree tree = plain.with_interconnect(ring);
  EXPECT_EQ(tree.distance(0, 1), 2);
  EXPECT_EQ(tree.distance(0, 2), 4);
  EXPECT_EQ(tree.distance(0, 4), 5);
  EXPECT_EQ(tree.distance(0, 8), 6);
  EXPECT_EQ(tree.distance(0, 12), 5);
  EXPECT_EQ(tree.cost(0), 5);
  const Tree cut = tree.cut_at(Kind::kPackage);
  EXPECT_EQ(cut.distance(0, 4), 4);  // one level less on the path, two steps in the ring
  EXPECT_EQ(cut.with_metric(Metric::kHops).distance(0, 2), 3);
  EXPECT_EQ(tree.with_costs(std::vector<double>{9, 2, 1}).distance(0, 8), 9);
  EXPECT_THROW((void)plain.with_interconnect(std::make_shared<const Interconnect>(torus({5}, true), all(5))), Error);
}

}  // namespace
