// How the preload library that serves collectives and libranktree_mpi_<mpi>, which does it, know each other: one
// function, by which they shake hands, and a table of functions. Not part of the interface.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "mpi/collect/call_kind.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/thread_state.h"
#include "ranktree/base.h"

namespace ranktree::mpi::collect {

class ProgressThread;

// Of the numbers that both libraries have compiled in: both must have compiled the same.
constexpr std::uint64_t layout_of(std::initializer_list<std::size_t> numbers) {
  std::uint64_t hash = 1469598103934665603U;
  for (const std::size_t number : numbers) hash = (hash ^ number) * 1099511628211U;
  return hash;
}

// As `first_served`: when the account covers it (table_for_program() of call.h).
inline constexpr std::uint32_t kWhenAffordable = 0;

struct PreloadFunctions {
  // What the caller expects, and what the library has.
  std::uint32_t size = sizeof(PreloadFunctions);
  std::uint32_t version = 5;
  std::uint64_t layout = layout_of({sizeof(Operation), sizeof(Kind), sizeof(CallTable), offsetof(CallTable, native),
                                    offsetof(CallTable, tuned), sizeof(ThreadState), offsetof(ThreadState, slots),
                                    offsetof(ThreadState, types), sizeof(Waiting)});

  // In MPI_Init: what tuning may cost is counted from now on (select/account.h). `agreement`: seconds that one has
  // taken this rank, 0 where there was none.
  void (*start_account)(double agreement) noexcept = nullptr;
  ThreadState* (*thread_state)() noexcept = nullptr;
  // All following ones within Entered. table_for_program() of call.h.
  CallTable* (*table)(const Operation*, std::uint32_t first_served, ThreadState*) noexcept = nullptr;
  int (*serve)(CallTable*, const Operation*, const Kind*) noexcept = nullptr;
  void (*take_back_wrong)(CallTable*, const Operation*, const Kind*) noexcept = nullptr;
  void (*take_back_waiting)(Waiting*, const Operation*, std::uint32_t weight) noexcept = nullptr;

  // Nonblocking operations, which a thread of ours completes (requests/own_request.h). The thread, between MPI_Init and
  // MPI_Finalize; null where it cannot be had.
  ProgressThread* (*start_thread)(bool crowded) noexcept = nullptr;
  void (*stop_thread)(ProgressThread*) noexcept = nullptr;
  // find_table() and prepare_for_program() of call.h, begin_as_request() of requests/own_request.h.
  CallTable* (*find)(MPI_Comm, ThreadState*) noexcept = nullptr;
  void (*prepare)(MPI_Comm, ThreadState*) noexcept = nullptr;
  bool (*begin)(CallTable*, const Operation*, const Kind*, MPI_Request*, int* code) noexcept = nullptr;
  // MPI_Request_free, where it is one of ours and in flight. Else false.
  bool (*free)(ProgressThread*, MPI_Request*) noexcept = nullptr;
  // Before a wait of the MPI's for all of these: drives those that are ours until they are complete.
  void (*finish)(ProgressThread*, int count, const MPI_Request*) noexcept = nullptr;
  // A line in RANKTREE_COLL_LOG.
  void (*log)(const char* text) noexcept = nullptr;
};

}  // namespace ranktree::mpi::collect

extern "C" {
// Fills in the functions, where size, version and layout are those of this library. Else puts its own there and returns
// false.
RANKTREE_API bool ranktree_collect_handshake(ranktree::mpi::collect::PreloadFunctions* functions) noexcept;
}
