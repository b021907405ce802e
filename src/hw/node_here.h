// The node this process runs on: its objects, its name, and the switches above it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/split/chain.h"

namespace ranktree::hw {

// The objects of this node from hwloc, including those that cgroups hide. Loaded at the first call, immutable
// afterwards, shared by all threads. Throws core::Error(kSystem) when hwloc fails; the next call tries again.
const core::split::NodeMap& node_map();

// What identifies a node when MPI itself does not decide it.
enum class NodeIdentity : std::uint8_t {
  kHostname,
  kBootId,       // one per kernel: containers of one host share it
  kEnvironment,  // RANKTREE_NODE_ID
  kFile          // the first line of the file that RANKTREE_NODE_ID_FILE names
};

// Equal on processes of one node. Throws core::Error(kInput) when a variable is not set, kSystem when a file cannot be
// read or is empty.
std::string node_name(NodeIdentity identity);

// The names of the switches above this node, outermost first. `source` is "auto", "none" or a file that
// io::read_network accepts. "auto" is the file that RANKTREE_NETWORK names, else SLURM_TOPOLOGY_ADDR if it contains
// this host's name last, else nothing. A host that is not in the file is below no switch. A process
// reads a file once. Throws core::Error.
std::vector<std::string> switches_here(const std::string& source);

}  // namespace ranktree::hw
