// What one call moves, put together before it is counted: a blocking call counts its receipt at once, a persistent
// request keeps it for every MPI_Start.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::preload {

struct Flow {
  std::uint64_t key;  // layout::pair_key
  std::uint64_t messages;
  std::uint64_t bytes;
};

struct Receipt {
  std::vector<Flow> flows;
  std::uint64_t call = 0;          // layout::call_key of a collective; 0: none
  std::uint64_t communicator = 0;  // identity
  std::uint64_t call_bytes = 0;
  std::optional<core::pattern::SendCall> send;  // a point-to-point message: by which call
  bool synchronises = false;                    // a collective in which each rank waits for all, if it blocks
  std::uint64_t outside = 0;                    // messages to or from ranks that are not in MPI_COMM_WORLD

  void clear() noexcept {
    flows.clear();
    call = 0;
    send.reset();
    synchronises = false;
    outside = 0;
  }
  // A message to (or, when pulled, from) a world rank; -1 is outside MPI_COMM_WORLD.
  void add(int world_rank, core::pattern::Class kind, std::uint64_t bytes, bool pulled = false);
  // A collective call whose pairs are left to a model.
  void set_call(core::pattern::Operation operation, std::uint64_t communicator_identity, int root, std::uint64_t bytes);
};

}  // namespace ranktree::preload
