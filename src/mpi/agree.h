// What is decided together: one allreduce of summaries, and errors that come back on all ranks alike.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/split/summary.h"

namespace ranktree::mpi {

// An error that all ranks of the call throw, with the same class. MPI's error handler has not been called for it.
class AgreedError : public core::Error {
 public:
  AgreedError(int error_class, const std::string& text)
      : core::Error(core::Fault::kInput, text), error_class_(error_class) {}
  [[nodiscard]] int error_class() const { return error_class_; }

 private:
  int error_class_;
};

// The MPI error class of the exception being handled, and its text.
struct Failure {
  int error_class = MPI_SUCCESS;
  std::string text;
};
Failure current_failure();

// Runs the part of a collective call that is local, and keeps what it throws: all ranks must learn of it first.
Failure attempt(const std::function<void()>& local);

// Collective over `comm`: the failure of the lowest rank that has one, the same on all ranks. An allreduce, and a
// broadcast where somebody has failed. Throws MpiError.
Failure share(MPI_Comm comm, const Failure& own);

// Collective: attempt() on every rank, then AgreedError on all when one has failed.
void attempt_together(MPI_Comm comm, const std::function<void()>& local);

// Collective over `comm`: one allreduce. Throws MpiError.
core::split::Summary agree(MPI_Comm comm, const core::split::Summary& own);

// Collective: agree(), then throws AgreedError on all ranks when one has failed or the arguments differ.
core::split::Summary agree_or_throw(MPI_Comm comm, core::split::Summary own, const Failure& failure);

}  // namespace ranktree::mpi
