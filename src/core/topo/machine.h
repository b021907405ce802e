// A machine by its parts: the network, the hosts, and each distinct kind of node once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {

struct Host {
  std::string name;
  int shape = 0;  // index into Machine::shapes
};

// A switch, or the whole network, with what is plugged into it.
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
  std::vector<Tree> shapes;  // each with a root of kind Node and no name; no two alike
  NetworkPart network;
  // Where the network is no tree: the hosts of `network`, which has no switches then, are those of this in order.
  std::optional<Interconnect> interconnect;
  std::map<Kind, LinkCost> costs;  // between two places that meet on a level of that kind

  // The index of a node's shape, stored if no equal one is there yet. Two nodes are alike when kinds, numbers and
  // usable places agree; names and memory sizes do not count.
  int add_shape(Tree node);
};

// Host names end up in launchers' files and in shell scripts, so nothing passes but letters, digits, '.', '-' and '_'.
bool is_host_name(std::string_view name);

// The largest number of leaves a machine may have.
inline constexpr std::int64_t kMaxLeaves = 16'777'216;

// The tree: a Cluster over everything unless the machine is one host, then switches, nodes, and what is in them. Shapes
// with different levels are merged: a node skips levels it lacks. Throws Error(kInput) when there is no host, two hosts
// share a name, a name is none (one host may have no name), or there are too many leaves.
Tree to_tree(const Machine& machine);

// The parts of a tree that has a Node level. Throws Error(kUnsupported) when it has none.
Machine to_machine(const Tree& tree);

}  // namespace ranktree::core::topo
