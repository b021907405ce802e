// Nonblocking collectives by ranktree. Where RANKTREE_COLL_NONBLOCKING=thread is set and the MPI provides
// MPI_THREAD_MULTIPLE, MPI_Ibcast, MPI_Ireduce and MPI_Iallreduce return requests of the MPI, which a thread of
// ranktree completes (docs/how-to/serve-collectives.md).
#pragma once

#include <mpi.h>

#include <atomic>

#include "mpi/collect/call_kind.h"
#include "mpi/collect/preload_abi.h"
#include "preload/collect/serve.h"

namespace ranktree::preload {

using mpi::collect::ProgressThread;

// Decided in MPI_Init; null again from MPI_Finalize on: nonblocking collectives are the MPI's.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the wrappers have no other place for it
extern constinit std::atomic<ProgressThread*> progress_thread;

// True when the settings of this process need MPI_THREAD_MULTIPLE, which MPI_Init then requests.
bool requests_threads() noexcept;

// Whether it wants nonblocking collectives served; rank 0's word counts. Reports a setting that is none.
bool wants_nonblocking() noexcept;

// Collective over MPI_COMM_WORLD, in MPI_Init, where rank 0 wants it: on all ranks or on none. `provided`: the level
// of threads that MPI_Init_thread returned.
void begin_nonblocking(int provided) noexcept;

// In MPI_Finalize: what is in flight is completed.
void end_nonblocking() noexcept;

// Collective over a new communicator: makes what its nonblocking calls, which are local, cannot make.
void prepare(MPI_Comm comm) noexcept;

// One nonblocking call of the program. Never one that has still to be tried: the chooser decides in blocking calls.
template <typename Next, typename Describe, typename... Arguments>
inline int serve_nonblocking(MPI_Request* request, MPI_Comm comm, Next next, Describe describe,
                             Arguments... arguments) {
  if (progress_thread.load(std::memory_order_relaxed) == nullptr || comm == MPI_COMM_NULL || request == nullptr) {
    return next(arguments...);
  }
  const PreloadFunctions& served_by = *functions();
  ThreadState& thread = state_of_thread(served_by);
  if (thread.depth > 0) return next(arguments...);
  const Entered within(thread);
  CallTable* table = thread.known_table(comm);
  if (table == nullptr) table = served_by.find(comm, &thread);  // other ranks' threads may know it
  if (table == nullptr) return next(arguments...);
  const Operation operation = describe(static_cast<std::size_t>(table->size));
  const Kind kind = mpi::collect::kind_of(operation, table->rank, thread.types);
  int code = MPI_SUCCESS;
  if (kind.size <= kLargestServed && served_by.begin(table, &operation, &kind, request, &code)) return code;
  return next(arguments...);
}

// One call of the program that makes a communicator.
template <typename Next, typename... Arguments>
inline int making(MPI_Comm* made, Next next, Arguments... arguments) {
  const int code = next(arguments...);
  if (progress_thread.load(std::memory_order_relaxed) != nullptr && code == MPI_SUCCESS && *made != MPI_COMM_NULL) {
    prepare(*made);
  }
  return code;
}

}  // namespace ranktree::preload
