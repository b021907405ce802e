// The variants of a collective operation: the native call, or one of ours that a choice names.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/requests/in_flight.h"  // IWYU pragma: export

namespace ranktree::mpi::collect {

// The native call, as a choice.
const core::predict::Choice& native_choice();

// The native call, blocking. Returns its code; the communicator's error handler has been called then.
int native(const Operation& operation) noexcept;

// The native nonblocking call. Throws MpiError: the error handler has been called.
std::unique_ptr<Running> start_native(const Operation& operation);

// False where a variant cannot carry out an operation (an algorithm that needs a commutative operation, a shared node
// memory that is not there, ...). Depends only on what is equal on all ranks. Local: after has_node_team().
bool can_run(Context& context, const Operation& operation, const core::predict::Choice& choice);

// False for an alltoallv in place, and for a reduction that some variants cannot carry out although they carry out
// others of its kind (call_kind.h): of elements that overlap or do not fit into shared memory, where there is some, of
// types that an operation of MPI's is not defined for, with a count for each rank and an operation that does not
// commute. Depends and is local as can_run().
bool is_usual(Context& context, const Operation& operation);

// Begins it; the same choice on all ranks, one for which can_run(). The arguments are valid. Buffers belong to the
// operation until it is done. Variants that are not native keep nothing of the operation's communicator, so that it may
// be freed meanwhile, and throw AgreedError where messages fail: the program's error handler has not been called.
// Throws MpiError, std::bad_alloc.
std::unique_ptr<Running> start(const std::shared_ptr<Context>& context, const Operation& operation,
                               const core::predict::Choice& choice);

// The same until it is done; drives all that is in flight meanwhile.
void finish(Context& context, const Operation& operation, const core::predict::Choice& choice);

// Messages by one algorithm, among all ranks alike.
core::predict::Choice by_messages(core::schedule::Algorithm algorithm);

}  // namespace ranktree::mpi::collect
