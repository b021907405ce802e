// Coarsening: strongly tied vertices become one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {

// A matching by heavy edges (weight over the product of the sizes), vertices of low degree first, in random order
// otherwise; vertices left alone that share a neighbour are matched where few found a partner. No vertex gets larger
// than `most`; with sides, only vertices of the same side are matched. Returns the part of each vertex, parts numbered
// from 0 without gaps. O(vertices + arcs).
struct Matching {
  std::vector<Vertex> part_of;
  Vertex parts = 0;
};
Matching match_heavy_edges(const Graph& graph, std::int64_t most, const Sides* sides, Random& random);

}  // namespace ranktree::core::place::engine
