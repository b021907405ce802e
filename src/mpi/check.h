// Return codes of MPI calls.
#pragma once

namespace ranktree::mpi {

// Throws core::Error(kSystem) with the call's name and MPI's own text unless `code` is MPI_SUCCESS. Meaningful only
// where the communicator's error handler is MPI_ERRORS_RETURN; see return_errors.
void check(int code, const char* call);

// From here on errors on MPI_COMM_WORLD, and on communicators made from it, come back as codes.
void return_errors();

}  // namespace ranktree::mpi
