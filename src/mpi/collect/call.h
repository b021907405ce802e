// What the C interface and the preload library call: an operation, by the way the chooser says.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/thread_state.h"
#include "mpi/collect/variant.h"
#include "mpi/guard.h"

namespace ranktree::mpi::collect {

// Whether it is an intracommunicator of two ranks or more: others are the MPI's. Throws MpiError.
bool among_several(MPI_Comm comm);

// Blocking. Returns MPI's code; the communicator's error handler has been called then. Intercommunicators,
// communicators of one rank and whatever the chooser leaves to it go to the MPI. Errors in arguments that can be told
// locally give the MPI's own error class, because such calls are handed to the MPI.
int call(const Operation& operation) noexcept;

// Whether it is the MPI's own by the count of such calls, which counts it: what Chooser::begin() finds in more steps. A
// call that takes as long as some hundred instructions notices them.
inline bool is_left_to_mpi(const Context& context, const Operation& operation, const Kind& kind) {
  Shortcuts* const shortcuts = context.shortcuts();
  if (shortcuts == nullptr || context.in_flight() > 0) return false;
  if (reduces(operation.collective) && context.reproducible().value_or(true)) return false;
  return is_left_to_mpi(operation.collective, kind, *shortcuts);
}

// After such a call that has failed: one whose arguments this rank finds wrong may have been made by no other, and does
// not count.
void take_back_wrong(const Context& context, const Operation& operation, const Kind& kind) noexcept;

// One that is not left to the MPI by the count of such calls, of a kind that is looked for where nothing is known of
// the communicator yet.
int call_served(const Context* known, const Operation& operation, Kind kind, ThreadState& thread) noexcept;

// call() for an operation without lists that `describe` makes, where `mpis` makes the MPI's own call: what is known
// when that is compiled need not be found in each call. Described twice, so that nothing of it need exist where it is
// left to the MPI. Counts are an int's.
template <typename Describe, typename Mpis>
inline int call(MPI_Comm comm, Describe describe, Mpis mpis) noexcept {
  ThreadState& thread = thread_state;
  if (const Context* const context = Context::find_at_once(comm, thread)) {
    const Operation operation = describe();
    const Kind kind = kind_of(operation, context->rank(), thread.types);
    const bool has_bytes = kind.size > 0 || operation.collective == core::schedule::Collective::kBarrier;
    if (!has_bytes) return call(operation);
    if (!is_left_to_mpi(*context, operation, kind)) return call_served(context, operation, kind, thread);
    const Entered entered(thread);
    const int code = mpis();
    if (code != MPI_SUCCESS) [[unlikely]] {
      keep_reason(comm, code);
      take_back_wrong(*context, describe(), kind);
    }
    return code;
  }
  return call(describe());
}

// Collective, synchronising: makes what nonblocking calls on this communicator find. Throws MpiError, AgreedError.
void prepare(MPI_Comm comm);

// Nonblocking and local: until prepare() or call() has been called on the communicator, the MPI's own. Throws MpiError,
// AgreedError. What it returns outlives the communicator's handle.
std::unique_ptr<Running> call_nonblocking(const Operation& operation);

// The same in two steps, for callers who make the MPI's own calls themselves: what such a call is to be, nothing where
// it is the MPI's own; then its beginning. In between nothing else may be called on the communicator.
struct Nonblocking {
  std::shared_ptr<Context> context;
  Operation operation;
  const core::predict::Choice* choice = nullptr;  // the chooser's, until it has begun
};
std::optional<Nonblocking> decide_nonblocking(const Operation& operation);
std::unique_ptr<Running> begin_nonblocking(const Nonblocking& call);

}  // namespace ranktree::mpi::collect
