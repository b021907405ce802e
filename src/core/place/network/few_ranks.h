// The cheapest placement of a few ranks on a network that is no tree.
#pragma once

#include <vector>

#include "core/place/network/distances.h"
#include "core/place/network/search.h"

namespace ranktree::core::place::network {

constexpr int kFewRanks = 8;

// Replaces `seat_of` by a cheapest placement when it is not one. Branch and bound: ranks one after another, each to
// every seat but those that look the same as one that was tried. Gives up, with the best placement found so far, after
// some tenths of a second's work, counted and not timed: networks of regular form do not take 8 ranks so long, tables
// of random distances between more than some 60 nodes may. Does nothing on more than 1,024 nodes.
void search_few(const SearchInput& input, std::vector<Seat>& seat_of);

}  // namespace ranktree::core::place::network
