// An operation carried out in a chosen way.
#pragma once

#include <memory>

#include "core/predict/choice.h"
#include "mpi/collect/context.h"
#include "mpi/collect/native.h"  // IWYU pragma: export
#include "mpi/collect/operation.h"
#include "mpi/collect/running.h"

namespace ranktree::mpi::collect {

// False where a way cannot carry out an operation (an algorithm that needs a commutative operation, a shared node
// memory that is not there, ...). Depends only on what is equal on all ranks. Local: after has_node_team().
bool can_run(Context& context, const Operation& operation, const core::predict::Choice& choice);

// False for a reduction that ways cannot carry out which carry out others of its kind (size_class.h): of elements that
// overlap or do not fit into shared memory, where there is some, of types that an operation of MPI's is not defined
// for, with a count for each rank and an operation that does not commute. Depends and is local as can_run().
bool is_usual(Context& context, const Operation& operation);

// Begins it; the same choice on all ranks, one for which can_run(). The arguments are valid. Buffers belong to the
// operation until it is done. Ways that are not native keep nothing of the operation's communicator, so that it may be
// freed meanwhile, and throw AgreedError where messages fail: the program's error handler has not been called. Throws
// MpiError, std::bad_alloc.
std::unique_ptr<Running> start(const std::shared_ptr<Context>& context, const Operation& operation,
                               const core::predict::Choice& choice);

// kShared, for start(): shared_running.cpp.
bool can_share(Context& context, const Operation& operation, const core::predict::Choice& choice);
std::unique_ptr<Running> start_shared(const std::shared_ptr<Context>& context, const Operation& operation,
                                      const core::predict::Choice& choice);

// The same as finish(*start_shared(...)), with less to do for small blocking calls.
void finish_shared(const std::shared_ptr<Context>& context, const Operation& operation,
                   const core::predict::Choice& choice);

}  // namespace ranktree::mpi::collect
