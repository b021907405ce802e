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

// Where ranks have called with different sizes, so that something was lost on this one.
inline void check_sizes(bool truncated) {
  if (truncated) check_own(MPI_ERR_TRUNCATE, "ranks with different sizes: more data than the receive buffer holds");
}

// The first of several errors, thrown in the end: a rank that stopped at the failure would let others wait for ever.
class FirstError {
 public:
  void note(int code, const char* call) {
    if (code_ != MPI_SUCCESS || code == MPI_SUCCESS) return;
    code_ = code;
    call_ = call;
  }
  void note(const FirstError& other) { note(other.code_, other.call_); }
  // Throws AgreedError of MPI's class where there was any.
  void check() const { check_own(code_, call_); }

 private:
  int code_ = MPI_SUCCESS;
  const char* call_ = "";
};

}  // namespace ranktree::mpi::collect
