// Collectives by ranktree. Where RANKTREE_COLL is set, the program's blocking collectives go to
// libranktree_mpi_<mpi>, which is beside this library and is opened in MPI_Init. A call that stays native costs one
// look into the communicator's table (docs/how-to/serve-collectives.md).
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/schedule/makers.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/environment.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/preload_abi.h"
#include "mpi/collect/thread_state.h"
#include "mpi/simulated.h"
#include "preload/next.h"

namespace ranktree::preload {

using core::schedule::Collective;
using mpi::collect::CallTable;
using mpi::collect::Entered;
using mpi::collect::Kind;
using mpi::collect::Operation;
using mpi::collect::PreloadFunctions;
using mpi::collect::ThreadState;
using mpi::collect::Waiting;

inline constexpr const char* kWhat = "collectives";  // at the beginning of what is printed

// Messages of 2 GiB and more are the MPI's: their counts may exceed an int, on one rank and not on another.
inline constexpr std::size_t kLargestServed = 31;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): the wrappers have no other place for it
extern constinit std::atomic<const PreloadFunctions*> serving;  // decided in MPI_Init; null: nothing is served
extern constinit thread_local ThreadState* state_here __attribute__((tls_model("initial-exec")));
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// The settings of this process, from the environment.
const mpi::collect::Environment& environment() noexcept;

// Those of libranktree_mpi_<mpi>, opened at the first use; null where it is missing, or is another version's.
const PreloadFunctions* functions() noexcept;

// Called when MPI has been initialised, on every rank: rank 0 decides whether anything is to be served. `provided`:
// the level of threads that MPI_Init_thread returned.
void decide(int provided) noexcept;

// A call on a communicator whose table the thread does not know: null where it is the MPI's. The communicator's first
// calls are.
CallTable* find_table(const PreloadFunctions& functions, const Operation& operation, ThreadState& thread) noexcept;

// The thread's state, which libranktree_mpi has. Simulated ranks share threads: theirs is looked up at each call.
inline ThreadState& state_of_thread(const PreloadFunctions& functions) noexcept {
  if constexpr (mpi::kRanksShareProcess) return *functions.thread_state();
  if (state_here == nullptr) [[unlikely]]
    state_here = functions.thread_state();
  return *state_here;
}

// A call of a communicator whose calls are only counted for now. False where ranks agree at this one.
inline bool is_counted(Waiting& waiting, std::uint32_t weight) {
  if (waiting.left <= weight) return false;
  waiting.left -= weight;
  return true;
}

// The rare parts of a call, out of line: a wrapper that passes a call through saves no registers for them.

template <typename Describe>
[[gnu::noinline, gnu::cold]] CallTable* table_of_operation(const PreloadFunctions& functions, MPI_Comm comm,
                                                           Describe describe, ThreadState& thread) {
  return find_table(functions, describe(mpi::collect::list_length(comm)), thread);
}

template <typename Describe>
[[gnu::noinline, gnu::cold]] void take_back(const PreloadFunctions& functions, Waiting& waiting, Describe describe,
                                            std::uint32_t weight) {
  const Operation operation = describe(static_cast<std::size_t>(waiting.size));
  functions.take_back_waiting(&waiting, &operation, weight);
}

template <typename Describe>
[[gnu::noinline, gnu::cold]] void take_back(const PreloadFunctions& functions, CallTable& table, Describe describe,
                                            Kind kind) {
  const Operation operation = describe(static_cast<std::size_t>(table.size));
  functions.take_back_wrong(&table, &operation, &kind);
}

// A call that is not native for now.
template <typename Describe>
[[gnu::noinline]] int serve_by(const PreloadFunctions& functions, CallTable& table, Describe describe, Kind kind) {
  const Operation operation = describe(static_cast<std::size_t>(table.size));
  return functions.serve(&table, &operation, &kind);
}

// A call on a communicator that has a table.
template <typename Next, typename Describe, typename... Arguments>
[[gnu::always_inline]] inline int serve_with_table(const PreloadFunctions& functions, CallTable& table,
                                                   ThreadState& thread, Next next, Describe describe,
                                                   Arguments... arguments) {
  const Kind kind = mpi::collect::kind_of(describe(static_cast<std::size_t>(table.size)), table.rank, thread.types);
  if (kind.size > kLargestServed) return next(arguments...);
  if (!is_native(kind, table)) return serve_by(functions, table, describe, kind);
  const int code = next(arguments...);
  if (code != MPI_SUCCESS) [[unlikely]]
    take_back(functions, table, describe, kind);
  return code;
}

// One call of the program. `describe` makes the operation for a communicator of so many ranks, anew at each use, so
// that parts that are not needed are never computed. Inlined into each wrapper, for which the collective is a constant.
template <typename Next, typename Describe, typename... Arguments>
[[gnu::always_inline]] inline int serve(MPI_Comm comm, Next next, Describe describe, Arguments... arguments) {
  const PreloadFunctions* const served_by = serving.load(std::memory_order_relaxed);
  if (served_by == nullptr || comm == MPI_COMM_NULL) return next(arguments...);
  ThreadState& thread = state_of_thread(*served_by);
  if (thread.depth > 0) return next(arguments...);
  const Entered within(thread);
  CallTable* table = nullptr;
  if (const ThreadState::Slot* const slot = thread.known_slot(comm); slot != nullptr) {
    if (slot->native) return next(arguments...);
    table = slot->table;
    if (slot->waiting != nullptr) {
      Waiting& waiting = *slot->waiting;
      const Operation operation = describe(static_cast<std::size_t>(waiting.size));
      const std::uint32_t weight = mpi::collect::weight_of(
          operation.collective, mpi::collect::known_bytes(operation, waiting.rank, thread.types));
      if (is_counted(waiting, weight)) {
        const int code = next(arguments...);
        if (code != MPI_SUCCESS) [[unlikely]]
          take_back(*served_by, waiting, describe, weight);
        return code;
      }
    }
  }
  if (table == nullptr) [[unlikely]] {
    table = table_of_operation(*served_by, comm, describe, thread);
    if (table == nullptr) return next(arguments...);
  }
  return serve_with_table(*served_by, *table, thread, next, describe, arguments...);
}

}  // namespace ranktree::preload
