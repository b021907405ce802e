// Refinement of a division into several parts by annealing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

struct AnnealingEffort {
  int trials;          // for each vertex on a border, about
  std::int64_t steps;  // limit of visited arcs, which may reduce the trials
  std::uint64_t seed;
};

// Vertices on borders move to a neighbour's part; moves that raise the cut are accepted the less often the lower the
// temperature. Sizes of parts may vary meanwhile and are restored in the end (vertices are of size 1). The new division
// replaces the old one only if it cuts less; nothing is tried where the division falls to pieces at first, or where
// there is no time for enough trials. True when the division changed.
bool anneal_borders(const Guide& graph, Vertex parts, AnnealingEffort effort, Workers& workers,
                    std::vector<Vertex>& part_of);

}  // namespace ranktree::core::place::engine
