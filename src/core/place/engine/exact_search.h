// The cheapest placement of a few ranks, by going through all that differ.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

constexpr Vertex kExactRanks = 8;  // up to here every placement can be tried

// Replaces `seat_of` by a cheapest placement when it is not one. Branch and bound: ranks one after another, each to
// every seat, of subtrees that are empty and of the same form only the first; exponential in the ranks.
void search_exactly(const SeatTree& tree, const Graph& graph, Workers& workers, std::vector<SeatTree::Seat>& seat_of);

}  // namespace ranktree::core::place::engine
