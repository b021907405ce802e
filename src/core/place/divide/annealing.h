// Refinement of a division into several parts by annealing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

struct AnnealingEffort {
  int trials;          // for each vertex on a border, about
  std::int64_t steps;  // arcs looked at, at most, which makes trials fewer
  std::uint64_t seed;
};

// D. S. Johnson, C. R. Aragon, L. A. McGeoch, C. Schevon. Optimization by Simulated Annealing: An Experimental
// Evaluation; Part I, Graph Partitioning. Operations Research 37(6), 1989. Vertices on borders move to a neighbour's
// part; what makes the cut larger is accepted the less often the further it has cooled down. Sizes of parts are soft
// meanwhile and in the end what they were (vertices are of size 1). The division is kept unless the new one cuts less,
// and left alone where it falls to pieces at first, or where there is no time for enough trials. Of many vertices,
// regions of neighbouring parts are annealed at the same time, other ones every now and then. True when it changed.
bool anneal(const Guide& graph, Vertex parts, AnnealingEffort effort, Workers& workers, std::vector<Vertex>& part_of);

}  // namespace ranktree::core::place::engine
