// What each call of a thread looks at first, in one place, since a library finds the memory of a thread by a call: the
// guard against re-entrance, the communicators' states and the sizes of datatypes.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/collect/call_kind.h"
#include "mpi/handle_slot.h"

namespace ranktree::mpi::collect {

class Context;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of the process, and each thread's own

// The end of a communicator's attribute begins a new one.
extern constinit std::atomic<std::uint64_t> context_generation;

struct ThreadState {
  // Of a cache from handles of communicators to attributes (context.h). It holds while its generation is the present
  // one: the end of an attribute begins a new one, before the handle can come back for another communicator. Whoever
  // has that communicator knows it from who made it after the end of the first one, so that no thread can see an older
  // generation with it; and nobody frees a communicator that another thread is in a call on. A fresh slot has
  // generation 0.
  struct Slot {
    MPI_Comm comm{};
    std::uint64_t generation = 0;
    const std::shared_ptr<Context>* kept = nullptr;
    const Context* context = nullptr;  // that one

    [[nodiscard]] bool has(MPI_Comm one) const {
      return comm == one && generation == context_generation.load(std::memory_order_relaxed);
    }
  };
  static constexpr std::size_t kSlots = 16;

  int depth = 0;  // calls of ours that it is in (Entered)
  std::array<Slot, kSlots> slots{};
  Slot& slot_for(MPI_Comm comm) { return slots[slot_of<kSlots>(comm)]; }
  TypeSizes types{};
};

extern constinit thread_local ThreadState thread_state;

// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// A call of ours on this thread, while it lives: calls of the MPI's names within are ours.
class Entered {
 public:
  explicit Entered(ThreadState& thread = thread_state) : depth_(thread.depth) { ++depth_; }
  ~Entered() { --depth_; }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  Entered(Entered&&) = delete;
  Entered& operator=(Entered&&) = delete;

 private:
  int& depth_;
};

// True within one.
inline bool within_call() { return thread_state.depth > 0; }

}  // namespace ranktree::mpi::collect
