// Sends: the call that must cost next to nothing.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mpi/handle_slot.h"
#include "preload/thread.h"

namespace ranktree::preload {

// Everything count_send does when a cache misses; `call` is the MPI name.
void count_send_slow(const char* call, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm) noexcept;

// A rank of a communicator has its own slot in the cache of peers.
inline std::size_t peer_slot(MPI_Comm comm, int rank) noexcept {
  return (mpi::slot_of<kPeerSlots>(comm) + static_cast<std::size_t>(rank)) & (kPeerSlots - 1);
}

// Counts one message. A message to MPI_PROC_NULL does not count. O(1); a few loads when this thread has sent to that
// rank of that communicator, with that datatype, before.
inline void count_send(const char* call, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm) noexcept {
  Thread* thread = this_thread;
  if (thread != nullptr) [[likely]] {
    const PeerSlot& peer = thread->peers[peer_slot(comm, dest)];
    const TypeSlot& size = thread->types[mpi::slot_of<kTypeSlots>(type)];
    if (peer.comm == comm && peer.rank == dest && size.type == type &&
        peer.generation == communicator_generation.load(std::memory_order_relaxed) &&
        size.generation == datatype_generation.load(std::memory_order_relaxed)) [[likely]] {
      peer.cell->messages += 1;
      peer.cell->bytes += static_cast<std::uint64_t>(count < 0 ? 0 : count) * size.bytes;  // MPI refuses a negative one
      return;
    }
  }
  count_send_slow(call, count, type, dest, comm);
}

}  // namespace ranktree::preload
