// MPI's error codes as ranktree::Error: what the C++ headers for MPI programs have in common. C++17.
#ifndef RANKTREE_MPI_ERROR_HPP
#define RANKTREE_MPI_ERROR_HPP

#include <mpi.h>

#include <string>

#include "ranktree/error.hpp"
#include "ranktree/mpi.h"

namespace ranktree {

/** MPI's class of an error, MPI_SUCCESS where no MPI call failed. */
[[nodiscard]] inline int mpi_class(const Error& error) noexcept {
  int found = MPI_ERR_UNKNOWN;
  return MPI_Error_class(error.mpi_code(), &found) == MPI_SUCCESS ? found : MPI_ERR_UNKNOWN;
}

namespace detail {

inline std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "error " + std::to_string(code);
  return text;
}

// Throws Error for a code that is none of success, with MPI's text and the reason that comm keeps. Calls return codes
// only where the communicator's error handler returns.
inline void check(int code, const char* call, MPI_Comm comm) {
  if (code == MPI_SUCCESS) return;
  char reason[1024] = "";
  int length = 0;
  if (comm != MPI_COMM_NULL) ranktree_Comm_get_message(comm, reason, sizeof reason, &length);
  std::string text = std::string(call) + ": " + mpi_text(code);
  // Open MPI's text of the code is the reason itself.
  if (reason[0] != 0 && text.find(reason) == std::string::npos) text += std::string(": ") + reason;
  throw Error(code, text);
}

}  // namespace detail
}  // namespace ranktree

#endif
