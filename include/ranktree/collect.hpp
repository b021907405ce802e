// Requests of hierarchical collectives for C++17: an object owns a pending or persistent operation. Link with
// libranktree_mpi_<mpi>. ranktree/mpi_collect.h has the calls, which any Request takes as its first argument.
//
//   ranktree::Request sum(ranktree_Iallreduce, &mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
//   compute();
//   sum.wait();
#ifndef RANKTREE_COLLECT_HPP
#define RANKTREE_COLLECT_HPP

#include <mpi.h>

#include <utility>

#include "ranktree/mpi_collect.h"
#include "ranktree/mpi_error.hpp"

namespace ranktree {

/** One operation: nonblocking, which the constructor starts, or persistent, which start() starts. Owns its request:
 * move only. Buffers must live until wait() or a test() that returns true. The destructor waits for a pending
 * operation, since MPI cannot cancel collectives; after MPI_Finalize it does nothing. Errors are thrown as Error where
 * the communicator's error handler returns. */
class Request {
 public:
  /** Nothing: complete. */
  Request() noexcept = default;

  /** Calls a function of ranktree/mpi_collect.h whose last parameter is a request (ranktree_Ibcast,
   * ranktree_Allreduce_init, ranktree_Ibcast_c, ...) with the other arguments. Collective as that function is. */
  template <class... Parameters, class... Arguments>
  explicit Request(int (*call)(Parameters...), Arguments... arguments) {
    detail::check(call(arguments..., &request_), "ranktree::Request", MPI_COMM_NULL);
  }

  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  Request(Request&& other) noexcept : request_(std::exchange(other.request_, RANKTREE_REQUEST_NULL)) {}
  Request& operator=(Request&& other) noexcept {
    if (this != &other) {
      finish();
      request_ = std::exchange(other.request_, RANKTREE_REQUEST_NULL);
    }
    return *this;
  }
  ~Request() { finish(); }

  /** As ranktree_Start(), of a persistent operation. */
  void start() { detail::check(ranktree_Start(&request_), "ranktree_Start", MPI_COMM_NULL); }
  /** As ranktree_Wait(). */
  void wait() { detail::check(ranktree_Wait(&request_), "ranktree_Wait", MPI_COMM_NULL); }
  /** As ranktree_Test(): whether the operation is complete. */
  [[nodiscard]] bool test() {
    int flag = 0;
    detail::check(ranktree_Test(&request_, &flag), "ranktree_Test", MPI_COMM_NULL);
    return flag != 0;
  }

 private:
  void finish() noexcept {
    int finalized = 0;
    if (request_ == RANKTREE_REQUEST_NULL || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return;
    ranktree_Wait(&request_);
    if (request_ != RANKTREE_REQUEST_NULL) ranktree_Request_free(&request_);
  }

  ranktree_Request request_ = RANKTREE_REQUEST_NULL;
};

}  // namespace ranktree

#endif
