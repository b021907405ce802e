// A tree that approximates a network that is no tree: nodes that are near each other share a subtree.
#pragma once

#include <cstddef>
#include <vector>

#include "core/pattern/pattern.h"
#include "core/place/engine.h"
#include "core/place/network/distances.h"
#include "core/place/placement.h"
#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {

// The same leaves in another order, below nested groups of nodes, where the cost of a level is the mean distance of its
// nodes. A torus is cut across its longest side, again and again; a dragonfly into its groups and routers; hosts
// in a table into those that are nearer to each other than to the rest, or, where there are none, to one of two that
// are far apart.
struct Surrogate {
  topo::Tree tree;
  std::vector<topo::Leaf> leaf;  // of the machine, by leaf of the tree
};

// O(hosts log hosts), of tables O(hosts^2 log hosts).
Surrogate surrogate_of(const Distances& distances);

// The engine's placement on the surrogate, from `start`.
Placement place_on(const Surrogate& surrogate, const pattern::Affinity& affinity, const EngineOptions& options,
                   const Placement& start);

}  // namespace ranktree::core::place::network
