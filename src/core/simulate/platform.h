// A machine as links and routes, for a simulator of messages: what a message from one leaf to another passes, and its
// latency. Pure: the simulator's own objects are made of it elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/simulate/level_costs.h"
#include "core/simulate/network_links.h"
#include "core/topo/interconnect.h"
#include "core/topo/machine.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {

struct Route {
  std::vector<LinkId> links;  // first to last
  double latency = 0;         // seconds
  double distance = 0;        // of the tree, as Tree::distance()
};

// A message between nodes passes links of the network alone (network_links.h). One inside a node passes a link from the
// leaf, and from each object above it that has siblings, up to the common object, and the same down. Such a link has
// the bandwidth of its level, or of a level above it inside the node where that is larger; then a message that meets on
// the level passes another link, of both leaves. So alone, a message has the bandwidth of the level of its ends' lowest
// common ancestor.
class Platform {
 public:
  // Leaves are the objects of kind `unit`, as Tree::cut_at(). Throws Error(kUnsupported) above kMaxLinks links.
  Platform(const topo::Machine& machine, topo::Kind unit);
  // The same for a tree, by the costs of its levels. Throws Error(kUnsupported) also where there is a network but no
  // level of nodes, or these are not numbered in their order.
  Platform(topo::Tree tree, std::vector<LevelCost> costs);
  // Its links know its tree by address.
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;
  Platform(Platform&&) = delete;
  Platform& operator=(Platform&&) = delete;
  ~Platform() = default;

  [[nodiscard]] const topo::Tree& tree() const { return tree_; }
  [[nodiscard]] const std::vector<LevelCost>& costs() const { return costs_; }
  // True when the latency between nodes follows from their distance, not from a level.
  [[nodiscard]] bool has_distances() const { return interconnect_.has_value(); }

  [[nodiscard]] int link_count() const { return static_cast<int>(bandwidth_.size()); }
  // The first so many links are between nodes.
  [[nodiscard]] int network_link_count() const;
  [[nodiscard]] double bandwidth(LinkId link) const { return bandwidth_[static_cast<std::size_t>(link)]; }
  [[nodiscard]] std::string link_name(LinkId link) const;
  // The links inside its node that messages of a leaf may pass.
  [[nodiscard]] std::vector<LinkId> links_of(topo::Leaf leaf) const;

  // A message of a leaf to itself passes its own link, with the latency of the lowest level.
  [[nodiscard]] Route route(topo::Leaf from, topo::Leaf to) const;
  // The same into a route whose memory is used again.
  void find_route(topo::Leaf from, topo::Leaf to, Route& route) const;
  // Turns the route from `from` to `to` into the route back, at less cost where the network is a tree.
  void turn_back(topo::Leaf from, topo::Leaf to, Route& route) const;

 private:
  void add_inside();
  void add_narrow(const std::vector<double>& widest);
  void append_inside(topo::Leaf from, topo::Leaf to, int common_level, std::vector<LinkId>& links) const;
  [[nodiscard]] int common_level_of_nodes(topo::Object a, topo::Object b) const;

  topo::Tree tree_;
  std::vector<LevelCost> costs_;
  std::optional<topo::Interconnect> interconnect_;  // in seconds
  std::unique_ptr<NetworkLinks> network_;           // null on one node
  std::vector<topo::Object> node_of_;               // by leaf; empty on one node
  std::vector<double> bandwidth_;
  std::vector<LinkId> port_;         // of each object inside a node: its link up, the one down follows; -1: none
  std::vector<topo::Object> owner_;  // of each pair of links inside nodes
  std::vector<LinkId> narrow_;       // by level inside nodes: the first link of those for it alone, 2 a leaf; -1: none
};

}  // namespace ranktree::core::simulate
