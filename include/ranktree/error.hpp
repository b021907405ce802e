// The exception of all C++ headers of Ranktree. C++17; needs no MPI.
#ifndef RANKTREE_ERROR_HPP
#define RANKTREE_ERROR_HPP

#include <stdexcept>
#include <string>

#include "ranktree/base.h"

namespace ranktree {

/** One line that names the place, what was expected and what was found; status() is what a program may decide by. */
class Error : public std::runtime_error {
 public:
  Error(ranktree_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  explicit Error(const ranktree_error& error) : Error(error.status, error.text) {}
  /** An MPI call that failed: status() is RANKTREE_ERROR_MPI. \param mpi_code as the call returned it */
  Error(int mpi_code, const std::string& text) : Error(RANKTREE_ERROR_MPI, text) { mpi_code_ = mpi_code; }

  [[nodiscard]] ranktree_status status() const noexcept { return status_; }
  /** MPI's error code; 0, which is MPI_SUCCESS, where no MPI call failed. */
  [[nodiscard]] int mpi_code() const noexcept { return mpi_code_; }

 private:
  ranktree_status status_;
  int mpi_code_ = 0;
};

}  // namespace ranktree

#endif
