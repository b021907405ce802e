// The thread of a process that completes nonblocking operations which are requests of the MPI.
#pragma once

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

namespace ranktree::mpi::collect {

class OwnRequest;

// It sleeps while nothing is under way. Needs MPI_THREAD_MULTIPLE.
class ProgressThread {
 public:
  // Of the process; never destroyed, since a process may end without MPI_Finalize.
  static ProgressThread& instance() noexcept;
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
  ProgressThread(ProgressThread&&) = delete;
  ProgressThread& operator=(ProgressThread&&) = delete;

  // False where no thread can be had. `crowded`: threads outnumber processors, so that it sleeps between two looks.
  bool start(bool crowded) noexcept;
  // Completes what is under way and ends: all ranks have begun it, and their threads drive it.
  void stop() noexcept;
  [[nodiscard]] bool runs() const noexcept { return runs_.load(std::memory_order_relaxed); }

  // From now on the thread drives and completes it.
  void take(OwnRequest& own) noexcept;
  // MPI_Request_free of a request that is under way: the thread frees it when it is complete (MPICH would at once, and
  // not know it any more then). False where it is none of those.
  bool free_later(MPI_Request request) noexcept;
  // Before a wait of the MPI's for all of these: until none of them is under way. The caller drives and completes what
  // is, and the thread rests meanwhile: two threads that take turns on a processor are slower than one.
  void finish(std::span<const MPI_Request> requests) noexcept;

 private:
  ProgressThread() = default;
  ~ProgressThread() = default;
  void run() noexcept;
  bool drive(std::unique_lock<std::mutex>& lock) noexcept;
  void unlink(OwnRequest& own) noexcept;
  [[nodiscard]] bool has_any(std::span<const MPI_Request> requests) const noexcept;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
  std::atomic<bool> runs_ = false;
  std::atomic<int> under_way_ = 0;
  bool crowded_ = true;
  bool stopping_ = false;
  int waiters_ = 0;  // threads in finish()
  OwnRequest* first_ = nullptr;
  OwnRequest* last_ = nullptr;
};

}  // namespace ranktree::mpi::collect
