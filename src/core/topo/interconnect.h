// Distances between nodes where the network is not a tree: a torus, a dragonfly, or a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/index.h"

namespace ranktree::core::topo {

enum class Metric : std::uint8_t;

// The cost of one step in the network.
struct Step {
  double hops = 1;
  std::optional<double> latency = std::nullopt;    // seconds
  std::optional<double> bandwidth = std::nullopt;  // of its link, one direction, bytes per second: for simulations
};

// Routers on a grid whose dimensions may wrap around. Node p is at router p / nodes_per_router; routers are numbered
// row by row, the last dimension fastest.
struct Torus {
  std::vector<int> sizes;
  std::vector<std::uint8_t> wraps;  // by dimension: whether the last router is a neighbour of the first
  std::vector<Step> steps;          // by dimension: from one router to the next
  int nodes_per_router = 1;
  Step link{0};  // between a node and its router
};

// Fully connected groups of fully connected routers (J. Kim, W. Dally, S. Scott, D. Abts, Technology-Driven,
// Highly-Scalable Dragonfly Topology, ISCA 2008). Each router has the same number of global links. The links of a group
// lead to the other groups in order ("absolute" arrangement). Packets take the shortest path.
struct Dragonfly {
  int groups = 1;
  int routers_per_group = 1;
  int nodes_per_router = 1;
  int global_links = 0;  // per router; 0: as many as are needed
  Step local, global, link;
};

// A table of arbitrary distances, row by row.
struct DistanceTable {
  int nodes = 0;
  bool seconds = false;  // false: in hops
  std::vector<double> values;
  std::optional<double> bandwidth = std::nullopt;  // of a node's link to the network: for simulations
};

// The position of each host in a network, and the distances between hosts, in hops or seconds. A value, immutable.
// Distances are symmetric, and 0 from a host to itself.
class Interconnect {
 public:
  using Network = std::variant<Torus, Dragonfly, DistanceTable>;

  // Host i is node position[i] of the network; positions are distinct. Throws Error(kInput) naming what is wrong. An
  // asymmetric table is replaced by the mean of both directions. Distances are in hops; those of a table in seconds are
  // in seconds.
  Interconnect(Network network, std::vector<int> position);

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const std::vector<int>& positions() const { return position_; }
  [[nodiscard]] int hosts() const { return static_cast<int>(position_.size()); }

  // O(1); for a torus O(dimensions).
  [[nodiscard]] double distance(int a, int b) const;
  // The smallest distance between two hosts.
  [[nodiscard]] double nearest() const { return nearest_; }
  // The nearest hosts of a host, without itself, at most `most`, in order of distance. O(result); for a table O(hosts).
  [[nodiscard]] std::vector<int> near(int host, int most) const;

  // The host at a node of the network, -1 where there is none.
  [[nodiscard]] int host_at(std::int64_t position) const { return host_at_[at(position)]; }
  // For a torus: the coordinate of the host's router.
  [[nodiscard]] int coordinate(int host, std::size_t dimension) const {
    return coordinate_[at(host) * step_.size() + dimension];
  }

  // A copy that counts hops or seconds. Throws Error(kUnsupported) where these are not known.
  [[nodiscard]] Interconnect with_metric(Metric metric) const;

 private:
  [[nodiscard]] double torus_distance(const Torus& torus, int a, int b) const;
  [[nodiscard]] double dragonfly_distance(const Dragonfly& dragonfly, int a, int b) const;
  void count(bool latency);
  void find_coordinates(const Torus& torus);
  void find_nearest();
  void add_near_in_torus(const Torus& torus, int host, std::vector<int>& found) const;
  void add_near_in_dragonfly(const Dragonfly& dragonfly, int host, int most, std::vector<int>& found) const;

  Network network_;
  std::vector<int> position_;
  std::vector<int> host_at_;     // position -> host, -1 where there is none
  std::vector<int> coordinate_;  // of a torus: for each host one coordinate per dimension
  std::vector<double> step_;  // cost of a step in the metric: of a torus by dimension, of a dragonfly local and global
  double link_ = 0;           // cost between a node and its router
  double nearest_ = 0;
};

// The router of a group that has the link to another group.
int gateway_router(const Dragonfly& dragonfly, int group, int to);

// The number of nodes a network holds. Throws Error(kInput) when its sizes are invalid or too large.
std::int64_t node_count(const Interconnect::Network& network);

}  // namespace ranktree::core::topo
