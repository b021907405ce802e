// The node this process runs on: its objects, its name, and the switches above it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/split/chain.h"

namespace ranktree::hw {

// The objects of this node, by hwloc, with what cgroups hide included. Loaded at the first call, immutable afterwards,
// shared by all threads. Throws core::Error(kSystem) when hwloc fails; the next call tries again.
const core::split::NodeMap& node_map();

// What can make two processes be on one node, when MPI is not asked.
enum class NodeIdentity : std::uint8_t {
  kHostname,
  kBootId,       // one a kernel: containers of one host share it
  kEnvironment,  // RANKTREE_NODE_ID
  kFile          // the first line of the file that RANKTREE_NODE_ID_FILE names
};

// Equal on processes of one node. Throws core::Error(kInput) when a variable is not set, kSystem when a file cannot be
// read or is empty.
std::string node_name(NodeIdentity identity);

// The names of the switches above this node, outermost first. `source` is "auto" (the file RANKTREE_NETWORK names, else
// SLURM_TOPOLOGY_ADDR if it ends in this host's name, else nothing), "none" or a file that io::read_network
// understands. A host that the file does not have is below no switch. Throws core::Error.
std::vector<std::string> switches_here(const std::string& source);

}  // namespace ranktree::hw
