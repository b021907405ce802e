// The cost of a message on each level of a machine, for a simulation: from the machine, else usual values.
#pragma once

#include <string>
#include <vector>

#include "core/predict/parameters.h"
#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {

// Between two ranks whose lowest common ancestor is on one level. `given`: the machine or the parameters have
// the value.
struct LevelCost {
  topo::Kind kind = topo::Kind::kCluster;
  double latency = 0;    // seconds
  double bandwidth = 0;  // bytes per second
  bool latency_given = false;
  bool bandwidth_given = false;
};

// One entry for each level above the leaves, root first. Where the machine has no value: predict::usual_parameters(),
// but between nodes no less latency and no more bandwidth than inside them: what is not measured may not make partners
// faster on two nodes. Of a torus, dragonfly or table the levels between nodes have a step's latency and
// the bandwidth that a message can have at most.
std::vector<LevelCost> level_costs(const topo::Tree& tree);

// The same by measured parameters, whatever the machine's own values (predict::matched()).
std::vector<LevelCost> level_costs(const topo::Tree& tree, const predict::Parameters& parameters);

// Kinds of the levels on which two leaves meet and that have a usual value, outermost first; "Network" for a torus,
// mesh, dragonfly or matrix with one.
std::vector<std::string> usual_levels(const topo::Tree& tree, const std::vector<LevelCost>& costs);

// The latency of a step and the bandwidth of a link of a network where the machine has no value.
double usual_step_latency();
double usual_link_bandwidth();

// A copy that counts seconds: steps without a latency take usual_step_latency() a hop.
topo::Interconnect in_seconds(const topo::Interconnect& interconnect);

}  // namespace ranktree::core::simulate
