// Nonblocking operations as requests of the MPI itself: generalized requests, which a thread of the process drives and
// completes. So the program's own MPI_Wait knows them, and they go on whatever its threads do meanwhile.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "mpi/collect/call.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/owned_types.h"
#include "mpi/collect/running.h"

namespace ranktree::mpi::collect {

class ProgressThread;

// One of them. It belongs to the MPI's request and to whoever completes it: the last of the two deletes it.
class OwnRequest {
 public:
  // Makes the request. Throws MpiError.
  explicit OwnRequest(const Nonblocking& call);
  OwnRequest(const OwnRequest&) = delete;
  OwnRequest& operator=(const OwnRequest&) = delete;
  OwnRequest(OwnRequest&&) = delete;
  OwnRequest& operator=(OwnRequest&&) = delete;

  // Once, on the thread that makes the call: operations take their turns here. Throws MpiError, AgreedError.
  void begin();
  // True once it has ended, well or not: then nothing of the program's is touched any more.
  bool progress() noexcept;
  // After its end, or where it could not begin. It may be deleted then.
  void complete() noexcept;

  [[nodiscard]] MPI_Request request() const { return request_; }

 private:
  friend class ProgressThread;
  ~OwnRequest() = default;
  // What the MPI calls.
  static int query(void* own, MPI_Status* status) noexcept;
  static int release(void* own) noexcept;
  static int cancel(void* own, int complete) noexcept;

  Nonblocking call_;
  OwnedTypes types_;
  std::unique_ptr<Running> running_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
  std::atomic<int> owners_ = 2;
  // The thread's.
  bool unwanted_ = false;  // the program has freed the request
  bool busy_ = false;      // somebody drives it, without the lock
  OwnRequest* next_ = nullptr;
  OwnRequest* previous_ = nullptr;
};

// Begins an operation as a request, where the chooser has a way of ours for it and there is a thread. False where it is
// the MPI's own: nothing was done. Else `code` is MPI's; the error handler has been called then.
bool begin_as_request(const Operation& operation, MPI_Request* request, int& code) noexcept;

}  // namespace ranktree::mpi::collect
