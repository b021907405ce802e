// Places a recognised grid of ranks on a torus or mesh with all neighbours one step apart.
#pragma once

#include <vector>

#include "core/place/network/distances.h"
#include "core/place/order/lattice.h"

namespace ranktree::core::place::network {

// Each side of the grid lies along a side of the network that is as long or longer (as long, where the grid wraps), the
// longest first. A router with several slots counts as a block of them, for every shape of block. One placement for
// each shape that fits; none where the network is no torus, or where routers that the grid needs have fewer slots than
// others. O(shapes x ranks).
std::vector<std::vector<Slot>> fitted_placements(const Distances& distances, const engine::Lattice& lattice);

}  // namespace ranktree::core::place::network
