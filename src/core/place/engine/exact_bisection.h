// The cheapest division in two of a few ranks, by branch and bound.
#pragma once

#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {

constexpr Vertex kExactVertices = 16;

// Exactly `zero` of the at most kExactVertices vertices, all of size 1, on side 0. After `most_steps` the best found so
// far is what it is. The cut.
double bisect_exactly(const Guide& graph, int zero, int most_steps, Sides& sides);

}  // namespace ranktree::core::place::engine
