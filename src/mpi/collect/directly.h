// Calls through the shared memory of one node that need nothing but the core's operation: blocking, of a plain type,
// like the last one of their kind. A call that takes as long as some hundred instructions notices what start() has to
// find out and prepare for all others. On the other ranks they may go the long way: what they do in shared memory is
// the same.
#pragma once

#include <mpi.h>

#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/size_class.h"

namespace ranktree::mpi::collect {

// Keeps with `last` what calls must have in common with this one, which goes through shared memory. Local. Throws
// MpiError.
void remember(const Context& context, const Operation& operation, Repeat& last);

// One that can_share(): false where it has to go the long way. Throws as finish() of one that is started.
bool finish_directly(const Context& context, const Operation& operation);

// Whether it is like those that have been remembered and there are some left. Local.
bool can_go_directly(const Context& context, const Operation& operation, const Kind& kind) noexcept;

// Such a call, which is counted. MPI's code; the communicator's error handler has been called then.
int call_directly(const Context& context, const Operation& operation, const Kind& kind) noexcept;

}  // namespace ranktree::mpi::collect
