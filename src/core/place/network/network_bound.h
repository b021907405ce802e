// A lower bound on the cost of all placements on a network that is no tree.
#pragma once

#include "core/pattern/affinity.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {

// The partners of a rank are on different slots. So its heaviest pair is at least as far apart as the nearest two
// slots, its second heaviest as the second nearest slot of any, and so on. Half of the sum over all ranks, since a pair
// has two ends. Up to 4,096 nodes the slots that are nearest are counted node by node; of more, all other nodes are
// taken as near as the nearest. O(nodes^2 log nodes + pairs log pairs) at most.
double lower_bound(const topo::Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints);

}  // namespace ranktree::core::place::network
