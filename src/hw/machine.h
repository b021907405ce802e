// The sources of machines.
#pragma once

#include <string>

#include "core/topo/machine.h"
#include "core/topo/tree.h"

namespace ranktree::hw {

// The values of `--machine`:
//   "live" or nothing              this machine
//   a.xml  or  a.xml,b.xml,...     hwloc XML, one file a node; equal nodes are stored once
//   machine.json                   a machine file (docs/reference/formats/machine.md)
//   "switch:2 node:4 package:2 l3:1 core:4"   hwloc's synthetic grammar, with cluster:, switch: and node: in front
// Throws core::Error naming the fault.
core::topo::Tree load_tree(const std::string& spec);

// A tree of the network and its hosts, each of which looks like `node`, a tree of one node. A leaf that is not allowed
// in `node` is not allowed on any host. Throws core::Error when `node` has several nodes, or the network has no host.
core::topo::Tree machine_in_network(core::topo::NetworkPart network, const core::topo::Tree& node);

// The synthetic form only. Nodes are named n0, n1, ... over the whole machine.
core::topo::Machine synthetic_machine(const std::string& description);

}  // namespace ranktree::hw
