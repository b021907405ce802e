// The border between exceptions and MPI error codes.
#pragma once

#include <mpi.h>

#include <string_view>

#include "core/base/error.h"
#include "mpi/agree.h"
#include "mpi/check.h"

namespace ranktree::mpi {

// Keeps the reason with the communicator, calls its error handler (for MPI_COMM_NULL the one MPI takes) and returns a
// code of the class, whose MPI_Error_string is the reason, so that handlers print it. A reason that cannot be
// kept is lost; the class remains.
int raise(MPI_Comm comm, const Failure& failure) noexcept;

// Sets what ranktree_Comm_get_message() returns for this communicator; lost where it cannot be kept.
void keep_message(MPI_Comm comm, std::string_view text) noexcept;

// The same, with the MPI's text for an error of which it has called the handler itself.
void keep_reason(MPI_Comm comm, int code) noexcept;

// Throws AgreedError(MPI_ERR_COMM) for an intercommunicator.
void require_intracommunicator(MPI_Comm comm);

// Runs the body of a call on an intracommunicator.
template <typename Body>
int guard(MPI_Comm comm, Body body) noexcept {
  if (comm == MPI_COMM_NULL) return raise(comm, {MPI_ERR_COMM, {}});
  try {
    require_intracommunicator(comm);
    body();
    return MPI_SUCCESS;
  } catch (const MpiError& error) {
    keep_message(comm, error.what());
    return error.code();
  } catch (...) {
    return raise(comm, current_failure());
  }
}

// Runs the body of a call without a communicator.
template <typename Body>
int guard(Body body) noexcept {
  try {
    body();
    return MPI_SUCCESS;
  } catch (const MpiError& error) {
    return error.code();
  } catch (...) {
    return raise(MPI_COMM_NULL, current_failure());
  }
}

}  // namespace ranktree::mpi
