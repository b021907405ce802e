// The parts that are not divided any further, each placed by its leader.
#pragma once

#include <vector>

#include "core/place/engine.h"
#include "core/reorder/network.h"
#include "core/reorder/spread_graph.h"
#include "core/reorder/survey.h"

namespace ranktree::core::reorder {

// Where a vertex shall be.
struct Slot {
  int process = 0;
  Path path;
};

// Collective. Every part of the plan without halves has as many vertices as leaves; edges and paths travel to its
// leader, the answers back. By vertex held here.
std::vector<Slot> place_parts(Network& network, const Survey& survey, const SpreadGraph& vertices,
                              const place::EngineOptions& options);

}  // namespace ranktree::core::reorder
