// Folds a recognised grid of ranks into a torus or mesh with sides of other lengths.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"
#include "core/place/order/lattice.h"

namespace ranktree::core::place::network {

// Coordinates of the grid and of the network are written as digits of prime radix in reflected Gray code, in which one
// step changes one digit by one; a fold maps the digits of the grid to those of the network. The search exchanges
// digits while the cost does not rise, from several starts, for about so many steps (one for each visited arc). Returns
// the cheapest folds, at most two, the cheapest first; none where the network is no torus, has not exactly one slot for
// each rank and the same number everywhere, or the digits differ.
std::vector<std::vector<Slot>> folded_placements(const Distances& distances, const engine::Graph& graph,
                                                 const engine::Lattice& lattice, std::int64_t steps, std::uint64_t seed,
                                                 const std::function<bool()>& go_on);

}  // namespace ranktree::core::place::network
