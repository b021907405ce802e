#include "mpi/check.h"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>

namespace ranktree::mpi {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  std::string reason = "error code " + std::to_string(code);
  if (PMPI_Error_string(code, text.data(), &length) == MPI_SUCCESS) {
    reason.assign(text.data(), static_cast<std::size_t>(length));
  }
  throw MpiError(code, std::string(call) + ": " + reason);
}

void return_errors() { check(PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"); }

}  // namespace ranktree::mpi
