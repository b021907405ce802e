// Return codes of MPI calls.
#pragma once

#include <string>

#include "core/base/error.h"

namespace ranktree::mpi {

// An MPI call failed, and MPI has called the error handler already.
class MpiError : public core::Error {
 public:
  MpiError(int code, const std::string& text) : core::Error(core::Fault::kSystem, text), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

// Throws MpiError with the call's name and MPI's own text unless `code` is MPI_SUCCESS. Meaningful only where the
// communicator's error handler is MPI_ERRORS_RETURN; see return_errors.
void check(int code, const char* call);

// From here on errors on MPI_COMM_WORLD, and on communicators made from it, come back as codes.
void return_errors();

}  // namespace ranktree::mpi
