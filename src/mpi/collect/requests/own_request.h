// Nonblocking operations as requests of the MPI itself: generalized requests, which a thread of the process drives and
// completes. So the program's own MPI_Wait knows them, and they go on whatever its threads do meanwhile.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "mpi/collect/call.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {

// Duplicates of an operation's datatypes: MPI lets programs free those of operations that are in flight.
class OwnedTypes {
 public:
  OwnedTypes() = default;
  // Puts duplicates in place of the types that the calling rank's part needs. Not of reductions, whose user functions
  // are given the program's own handle. Throws MpiError.
  explicit OwnedTypes(Operation& operation);

 private:
  std::array<Datatype, 2> types_;
};

class ProgressThread;

// A nonblocking operation as a request of the MPI. It belongs to the MPI's request and to the thread that completes it:
// the last of the two deletes it.
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
  // True once it is complete or has failed: then nothing of the program's is touched any more.
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
  bool busy_ = false;      // a thread drives it, without the lock
  OwnRequest* next_ = nullptr;
  OwnRequest* previous_ = nullptr;
};

// Begins an operation as a request, where the chooser has a variant of ours for it and there is a thread. False where
// the call is native: nothing was done. Else `code` is MPI's; the error handler has been called then. Within Entered.
bool begin_as_request(Context& context, const Operation& operation, const Kind& kind, MPI_Request* request,
                      int& code) noexcept;

// The thread of a process that completes such requests. It sleeps while nothing is in flight. Needs
// MPI_THREAD_MULTIPLE.
class ProgressThread {
 public:
  ProgressThread() = default;
  ~ProgressThread() { stop(); }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
  ProgressThread(ProgressThread&&) = delete;
  ProgressThread& operator=(ProgressThread&&) = delete;

  // False where no thread can be had. `crowded`: threads outnumber processors, so that it sleeps between two looks.
  bool start(bool crowded) noexcept;
  // Completes what is in flight and ends: all ranks have begun it, and their threads drive it.
  void stop() noexcept;
  [[nodiscard]] bool runs() const noexcept { return runs_.load(std::memory_order_relaxed); }

  // From now on the thread drives and completes it.
  void take(OwnRequest& own) noexcept;
  // MPI_Request_free of a request that is in flight: the thread frees it when it is complete (MPICH would at once, and
  // not know it any more then). False where it is none of those.
  bool free_later(MPI_Request request) noexcept;
  // Before a wait of the MPI's for all of these: until none of them is in flight. The caller drives and completes what
  // is, and the thread rests meanwhile: two threads that take turns on a processor are slower than one.
  void finish(std::span<const MPI_Request> requests) noexcept;

 private:
  void run() noexcept;
  bool drive(std::unique_lock<std::mutex>& lock) noexcept;
  void unlink(OwnRequest& own) noexcept;
  [[nodiscard]] bool has_any(std::span<const MPI_Request> requests) const noexcept;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  std::atomic<bool> runs_ = false;
  std::atomic<int> in_flight_ = 0;
  bool crowded_ = true;
  bool stopping_ = false;
  int waiters_ = 0;  // threads in finish()
  OwnRequest* first_ = nullptr;
  OwnRequest* last_ = nullptr;
};

}  // namespace ranktree::mpi::collect
