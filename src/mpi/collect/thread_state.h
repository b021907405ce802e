// What each call of a thread looks at first, in one place, since a library finds the memory of a thread by a call: the
// guard against re-entrance, the communicators' tables and the sizes of datatypes. The preload library uses that of
// libranktree_mpi.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mpi/collect/call_kind.h"
#include "mpi/handle_slot.h"

namespace ranktree::mpi::collect {

// The generation of communicators' states: the end of one begins a new generation. It belongs to the states' attribute
// key (communicator_state.cpp).
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): as the key, of the process
extern constinit std::atomic<std::uint64_t> state_generation;

struct ThreadState {
  // Of a cache from handles of communicators to what is known of them. It holds while its generation is the present
  // one: the end of a state begins a new one, before the handle can come back for another communicator. A thread gets
  // that communicator from the one that made it after the end of the first, so that no thread can see an older
  // generation with it; and no program frees a communicator that another thread is in a call on. A fresh slot has
  // generation 0.
  struct Slot {
    MPI_Comm comm{};
    std::uint64_t generation = 0;
    CallTable* table = nullptr;  // once there is one
    bool native = false;         // all calls are native
    Waiting* waiting = nullptr;  // where calls are only counted for now
  };
  static constexpr std::size_t kSlots = 32;

  int depth = 0;  // calls of ours that it is in (Entered)
  const std::atomic<std::uint64_t>* generation = nullptr;
  std::array<Slot, kSlots> slots{};
  TypeSizes types{};

  // Null where the communicator is not in the thread's cache.
  [[nodiscard]] Slot* known_slot(MPI_Comm comm) {
    Slot& slot = slots[slot_of<kSlots>(comm)];
    return slot.comm == comm && slot.generation == generation->load(std::memory_order_relaxed) ? &slot : nullptr;
  }
  // The communicator's table where it is known at once; else null.
  [[nodiscard]] CallTable* known_table(MPI_Comm comm) {
    const Slot* const slot = known_slot(comm);
    return slot == nullptr ? nullptr : slot->table;
  }
};

// SMPI runs many ranks in one thread, which must not see each other's.
#ifdef SMPI_H
ThreadState& thread_state();
#else
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): each thread's own
extern constinit thread_local ThreadState own_thread_state;
inline ThreadState& thread_state() { return own_thread_state; }
#endif

// The guard: a call of ours on this thread, while it lives. Calls of the MPI's names within are not the program's.
class Entered {
 public:
  explicit Entered(ThreadState& thread) : depth_(thread.depth) { ++depth_; }
  Entered() : Entered(thread_state()) {}
  ~Entered() { --depth_; }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  Entered(Entered&&) = delete;
  Entered& operator=(Entered&&) = delete;

 private:
  int& depth_;
};

}  // namespace ranktree::mpi::collect
