// SMPI's levels of a communicator (smpi_levels.cpp).
#pragma once

namespace ranktree::simulate {

// For a platform on which no host has two ranks: SMPI's levels of a communicator then need no messages.
void know_single_ranks();

}  // namespace ranktree::simulate
