// The engine on machines whose network is no tree.
#pragma once

#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {

// As run_engine(), of a tree with an interconnect: the cheapest of the start, of placements with all neighbours one
// step apart, and of the engine's placements on trees that approximate the network, each improved on the true
// distances. The start is a placement.
Placement place_on_network(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options,
                           const Placement& start);

}  // namespace ranktree::core::place::network
