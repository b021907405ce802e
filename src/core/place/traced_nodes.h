// The hosts of a trace on a machine that may not have them.
#pragma once

#include <string>
#include <vector>

#include "core/place/plan.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

// The node that the host of each rank stands for.
struct TracedNodes {
  std::vector<std::string> nodes;  // by rank, for traced_placement(); empty where the hosts stand for no nodes
  std::string note;                // for the user, where the machine lacks a host; empty where it has them all
};

// A host stands for the node of its name, with or without the domain. Where the machine lacks a host, the hosts in
// order of their first ranks stand for the nodes in order, so that a plan is compared with what ran; they stand for
// none where a node has fewer slots than its host had ranks. Nothing where a host is unknown. O((ranks + leaves) log
// nodes).
TracedNodes traced_nodes(const topo::Tree& tree, const std::vector<std::string>& hosts, const PlanOptions& options);

}  // namespace ranktree::core::place
