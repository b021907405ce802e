// Calls through the shared memory of one node that need nothing but the core's operation: blocking, of a plain type,
// like the last one of their kind. A call of a few hundred instructions is slowed down by what start() has to find out
// and prepare for all others. Other ranks may take the path of start(): the steps in shared memory are the same.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/predict/choice.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {

// Variant::kShared, for can_run() and start().
bool can_share(Context& context, const Operation& operation, const core::predict::Choice& choice);
std::unique_ptr<Running> start_shared(const std::shared_ptr<Context>& context, const Operation& operation,
                                      const core::predict::Choice& choice);

// The same as finish(*start_shared(...)), with less to do for small blocking calls.
void finish_shared(const std::shared_ptr<Context>& context, const Operation& operation,
                   const core::predict::Choice& choice);

// Keeps with `last` what calls must have in common with this one, which goes through shared memory. Local. Throws
// MpiError.
void remember(const Context& context, const Operation& operation, Repeat& last);

// An operation that can_share(): false where it needs start_shared(). Throws as finish() of a started operation.
bool finish_on_fast_path(const Context& context, const Operation& operation);

// Whether it is like those that have been remembered and there are some left. Local.
bool can_take_fast_path(const CallTable& table, const Operation& operation, const Kind& kind) noexcept;

// Such a call, which is counted. MPI's code; the communicator's error handler has been called then.
int call_on_fast_path(CallTable& table, const Operation& operation, const Kind& kind) noexcept;

}  // namespace ranktree::mpi::collect
