// The switches of a cluster, from any of the files that describe them:
//
//   Slurm topology.conf     SwitchName=s0 Switches=s[1-2] | SwitchName=s1 Nodes=n[0-3]
//                           BlockName=b1 Nodes=... | BlockSizes=4,8
//   Slurm topology.yaml     the same as YAML, several topologies in a list
//   ibnetdiscover output    switches and hosts (HCAs) with their links
//   host file               lines "host switch.switch", outermost switch first
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/topo/machine.h"

namespace ranktree::io {

// The contents show which format it is. Throws core::Error(kInput) naming origin, line, what was expected and what was
// found: for text in none of the formats, a host below two switches, a switch below itself or below two others, and
// unknown names. Hosts have shape 0. Several unconnected trees stand side by side below the root.
core::topo::NetworkPart read_network(std::string_view bytes, const std::string& origin);
core::topo::NetworkPart load_network(const std::string& path);

// The names of the switches above a host, outermost first, without the network's unnamed root; empty when the host is
// not in the network. Names match with or without their domain ("n0.cluster.org" and "n0"). O(size of the network).
std::vector<std::string> switches_above(const core::topo::NetworkPart& network, std::string_view host);

// The switches in the environment of Slurm's tasks: SLURM_TOPOLOGY_ADDR "root.leaf1.n5" with
// SLURM_TOPOLOGY_ADDR_PATTERN "switch.switch.node" gives the names of the switches (and blocks), outermost first. Empty
// when the two do not match, or the node is not this host: launchers other than srun pass on the environment of the
// node that they were started on.
std::vector<std::string> switches_of_address(std::string_view address, std::string_view pattern, std::string_view host);

}  // namespace ranktree::io
