// The calls that the C interface and the preload library make: an operation, by the variant that the chooser decides
// on.
//
// A call is classified once (call_kind.h), at its entry. Most are found there to be native, by the communicator's
// table; the others are served.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/thread_state.h"
#include "mpi/guard.h"

namespace ranktree::mpi::collect {

// Blocking. Returns MPI's code; the communicator's error handler has been called then. Calls on intercommunicators, on
// communicators of one rank and those that the chooser decides to be native are passed through to the MPI. So are calls
// with arguments that are wrong as far as one rank can see: they give the native error class.
int call(const Operation& operation) noexcept;

// A call that is not is_native(), within Entered: arguments are checked here, once. As call().
int serve(CallTable& table, const Operation& operation, const Kind& kind) noexcept;

// After a native call that has been counted and has failed: one whose arguments this rank finds wrong may have been
// made on no other rank, and does not count.
void take_back_wrong(CallTable& table, const Operation& operation, const Kind& kind) noexcept;

// An unmodified program's call on a communicator whose table the thread does not know, within Entered. Its first calls
// are native: a communicator that makes few costs nothing. `first_served`: the number of the first that is not.
// kWhenAffordable (preload_abi.h): ranks agree at some calls, in one small allreduce, whether the account covers its
// set-up; large messages count as several calls. Collective at those calls. Null: native.
CallTable* table_for_program(const Operation& operation, std::uint32_t first_served, ThreadState& thread) noexcept;

// After a call that has been counted by `weight` (ThreadState::Slot::waiting) and has failed, as take_back_wrong().
void take_back_waiting(Waiting& waiting, const Operation& operation, std::uint32_t weight) noexcept;

// Its table where it has one, whether or not the thread knows it. Local.
CallTable* find_table(MPI_Comm comm, ThreadState& thread) noexcept;

// Collective over a program's communicator: makes what its nonblocking calls, which are local, cannot make.
void prepare_for_program(MPI_Comm comm, ThreadState& thread) noexcept;

// call() for an operation without lists that `describe` makes, where `native` makes the native call: what is known when
// that is compiled need not be found in each call. Described twice, so that a native call builds no description that it
// does not use. Counts are an int's.
template <typename Describe, typename Native>
inline int call(MPI_Comm comm, Describe describe, Native native) noexcept {
  ThreadState& thread = thread_state();
  CallTable* const table = thread.known_table(comm);
  if (table == nullptr) return call(describe());
  const Operation operation = describe();
  const Kind kind = kind_of(operation, table->rank, thread.types);
  const bool has_bytes = kind.size > 0 || operation.collective == core::schedule::Collective::kBarrier;
  if (!has_bytes) return call(operation);
  const Entered entered(thread);
  if (table->in_flight.load(std::memory_order_acquire) > 0 || !is_native(kind, *table)) {
    return serve(*table, operation, kind);
  }
  const int code = native();
  if (code != MPI_SUCCESS) [[unlikely]] {
    keep_reason(comm, code);
    take_back_wrong(*table, describe(), kind);
  }
  return code;
}

// Collective, synchronising: makes what nonblocking calls on this communicator find. Throws MpiError, AgreedError.
void prepare(MPI_Comm comm);

// Nonblocking and local: native until prepare() or call() has been called on the communicator. Throws MpiError,
// AgreedError. What it returns outlives the communicator's handle.
std::unique_ptr<Running> call_nonblocking(const Operation& operation);

// The same in two steps, for callers that make native calls themselves: decide_nonblocking() returns nothing where the
// call is native; else begin_nonblocking() starts it. In between nothing else may be called on the communicator. Within
// Entered.
struct Nonblocking {
  std::shared_ptr<Context> context;
  Operation operation;
  const core::predict::Choice* choice = nullptr;  // the chooser's, until it has begun
};
std::optional<Nonblocking> decide_nonblocking(Context& context, const Operation& operation, const Kind& kind);
std::unique_ptr<Running> begin_nonblocking(const Nonblocking& call);

}  // namespace ranktree::mpi::collect
