// What a message costs on each level of a machine, for a simulation: from the machine, else usual values.
#pragma once

#include <vector>

#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {

// Between two ranks that meet on a level. `given` tells what the machine says itself.
struct LevelCost {
  topo::Kind kind = topo::Kind::kCluster;
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second
  bool latency_given = false;
  bool bandwidth_given = false;
};

// One entry a level above the leaves, root first. Where the machine says nothing: predict::usual_parameters().
std::vector<LevelCost> level_costs(const topo::Tree& tree);

// What a step and a link of a network cost where the machine does not say.
double usual_step_latency();
double usual_link_bandwidth();

// A copy that counts seconds: steps without a latency take usual_step_latency() a hop.
topo::Interconnect in_seconds(const topo::Interconnect& interconnect);

}  // namespace ranktree::core::simulate
