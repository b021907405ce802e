// Divides sets of neighbouring parts of a division anew.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// Divides a graph among the given parts. Returns the part of each vertex.
using DivideAmong =
    std::function<std::vector<Vertex>(std::span<const Vertex> parts, const Guide& graph, std::uint64_t seed)>;

struct RegroupEffort {
  int rounds;
  std::uint64_t seed;
};

// Divides each part together with the few that it is tied to most anew, and keeps the result where it cuts less. Sets
// without a common part are divided at the same time. Stops after so many rounds, or after one without a gain. Unlike
// the refinement of two parts, this can change the direction of whole borders.
void regroup(const Guide& graph, Vertex parts, RegroupEffort effort, Workers& workers, const DivideAmong& divide,
             std::vector<Vertex>& part_of);

}  // namespace ranktree::core::place::engine
