// Chains on their way.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/split/chain.h"

namespace ranktree::mpi {

// A chain as it travels: its length and the codes of its links, cut at core::split::kMaxDepth.
using ChainRow = std::array<std::uint64_t, core::split::kMaxDepth + 1>;
ChainRow packed(const core::split::Chain& chain);
core::split::Chain unpacked(const ChainRow& row);

// Collective over `comm`. Every rank's chain by rank at `root`, cut at core::split::kMaxDepth; nothing elsewhere.
// O(ranks x depth) memory at the root. Throws MpiError, and AgreedError where that is not to be had.
std::vector<core::split::Chain> gather_chains(MPI_Comm comm, const core::split::Chain& own, int root);

}  // namespace ranktree::mpi
