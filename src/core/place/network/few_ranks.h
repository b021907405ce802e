// The cheapest placement of a few ranks on a network that is no tree.
#pragma once

#include <vector>

#include "core/place/network/distances.h"
#include "core/place/network/search.h"

namespace ranktree::core::place::network {

constexpr int kFewRanks = 8;

// Replaces `seat_of` by a cheapest placement when it is not one. Branch and bound: ranks one after another, each to
// every seat but those that look the same as one that was tried. Gives up, with the best placement found so far, after
// 5 million steps: where 8 ranks have more than some 30 nodes to choose from, it may.
void search_few(const SearchInput& input, std::vector<Seat>& seat_of);

}  // namespace ranktree::core::place::network
