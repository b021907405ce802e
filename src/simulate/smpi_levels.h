// SMPI's levels of a communicator (smpi_levels.cpp).
#pragma once

namespace ranktree::simulate {

// Fewer ranks have SMPI's own levels: they take seconds there, and the simulated time of a split has them in it.
constexpr int kLeastForLevels = 1024;

// For a platform on which no host has two ranks: SMPI's levels of a communicator then need no messages.
void know_single_ranks();

}  // namespace ranktree::simulate
