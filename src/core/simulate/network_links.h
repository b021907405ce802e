// The links between the nodes of a machine, and which of them a message passes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/simulate/level_costs.h"
#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {

// A link carries one direction. Messages that pass it at the same time share its bandwidth.
using LinkId = std::int32_t;

// A machine may have so many, which take about 200 bytes each in a simulator.
inline constexpr std::int64_t kMaxLinks = 16'000'000;

class NetworkLinks {
 public:
  NetworkLinks() = default;
  NetworkLinks(const NetworkLinks&) = delete;
  NetworkLinks& operator=(const NetworkLinks&) = delete;
  NetworkLinks(NetworkLinks&&) = delete;
  NetworkLinks& operator=(NetworkLinks&&) = delete;
  virtual ~NetworkLinks() = default;

  // Bytes per second of each link.
  [[nodiscard]] const std::vector<double>& bandwidths() const { return bandwidth_; }
  // Adds the links from one node to another one, first to last.
  virtual void append_route(int from, int to, std::vector<LinkId>& links) const = 0;
  // "node n3 up", "switch s0.1 down", "router 5 +x", ...
  [[nodiscard]] virtual std::string name(LinkId link) const = 0;

 protected:
  // Makes so many links; returns the first. Throws Error(kUnsupported) above kMaxLinks.
  LinkId add_links(std::int64_t count, double bandwidth);

 private:
  std::vector<double> bandwidth_;
};

// The Node objects of a tree that to_tree() made, by their number.
std::vector<topo::Object> nodes_by_number(const topo::Tree& tree);

// Switches above nodes: a link from each node and from each switch to what is above it, up and down.
//
// A node's link has the largest bandwidth of the levels between nodes; a level with less has a link of its own at each
// node. A switch's links up together carry what the links below it carry, divided by the oversubscription: messages
// spread evenly over them, as adaptive routing in a fat tree has it. Where they carry as much as those below, no
// message ever waits for them, and there are none in the routes.
std::unique_ptr<NetworkLinks> switch_links(const topo::Tree& tree, const std::vector<LevelCost>& costs);

// A torus, dragonfly or table. A torus has a link from each router to each neighbour, and routes go dimension by
// dimension, the first one first, in the shorter direction (up where both are as long). A dragonfly has a link between
// any two routers of a group and one between any two groups; routes are shortest ones. A table's nodes have a link up
// and one down each, since nothing is known of what is between them. `otherwise`: bytes per second of links of which
// the machine gives none.
std::unique_ptr<NetworkLinks> interconnect_links(const topo::Tree& tree, const topo::Interconnect& interconnect,
                                                 double otherwise);

}  // namespace ranktree::core::simulate
