// A machine by its parts: the network, the hosts, each distinct kind of node once; and their levels in one order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {

struct Host {
  std::string name;
  int shape = 0;  // index into Machine::shapes
};

// A switch, or the whole network, with the switches and hosts connected to it.
struct NetworkPart {
  std::string name;
  std::vector<NetworkPart> switches;
  std::vector<Host> hosts;
};

struct LinkCost {
  std::optional<double> latency;    // seconds
  std::optional<double> bandwidth;  // bytes per second
};

struct Machine {
  std::vector<Tree> shapes;  // each with a root of kind Node and no name; all different
  NetworkPart network;
  // Where the network is not a tree: its hosts, in order, are those of `network`, which then has no switches.
  std::optional<Interconnect> interconnect;
  std::map<Kind, LinkCost> costs;  // between two leaves whose lowest common ancestor is on a level of that kind
  bool described = false;          // a description made up the names of the hosts
  std::vector<Uplinks> uplinks;    // by level of switches, those below the root first; empty: not oversubscribed

  // The index of a node's shape, which is stored unless an equal one is there. Two nodes are equal when kinds, numbers
  // and allowed leaves agree; names and memory sizes do not count.
  int add_shape(Tree node);
};

// The number of levels of switches between the root of the network and its hosts, at most.
int switch_depth(const NetworkPart& part);

// Host names are written to launchers' files and shell scripts, so only letters, digits, '.', '-' and '_' are accepted.
bool is_host_name(std::string_view name);

// The largest number of leaves a machine may have, each of which takes about 1 KB in a tree, and the text for more.
inline constexpr std::int64_t kMaxLeaves = 4'194'304;
std::string too_many_leaves();

// The machine as a tree: a Cluster at the root unless the machine is one host, then switches, nodes, and their parts.
// Shapes with different levels are merged: a node skips levels it lacks. Throws Error(kInput) when there is no host,
// two hosts share a name, a name is invalid (a single host may have none), or there are too many leaves.
Tree to_tree(const Machine& machine);

// The parts of a tree that has a Node level. Throws Error(kUnsupported) when it has none.
Machine to_machine(const Tree& tree);

}  // namespace ranktree::core::topo
