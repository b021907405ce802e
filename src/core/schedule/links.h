// Which messages of one rank share a link, so that they had better leave one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

// All messages from a node to other nodes share the node's link. In a binomial tree, a child that forwards the data has
// them sooner if the messages to its siblings wait: two messages of n bytes at once both take 2nB, in turn nB and 2nB.
// In a ring, a node's last rank soon has all blocks of its node, of which the next node needs one after the other.
// The wait costs a handshake where the MPI sends without buffering, so short messages do not wait. Nor do the halves of
// split-binary, which gained nothing.
struct Links {
  std::span<const std::int32_t> node_of;  // the node of each rank; empty: every rank has a node of its own
  std::int64_t least = 1;                 // elements of the shortest message that others wait for

  [[nodiscard]] bool in_turn(Rank from, Rank to, std::int64_t count) const {
    if (count < least) return false;
    return node_of.empty() || node_of[static_cast<std::size_t>(from)] != node_of[static_cast<std::size_t>(to)];
  }
};

}  // namespace ranktree::core::schedule
