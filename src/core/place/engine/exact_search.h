// The cheapest placement of a few ranks, by dynamic programming over sets of ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

constexpr Vertex kExactRanks = 8;

// Replaces `seat_of` by a cheapest placement when it is not one and the time is not up. From the seats upwards, what
// every set of ranks costs inside every group that differs: the ranks of a set are shared out to the children, and what
// is exchanged between two children costs the same wherever in them it ends. O(3^ranks) a child of each group that
// differs, up to as many alike as there are ranks.
void search_exactly(const SeatTree& tree, const Graph& graph, Workers& workers, std::vector<SeatTree::Seat>& seat_of);

}  // namespace ranktree::core::place::engine
