// What is decided together: one allreduce of summaries, and errors that come back on all ranks alike.
#pragma once

#include <mpi.h>

#include <string_view>

#include "core/base/error.h"
#include "core/split/summary.h"
#include "mpi/text.h"

namespace ranktree::mpi {

// The MPI error class of an exception, and its text. Plain bytes, which travel.
struct Failure {
  int error_class = MPI_SUCCESS;
  Text text;
};

// An error that all ranks of the call throw, with the same class. MPI's error handler has not been called for it. It
// needs no memory, so that it is thrown whatever has happened.
class AgreedError : public core::Error {
 public:
  AgreedError(int error_class, std::string_view text) : AgreedError(Failure{error_class, Text(text)}) {}
  explicit AgreedError(const Failure& failure) : core::Error(core::Fault::kInput, {}), failure_(failure) {}
  [[nodiscard]] int error_class() const noexcept { return failure_.error_class; }
  [[nodiscard]] const char* what() const noexcept override { return failure_.text.c_str(); }

 private:
  Failure failure_;
};

// Of the exception being handled.
Failure current_failure() noexcept;

// Runs the part of a collective call that is local, and keeps what it throws: all ranks must learn of it first.
// Whatever may throw on one rank alone, any allocation, belongs into such a part; nothing is allocated for the part
// itself.
template <typename Local>
Failure attempt(const Local& local) noexcept {
  try {
    local();
    return {};
  } catch (...) {
    return current_failure();
  }
}

// Collective over `comm`: the failure of the lowest rank that has one, the same on all ranks. An allreduce, and a
// broadcast where a rank has failed. Throws MpiError, nothing else.
Failure share(MPI_Comm comm, const Failure& own);

// Collective: share(), then AgreedError on all ranks when one has failed.
void throw_together(MPI_Comm comm, const Failure& own);

// Collective: attempt() on every rank, then throw_together().
template <typename Local>
void attempt_together(MPI_Comm comm, const Local& local) {
  throw_together(comm, attempt(local));
}

// The local steps of a rank in one phase of a collective call. How they went travels as one word with data that the
// ranks exchange anyway, merged by MPI_MAX: 0 where all are well, else it names the lowest rank that has failed. A rank
// that has failed takes part, with nothing to give, until the others have its word; then all leave together.
class LocalSteps {
 public:
  // Throws MpiError.
  explicit LocalSteps(MPI_Comm comm);

  // Runs a step unless an earlier one has failed; false where one has.
  template <typename Step>
  bool run(const Step& step) noexcept {
    if (!failed()) failure_ = attempt(step);
    return !failed();
  }
  // Counts as a step that has failed; the first failure is kept. MPI_SUCCESS does not count.
  void fail(const Failure& failure) noexcept {
    if (!failed()) failure_ = failure;
  }
  [[nodiscard]] bool failed() const noexcept { return failure_.error_class != MPI_SUCCESS; }
  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
  [[nodiscard]] int word() const noexcept { return failed() ? size_ - rank_ : 0; }

  // Collective, with a merged word that is not 0: the failure of the rank that it names, the same on all ranks.
  [[nodiscard]] Failure failure_of(int merged) const;
  // Throws it as an AgreedError on all ranks unless the merged word is 0.
  void require(int merged) const {
    if (merged != 0) throw AgreedError(failure_of(merged));
  }
  // Collective: an allreduce of the words, then require(). For phases that exchange nothing else.
  void agree() const;

 private:
  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  Failure failure_;
};

// Collective over `comm`: one allreduce. Throws MpiError.
core::split::Summary agree(MPI_Comm comm, const core::split::Summary& own);

// Collective: agree(), then throws AgreedError on all ranks when one has failed or the arguments differ.
core::split::Summary agree_or_throw(MPI_Comm comm, core::split::Summary own, const Failure& failure);

}  // namespace ranktree::mpi
