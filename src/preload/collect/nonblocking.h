// Nonblocking collectives by ranktree. Where RANKTREE_COLL_NONBLOCKING=thread asks for it and the MPI gives
// MPI_THREAD_MULTIPLE, MPI_Ibcast, MPI_Ireduce and MPI_Iallreduce give the program requests of the MPI's own, which a
// thread of ranktree completes (docs/collect-preload.md).
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>

#include "mpi/collect/call_kind.h"
#include "preload/collect/serve.h"

namespace ranktree::preload {

// Decided in MPI_Init; false again from MPI_Finalize on.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the wrappers have no other place for it
extern constinit std::atomic<bool> serving_nonblocking;

// What this process is told: whether MPI_Init is to ask for MPI_THREAD_MULTIPLE.
bool asks_for_threads() noexcept;

// Whether it wants nonblocking collectives served; rank 0's word counts. Tells a setting that is none.
bool wants_nonblocking() noexcept;

// Collective over MPI_COMM_WORLD, in MPI_Init, where rank 0 wants it: on all ranks or on none. `provided`: what the MPI
// gave where it was asked for MPI_THREAD_MULTIPLE.
void begin_nonblocking(int provided) noexcept;

// In MPI_Finalize: what is in flight is completed.
void end_nonblocking() noexcept;

// Collective over a new communicator: makes what its nonblocking calls, which are local, cannot make.
void prepare(MPI_Comm comm) noexcept;

// False where it is the MPI's own; else `code` is MPI's.
bool begin(const Operation& operation, MPI_Request* request, int& code) noexcept;

// One nonblocking call of the program. Never one that has still to be tried: the chooser decides in blocking calls.
template <typename Next, typename Describe, typename... Arguments>
inline int serve_nonblocking(MPI_Request* request, MPI_Comm comm, Next next, Describe describe,
                             Arguments... arguments) {
  if (!serving_nonblocking.load(std::memory_order_relaxed) || inside || comm == MPI_COMM_NULL)
    return next(arguments...);
  const Inside within;
  Member* const member = member_of(comm);
  if (member == nullptr || member->shortcuts == nullptr || request == nullptr) return next(arguments...);
  const Operation operation = describe(*member);
  const std::size_t size = mpi::collect::size_class(mpi::collect::message_bytes(operation, false, types));
  int code = MPI_SUCCESS;
  if (size <= kLargestServed && begin(operation, request, code)) return code;
  return next(arguments...);
}

// One call of the program that makes a communicator.
template <typename Next, typename... Arguments>
inline int making(MPI_Comm* made, Next next, Arguments... arguments) {
  const int code = next(arguments...);
  if (serving_nonblocking.load(std::memory_order_relaxed) && !inside && code == MPI_SUCCESS && *made != MPI_COMM_NULL) {
    prepare(*made);
  }
  return code;
}

}  // namespace ranktree::preload
