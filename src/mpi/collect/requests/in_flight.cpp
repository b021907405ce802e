#include "mpi/collect/requests/in_flight.h"

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/process.h"

namespace ranktree::mpi::collect {

namespace {

constexpr int kSpins = 64;  // before others get the processor

// Drives all that is in flight until `done()`.
template <typename Done>
void drive_until(InFlightList& in_flight, Done done) {
  for (int tries = 0; !done(); ++tries) {
    in_flight.drive_all();
    if (tries >= kSpins) sched_yield();
  }
}

}  // namespace

void InFlightList::add(InFlight& one) noexcept {
  const std::lock_guard lock(mutex_);
  one.next_ = first_.load(std::memory_order_relaxed);
  if (one.next_ != nullptr) one.next_->previous_ = &one;
  first_.store(&one, std::memory_order_relaxed);
  one.enlisted_ = true;
}

void InFlightList::remove(InFlight& one) noexcept {
  std::unique_lock lock(mutex_);
  while (one.driven_) {
    lock.unlock();
    sched_yield();
    lock.lock();
  }
  unlink(one);
}

void InFlightList::drive(InFlight& one) noexcept {
  std::unique_lock lock(mutex_);
  drive(one, lock);
}

void InFlightList::drive_all() noexcept {
  if (empty()) return;
  std::unique_lock lock(mutex_);
  for (InFlight* one = first_.load(std::memory_order_relaxed); one != nullptr;) one = drive(*one, lock);
}

// Returns the next one. With the lock held before and after.
InFlight* InFlightList::drive(InFlight& one, std::unique_lock<std::mutex>& lock) noexcept {
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

void InFlightList::unlink(InFlight& one) noexcept {
  if (!std::exchange(one.enlisted_, false)) return;
  if (one.next_ != nullptr) one.next_->previous_ = one.previous_;
  if (one.previous_ != nullptr) {
    one.previous_->next_ = one.next_;
  } else {
    first_.store(one.next_, std::memory_order_relaxed);
  }
}

InFlight::~InFlight() {
  context_->process().in_flight.remove(*this);
  if (running_ && !ended_.load(std::memory_order_relaxed)) context_->end_one();
}

void InFlight::enlist(std::unique_ptr<Running> running) noexcept {
  running_ = std::move(running);
  context_->begin_one();
  context_->process().in_flight.add(*this);
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
  if (!ended_.load(std::memory_order_acquire)) context_->process().in_flight.drive(*this);
  if (!ended_.load(std::memory_order_acquire)) return false;
  if (failure_) std::rethrow_exception(failure_);
  return true;
}

void finish(Running& running, InFlightList& in_flight) {
  const Blocking blocking(in_flight);
  drive_until(in_flight, [&running] { return running.progress(); });
}

void complete_earlier(const Context& context) noexcept {
  drive_until(context.process().in_flight, [&context] { return context.in_flight() == 0; });
}

void finish(MPI_Request& request, InFlightList& in_flight) {
  if (kRanksShareProcess && in_flight.empty()) return check(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  drive_until(in_flight, [&request] {
    int done = 0;
    check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
}

// SMPI's nonblocking allreduce sends a message from each rank to each other one.
void share_greatest(MPI_Comm comm, std::span<double> values, InFlightList& in_flight) {
  const int count = static_cast<int>(values.size());
  MPI_Request request = MPI_REQUEST_NULL;
  if constexpr (kRanksShareProcess) {
    int rank = 0;
    check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    const void* const own = rank == 0 ? MPI_IN_PLACE : values.data();
    check(PMPI_Ireduce(own, values.data(), count, MPI_DOUBLE, MPI_MAX, 0, comm, &request), "MPI_Ireduce");
    finish(request, in_flight);
    check(PMPI_Ibcast(values.data(), count, MPI_DOUBLE, 0, comm, &request), "MPI_Ibcast");
  } else {
    check(PMPI_Iallreduce(MPI_IN_PLACE, values.data(), count, MPI_DOUBLE, MPI_MAX, comm, &request), "MPI_Iallreduce");
  }
  finish(request, in_flight);
}

void synchronise(MPI_Comm comm, InFlightList& in_flight) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Ibarrier(comm, &request), "MPI_Ibarrier");
  finish(request, in_flight);
}

}  // namespace ranktree::mpi::collect
