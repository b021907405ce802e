// What the C interface and the preload library call: an operation, by the way the chooser says.
#pragma once

#include <mpi.h>

#include <memory>

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

}  // namespace ranktree::mpi::collect
