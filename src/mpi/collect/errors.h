// Errors of our own messages: MPI returns them as codes, and the program's error handler is still to be called.
#pragma once

#include <mpi.h>

#include "mpi/agree.h"
#include "mpi/check.h"

namespace ranktree::mpi::collect {

// Throws AgreedError of MPI's class unless `code` is MPI_SUCCESS.
inline void check_own(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  try {
    check(code, call);
  } catch (const MpiError&) {
    throw AgreedError(current_failure());
  }
}

}  // namespace ranktree::mpi::collect
