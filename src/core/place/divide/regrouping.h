// Neighbouring parts of a division thrown together and divided anew.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// Divides a graph among parts, which are named by their numbers: the part of each vertex.
using DivideAmong =
    std::function<std::vector<Vertex>(std::span<const Vertex> parts, const Guide& graph, std::uint64_t seed)>;

struct RegroupEffort {
  int rounds;
  std::uint64_t seed;
};

// Each part with the few that it is tied to most is divided anew, which is kept where less is cut then; sets without a
// common part at the same time. Ends after so many rounds, or one that brought nothing. Unlike the refinement of two
// parts, that may turn whole borders around.
void regroup(const Guide& graph, Vertex parts, RegroupEffort effort, Workers& workers, const DivideAmong& divide,
             std::vector<Vertex>& part_of);

}  // namespace ranktree::core::place::engine
