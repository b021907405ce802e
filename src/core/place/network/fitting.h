// A recognised grid of ranks put into a torus or mesh as it is, all neighbours a step apart.
#pragma once

#include <vector>

#include "core/place/network/distances.h"
#include "core/place/order/lattice.h"

namespace ranktree::core::place::network {

// Each side of the grid along a side of the network that is as long or longer (as long, where the grid closes), the
// longest first. Of several slots a router, the network is refined to one place a slot, for every way to cut a router's
// slots into a block. One placement for each way that fits; none where the network is no torus or routers that the grid
// needs have fewer slots than others. O(ways x ranks).
std::vector<std::vector<Slot>> fitted_placements(const Distances& distances, const engine::Lattice& lattice);

}  // namespace ranktree::core::place::network
