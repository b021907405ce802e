// A recognised grid of ranks folded into a torus or mesh whose sides are others.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"
#include "core/place/order/lattice.h"

namespace ranktree::core::place::network {

// Coordinates of the grid and of the network are written as digits of prime radix in reflected Gray code, in which one
// step changes one digit by one; a fold says which digit of the grid is which of the network. Folds are looked for by
// exchanging digits while that is no dearer, again and again from other ones, for about so many steps (an arc looked
// at is one). The cheapest found, at most two, the cheapest first; none where the network is no torus or has not
// exactly a slot for each rank, the same number everywhere, or the digits differ.
std::vector<std::vector<Slot>> folded_placements(const Distances& distances, const engine::Graph& graph,
                                                 const engine::Lattice& lattice, std::int64_t steps, std::uint64_t seed,
                                                 const std::function<bool()>& go_on);

}  // namespace ranktree::core::place::network
