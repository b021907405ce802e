// Chains that travel between ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "core/split/chain.h"
#include "mpi/exchange.h"

namespace ranktree::mpi {

// A chain as it travels: its length and the codes of its links, cut at core::split::kMaxDepth.
using ChainRow = std::array<std::uint64_t, core::split::kMaxDepth + 1>;
ChainRow packed(const core::split::Chain& chain);
// Of a row, or as much of it as there is chain.
core::split::Chain unpacked(std::span<const std::uint64_t> row);

// As much of the row as there is chain.
Bytes bytes_of(const core::split::Chain& chain);
core::split::Chain chain_of(const Bytes& bytes);

// Collective over `comm`: every rank offers its chain and gets those of the ranks it wants. O(depth x wanted) memory
// and O(wanted + requests) messages a rank: no rank knows beforehand which others will request its chain, so both
// requests and answers are exchanged. Throws MpiError, and AgreedError where memory ends on some rank.
std::map<int, core::split::Chain> fetch_chains(MPI_Comm comm, const core::split::Chain& own,
                                               const std::set<int>& wanted);

}  // namespace ranktree::mpi
