// Where ranks are before anything is searched for.
#pragma once

#include <vector>

#include "core/pattern/pattern.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::engine {

// The seats of a placement; a leaf that takes several ranks gives them its seats in the order of ranks.
std::vector<SeatTree::Seat> seats_of(const SeatTree& tree, const Placement& placement);

Placement placement_of(const SeatTree& tree, const std::vector<SeatTree::Seat>& seats);

// Throws Error(kInput) when a start that the caller gave is not a placement.
void check_start(const topo::Tree& tree, const Placement& start, pattern::Rank ranks, const Constraints& constraints);

}  // namespace ranktree::core::place::engine
