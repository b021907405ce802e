// Sends: the call that must cost next to nothing.
#pragma once

#include <mpi.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/pattern/pattern.h"
#include "mpi/handle_slot.h"
#include "preload/thread.h"

#define RANKTREE_INLINE [[gnu::always_inline]] inline

namespace ranktree::preload {

using core::pattern::SendCall;

// Everything count_send does when a cache misses.
void count_send_slow(SendCall call, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm) noexcept;

// A rank of a communicator has its own slot in the cache of peers for each call. The factor, odd and near the slots'
// number times the golden ratio, spreads the calls.
inline std::size_t peer_slot(MPI_Comm comm, int rank, SendCall call) noexcept {
  constexpr std::size_t kCallStep = 159;
  return (mpi::slot_of<kPeerSlots>(comm) + static_cast<std::size_t>(rank) +
          static_cast<std::size_t>(call) * kCallStep) &
         (kPeerSlots - 1);
}

inline void add_size(layout::SendCell& sends, std::uint64_t bytes) noexcept {
  layout::SizeCount& count = sends.sizes[static_cast<std::size_t>(std::bit_width(bytes))];
  count.messages += 1;
  count.bytes += bytes;
}

// Counts one message; none to MPI_PROC_NULL. O(1); a few loads when this thread has sent to that rank of that
// communicator, by that call and with that datatype, before.
// Always inline: a call out of the wrapper would spill its arguments.
RANKTREE_INLINE void count_send(SendCall call, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm) noexcept {
  Thread* thread = this_thread;
  if (thread != nullptr) [[likely]] {
    const PeerSlot& peer = thread->peers[peer_slot(comm, dest, call)];
    const TypeSlot& size = thread->types[mpi::slot_of<kTypeSlots>(type)];
    if (peer.comm == comm && peer.rank == dest && peer.call == call && size.type == type &&
        peer.generation == communicator_generation.load(std::memory_order_relaxed) &&
        size.generation == datatype_generation.load(std::memory_order_relaxed)) [[likely]] {
      const std::uint64_t bytes = static_cast<std::uint64_t>(count < 0 ? 0 : count) * size.bytes;  // MPI refuses it
      peer.cell->messages += 1;
      peer.cell->bytes += bytes;
      add_size(*peer.sends, bytes);
      return;
    }
  }
  count_send_slow(call, count, type, dest, comm);
}

}  // namespace ranktree::preload
