// Local search on the true cost: two subtrees' contents are swapped, or one moves to where nothing is.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/engine/effort.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

// Makes a placement cheaper, never dearer: on every level from the top, the contents of groups of the same form are
// swapped while that helps; partners are looked for in the groups that hold neighbours.
void search_by_swaps(const SeatTree& tree, const Graph& graph, const Effort& effort, std::uint64_t seed,
                     Workers& workers, std::vector<SeatTree::Seat>& seat_of);

// The cost of a placement, each pair once.
double cost_of(const SeatTree& tree, const Graph& graph, const std::vector<SeatTree::Seat>& seat_of, Workers& workers);

}  // namespace ranktree::core::place::engine
