#include "mpi/collect/requests/in_flight.h"

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {
namespace {

constexpr int kSpins = 64;  // before others get the processor

}  // namespace

// The list of a process. An operation is driven without the lock, marked as busy, so that threads do not wait for each
// other's reductions, and stays in the list meanwhile.
class InFlightList {
 public:
  static InFlightList& instance() noexcept {
    static InFlightList only;
    return only;
  }
  [[nodiscard]] bool empty() const { return first_.load(std::memory_order_relaxed) == nullptr; }

  void add(InFlight& one) noexcept {
    const std::lock_guard lock(mutex_);
    one.next_ = first_.load(std::memory_order_relaxed);
    if (one.next_ != nullptr) one.next_->previous_ = &one;
    first_.store(&one, std::memory_order_relaxed);
    one.enlisted_ = true;
  }

  void remove(InFlight& one) noexcept {
    std::unique_lock lock(mutex_);
    while (one.driven_) {
      lock.unlock();
      sched_yield();
      lock.lock();
    }
    unlink(one);
  }

  void drive(InFlight& one) noexcept {
    std::unique_lock lock(mutex_);
    drive(one, lock);
  }

  void drive_all() noexcept {
    std::unique_lock lock(mutex_);
    for (InFlight* one = first_.load(std::memory_order_relaxed); one != nullptr;) one = drive(*one, lock);
  }

 private:
  // Returns the next one. With the lock held before and after.
  InFlight* drive(InFlight& one, std::unique_lock<std::mutex>& lock) noexcept {
    if (!one.enlisted_ || one.driven_) return one.next_;
    one.driven_ = true;
    lock.unlock();
    one.advance();
    lock.lock();
    one.driven_ = false;
    InFlight* const next = one.next_;
    if (one.ended_.load(std::memory_order_relaxed)) unlink(one);
    return next;
  }

  void unlink(InFlight& one) noexcept {
    if (!std::exchange(one.enlisted_, false)) return;
    if (one.next_ != nullptr) one.next_->previous_ = one.previous_;
    if (one.previous_ != nullptr) {
      one.previous_->next_ = one.next_;
    } else {
      first_.store(one.next_, std::memory_order_relaxed);
    }
  }

  std::mutex mutex_;
  std::atomic<InFlight*> first_ = nullptr;
};

InFlight::~InFlight() {
  InFlightList::instance().remove(*this);
  if (running_ && !ended_.load(std::memory_order_relaxed)) context_->end_one();
}

void InFlight::enlist(std::unique_ptr<Running> running) noexcept {
  running_ = std::move(running);
  context_->begin_one();
  InFlightList::instance().add(*this);
}

// By one thread at a time. What fails is messages that the program knows nothing of: its own error handler is still to
// be called, even where an MPI call has called that of a communicator of ours.
void InFlight::advance() noexcept {
  try {
    if (!running_->progress()) return;
  } catch (...) {
    failure_ = std::make_exception_ptr(AgreedError(current_failure()));
  }
  context_->end_one();
  ended_.store(true, std::memory_order_release);
}

bool InFlight::progress() {
  if (!ended_.load(std::memory_order_acquire)) InFlightList::instance().drive(*this);
  if (!ended_.load(std::memory_order_acquire)) return false;
  if (failure_) std::rethrow_exception(failure_);
  return true;
}

bool is_any_in_flight() noexcept { return !InFlightList::instance().empty(); }

void drive_all() noexcept {
  InFlightList& all = InFlightList::instance();
  if (!all.empty()) all.drive_all();
}

void complete_earlier(const Context& context) noexcept {
  for (int tries = 0; context.in_flight() > 0; ++tries) {
    drive_all();
    if (tries >= kSpins) sched_yield();
  }
}

void meet(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Ibarrier(comm, &request), "MPI_Ibarrier");
  int met = 0;
  for (int tries = 0;; ++tries) {
    check(PMPI_Test(&request, &met, MPI_STATUS_IGNORE), "MPI_Test");
    if (met != 0) return;
    drive_all();
    if (tries >= kSpins) sched_yield();
  }
}

}  // namespace ranktree::mpi::collect
