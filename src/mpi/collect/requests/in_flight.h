// Nonblocking operations of this process that have not ended.
//
// MPI lets ranks complete their operations in any order, and a rank that waits for one of them must pass on its part of
// all others: whoever waits in a call of ours drives all that is in flight, on all communicators, whichever thread has
// begun it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include "mpi/collect/context.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {

// One of them. Made before the operation begins, so that nothing can fail once it has.
class InFlight final : public Running {
 public:
  // On a communicator of this context. Throws std::bad_alloc.
  explicit InFlight(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  ~InFlight() override;
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  InFlight(InFlight&&) = delete;
  InFlight& operator=(InFlight&&) = delete;

  // From now on others drive it as well.
  void enlist(std::unique_ptr<Running> running) noexcept;

  // What it throws was thrown to whoever drove the operation then.
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

// Does what can be done now, of all that is in flight and no other thread is busy with. Costs nothing where there is
// nothing.
void drive_all() noexcept;
[[nodiscard]] bool is_any_in_flight() noexcept;

// Until nothing is in flight on the context's communicator, as ranks must before they enter a blocking call on it in
// which nobody drives: all ranks have begun what was begun here, since they begin operations in the same order and must
// all come to this call, which may synchronise them.
void complete_earlier(const Context& context) noexcept;

// A barrier that drives all that is in flight: where ranks are about to synchronise by calls of the MPI, in which
// nobody drives. Behind it they wait for nobody who is not in those calls as well. Throws MpiError.
void meet(MPI_Comm comm);

}  // namespace ranktree::mpi::collect
