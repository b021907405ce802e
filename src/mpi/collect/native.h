// The MPI's own collective calls, from an Operation.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/predict/choice.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/running.h"

namespace ranktree::mpi::collect {

// The MPI's own call, as a choice.
const core::predict::Choice& native_choice();

// The MPI's own call, blocking. Returns its code; the communicator's error handler has been called then.
int native(const Operation& operation) noexcept;

// The MPI's own nonblocking call. Throws MpiError: the error handler has been called.
std::unique_ptr<Running> start_native(const Operation& operation);

}  // namespace ranktree::mpi::collect
