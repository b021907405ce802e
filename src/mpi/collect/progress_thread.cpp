#include "mpi/collect/progress_thread.h"

#include <linux/prctl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>
#include <span>
#include <system_error>
#include <thread>

#include "mpi/collect/entered.h"
#include "mpi/collect/own_request.h"

namespace ranktree::mpi::collect {
namespace {

// Signals are the program's: the thread made meanwhile has all of them blocked.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;  // NOLINT(misc-include-cleaner): <signal.h> has it
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  SignalsBlocked(SignalsBlocked&&) = delete;
  SignalsBlocked& operator=(SignalsBlocked&&) = delete;

 private:
  sigset_t before_{};  // NOLINT(misc-include-cleaner)
};

// What the thread does between two looks at what is under way.
class Rest {
 public:
  explicit Rest(bool crowded) : crowded_(crowded) {}
  void reset() {
    tries_ = 0;
    pause_ = kShortest;
  }
  // A yield is not enough where others compute: a thread that only yields takes half of their time.
  void take() {
    constexpr int kYields = 32;
    if (!crowded_ || ++tries_ < kYields) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(pause_ + pause_ / 4, kLongest);
  }

 private:
  static constexpr std::chrono::nanoseconds kShortest = std::chrono::microseconds(10);
  static constexpr std::chrono::nanoseconds kLongest = std::chrono::microseconds(100);
  bool crowded_;
  int tries_ = 0;
  std::chrono::nanoseconds pause_ = kShortest;
};

}  // namespace

ProgressThread& ProgressThread::instance() noexcept {
  alignas(ProgressThread) static std::array<std::byte, sizeof(ProgressThread)> memory;
  static auto* const only = new (memory.data()) ProgressThread;
  return *only;
}

bool ProgressThread::start(bool crowded) noexcept {
  const SignalsBlocked blocked;
  crowded_ = crowded;
  stopping_ = false;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return false;
  }
  pthread_setname_np(thread_.native_handle(), "ranktree");
  runs_.store(true, std::memory_order_relaxed);
  return true;
}

void ProgressThread::stop() noexcept {
  if (!runs_.exchange(false, std::memory_order_relaxed)) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ProgressThread::take(OwnRequest& own) noexcept {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    own.previous_ = last_;
    (last_ == nullptr ? first_ : last_->next_) = &own;
    last_ = &own;
    first = first_ == &own;
    under_way_.fetch_add(1, std::memory_order_relaxed);
  }
  if (first) wake_.notify_one();
}

// Where the thread is just completing it, this waits until it has: the lock is held meanwhile.
bool ProgressThread::free_later(MPI_Request request) noexcept {
  if (under_way_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  for (OwnRequest* own = first_; own != nullptr; own = own->next_) {
    if (own->request() != request) continue;
    own->unwanted_ = true;
    return true;
  }
  return false;
}

void ProgressThread::unlink(OwnRequest& own) noexcept {
  (own.previous_ == nullptr ? first_ : own.previous_->next_) = own.next_;
  (own.next_ == nullptr ? last_ : own.next_->previous_) = own.previous_;
}

// One look at each that nobody else is busy with. The lock is not held while one is driven; it stays in the list then.
bool ProgressThread::drive(std::unique_lock<std::mutex>& lock) noexcept {
  bool any = false;
  for (OwnRequest* own = first_; own != nullptr;) {
    bool ended = false;
    if (!own->busy_) {
      own->busy_ = true;
      lock.unlock();
      ended = own->progress();
      lock.lock();
      own->busy_ = false;
    }
    OwnRequest* const next = own->next_;
    if (ended) {
      unlink(*own);
      own->complete();
      under_way_.fetch_sub(1, std::memory_order_relaxed);
      any = true;
    }
    own = next;
  }
  return any;
}

bool ProgressThread::has_any(std::span<const MPI_Request> requests) const noexcept {
  for (const OwnRequest* own = first_; own != nullptr; own = own->next_) {
    if (std::find(requests.begin(), requests.end(), own->request()) != requests.end()) return true;
  }
  return false;
}

void ProgressThread::finish(std::span<const MPI_Request> requests) noexcept {
  if (under_way_.load(std::memory_order_relaxed) == 0) return;
  constexpr int kSpins = 64;
  const Entered entered;
  std::unique_lock lock(mutex_);
  ++waiters_;
  for (int tries = 0; has_any(requests); ++tries) {
    drive(lock);
    if (tries < kSpins) continue;
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  --waiters_;
  if (first_ != nullptr && waiters_ == 0) wake_.notify_one();
}

void ProgressThread::run() noexcept {
  const Entered entered;
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // short sleeps are short
  Rest rest(crowded_);
  std::unique_lock lock(mutex_);
  for (;;) {
    if (first_ == nullptr) rest.reset();
    wake_.wait(lock, [this] { return first_ == nullptr ? stopping_ : waiters_ == 0; });
    if (first_ == nullptr) return;
    if (drive(lock)) {
      rest.reset();
      continue;
    }
    lock.unlock();
    rest.take();
    lock.lock();
  }
}

}  // namespace ranktree::mpi::collect
