// Operations in flight on the calling rank, and the list of a process of the nonblocking ones.
//
// MPI lets ranks complete their operations in any order, and a rank that waits for one of them must pass on its part of
// all others: a call of ours that waits drives all that is in flight, on all communicators, whichever thread has begun
// it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "mpi/simulated.h"

namespace ranktree::mpi::collect {

class Context;

class Running {
 public:
  Running() = default;
  virtual ~Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Running(Running&&) = delete;
  Running& operator=(Running&&) = delete;

  // Does what can be done now without waiting; true once all is done on this rank, and from then on. Drives MPI's
  // progress as well: something in it calls MPI each time. Throws MpiError.
  virtual bool progress() = 0;
};

// A nonblocking operation. Made before the operation begins, so that nothing can fail once it has.
class InFlight final : public Running {
 public:
  // On a communicator of this context.
  explicit InFlight(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~InFlight() override;
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  InFlight(InFlight&&) = delete;
  InFlight& operator=(InFlight&&) = delete;

  // From now on others drive it as well.
  void enlist(std::unique_ptr<Running> running) noexcept;

  // What it throws was thrown to the call that drove the operation then.
  bool progress() override;

 private:
  friend class InFlightList;
  void advance() noexcept;

  std::shared_ptr<Context> context_;
  std::unique_ptr<Running> running_;
  std::exception_ptr failure_;
  std::atomic<bool> ended_ = false;
  // The list's.
  bool enlisted_ = false;
  bool driven_ = false;  // by a thread, without the lock
  InFlight* next_ = nullptr;
  InFlight* previous_ = nullptr;
};

// An operation is driven without the lock, marked as busy, so that threads do not wait for each other's reductions, and
// stays in the list meanwhile.
class InFlightList {
 public:
  [[nodiscard]] bool empty() const { return first_.load(std::memory_order_relaxed) == nullptr; }
  // Whether the rank has one blocking operation to complete and nothing else, so that it may wait within MPI. Only
  // under SMPI, where polling takes simulated time.
  [[nodiscard]] bool may_wait() const { return kRanksShareProcess && blocking_ && empty(); }
  void add(InFlight& one) noexcept;
  void remove(InFlight& one) noexcept;
  void drive(InFlight& one) noexcept;
  // Does what can be done now, of all that no other thread is busy with.
  void drive_all() noexcept;

 private:
  friend class Blocking;
  InFlight* drive(InFlight& one, std::unique_lock<std::mutex>& lock) noexcept;
  void unlink(InFlight& one) noexcept;

  bool blocking_ = false;
  std::mutex mutex_;
  std::atomic<InFlight*> first_ = nullptr;
};

// While it lives, the rank completes a blocking operation (InFlightList::may_wait). Elsewhere than under SMPI threads
// may do so at the same time, and nothing is kept. It begins before the operation: the first look at its messages would
// be a poll, too.
class Blocking {
 public:
  explicit Blocking(InFlightList& list) : list_(list) { mark(true); }
  ~Blocking() { mark(false); }
  Blocking(const Blocking&) = delete;
  Blocking& operator=(const Blocking&) = delete;
  Blocking(Blocking&&) = delete;
  Blocking& operator=(Blocking&&) = delete;

 private:
  void mark(bool blocking) {
    if constexpr (kRanksShareProcess) list_.blocking_ = blocking;
  }
  InFlightList& list_;
};

// Until it is done; drives all that is in flight meanwhile. Yields the processor between tries, since ranks may
// outnumber cores. Throws MpiError.
void finish(Running& running, InFlightList& in_flight);
// The same of a request of the MPI's.
void finish(MPI_Request& request, InFlightList& in_flight);

// Until nothing is in flight on the context's communicator, as ranks must before they enter a blocking call on it in
// which no rank drives: all ranks have begun what was begun here, since they begin operations in the same order and
// must all come to this call, which may synchronise them.
void complete_earlier(const Context& context) noexcept;

// An allreduce that drives all that is in flight: each value becomes the greatest of all ranks. Throws MpiError.
void share_greatest(MPI_Comm comm, std::span<double> values, InFlightList& in_flight);

// A barrier that drives all that is in flight: where ranks are about to synchronise by calls of the MPI, in which no
// rank drives. Behind it they wait for no rank that is not in those calls as well. Throws MpiError.
void synchronise(MPI_Comm comm, InFlightList& in_flight);

}  // namespace ranktree::mpi::collect
