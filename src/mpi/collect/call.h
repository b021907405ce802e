// What the C interface and the preload library call: an operation, by the way the chooser says.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "core/predict/choice.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/running.h"

namespace ranktree::mpi::collect {

// Whether it is an intracommunicator of two ranks or more: others are the MPI's. Throws MpiError.
bool among_several(MPI_Comm comm);

// Blocking. Returns MPI's code; the communicator's error handler has been called then. Intercommunicators,
// communicators of one rank and whatever the chooser leaves to it go to the MPI. Errors in arguments that can be told
// locally give the MPI's own error class, because such calls are handed to the MPI.
int call(const Operation& operation) noexcept;

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
