// What each call of a thread looks at first, in one place: a library finds the memory of a thread by a call.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/collect/type_sizes.h"
#include "mpi/handle_slot.h"

namespace ranktree::mpi::collect {

class Context;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of the process, and each thread's own

// The end of a communicator's attribute begins a new one.
extern constinit std::atomic<std::uint64_t> context_generation;

struct ThisThread {
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

  int depth = 0;  // calls of ours that it is in (entered.h)
  std::array<Slot, kSlots> slots{};
  Slot& slot_for(MPI_Comm comm) { return slots[slot_of<kSlots>(comm)]; }
  TypeSizes types{};
};

extern constinit thread_local ThisThread this_thread;

// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace ranktree::mpi::collect
