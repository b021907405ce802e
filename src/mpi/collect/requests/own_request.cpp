#include "mpi/collect/requests/own_request.h"

#include <linux/prctl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/select/log.h"
#include "mpi/collect/thread_state.h"
#include "mpi/envelope.h"
#include "mpi/guard.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {
namespace {

// What MPI ignores on a rank may be anything.
void own(Operation::Side& side, Datatype& type) {
  if (side.type == MPI_DATATYPE_NULL) return;
  Envelope envelope;
  check(query_envelope(side.type, envelope), "MPI_Type_get_envelope");
  if (envelope.combiner == MPI_COMBINER_NAMED) return;
  check(PMPI_Type_dup(side.type, type.receive()), "MPI_Type_dup");
  side.type = type.get();
}

}  // namespace

OwnedTypes::OwnedTypes(Operation& operation) {
  if (operation.comm == MPI_COMM_NULL || reduces(operation)) return;
  int inter = 0;
  check(PMPI_Comm_test_inter(operation.comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) return;
  int rank = 0;
  check(PMPI_Comm_rank(operation.comm, &rank), "MPI_Comm_rank");
  if (sends(operation, rank)) own(operation.send, types_[0]);
  if (receives(operation, rank)) own(operation.receive, types_[1]);
}

OwnRequest::OwnRequest(const Nonblocking& call) : call_(call), types_(call_.operation) {
  check(PMPI_Grequest_start(query, release, cancel, this, &request_), "MPI_Grequest_start");
}

void OwnRequest::begin() {
  running_ = begin_nonblocking(call_);
  call_.context.reset();  // the operation has its own
}

// The communicator may be freed, so it is released before the program learns that the request is complete: nothing of
// ours may be in flight in MPI_Finalize.
bool OwnRequest::progress() noexcept {
  try {
    if (!running_->progress()) return false;
  } catch (...) {
    code_ = current_failure().error_class;
  }
  running_.reset();
  types_ = {};
  return true;
}

// Another thread may have deleted it as soon as the MPI knows.
void OwnRequest::complete() noexcept {
  MPI_Request request = request_;
  const bool unwanted = unwanted_;
  PMPI_Grequest_complete(request);
  if (unwanted) PMPI_Request_free(&request);
  release(this);
}

// Open MPI takes the error from the status, MPICH from what is returned.
int OwnRequest::query(void* own, MPI_Status* status) noexcept {
  const int code = static_cast<const OwnRequest*>(own)->code_;
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  if (code != MPI_SUCCESS) status->MPI_ERROR = code;
  return code;
}

int OwnRequest::release(void* own) noexcept {
  auto* const request = static_cast<OwnRequest*>(own);
  if (request->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete request;
  return MPI_SUCCESS;
}

// MPI has no cancelled collectives: it goes on.
int OwnRequest::cancel(void* /*own*/, int /*complete*/) noexcept { return MPI_SUCCESS; }

namespace {

// Functions of the program's own would be called on a thread that it does not know.
bool is_for_the_thread(const Context& context, const Operation& operation) {
  if (!reduces(operation) || is_predefined(operation.op)) return true;
  Process& process = context.process();
  if (!process.operations_logged.exchange(true)) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Log(process.environment.log, rank).line("nonblocking reductions with operations of the program's own stay native");
  }
  return false;
}

// An operation that could not begin is complete at once, and the program gets no request.
int give_up(OwnRequest* own, MPI_Comm comm) noexcept {
  const Failure failure = current_failure();
  MPI_Request request = own->request();
  own->complete();
  PMPI_Request_free(&request);
  return raise(comm, failure);
}

int start_request(const Nonblocking& call, MPI_Request* request) noexcept {
  const MPI_Comm comm = call.operation.comm;
  OwnRequest* own = nullptr;
  try {
    own = new OwnRequest(call);
  } catch (...) {
    return raise(comm, current_failure());
  }
  try {
    own->begin();
  } catch (...) {
    return give_up(own, comm);
  }
  *request = own->request();
  if (own->progress()) {
    own->complete();
  } else {
    call.context->process().thread->take(*own);
  }
  return MPI_SUCCESS;
}

}  // namespace

bool begin_as_request(Context& context, const Operation& operation, const Kind& kind, MPI_Request* request,
                      int& code) noexcept {
  const ProgressThread* const thread = context.process().thread.get();
  if (thread == nullptr || !thread->runs() || !is_for_the_thread(context, operation)) return false;
  std::optional<Nonblocking> ours;
  try {
    ours = decide_nonblocking(context, operation, kind);
  } catch (const MpiError& error) {
    code = error.code();
    return true;
  } catch (...) {
    code = raise(operation.comm, current_failure());
    return true;
  }
  if (ours) code = start_request(*ours, request);
  return ours.has_value();
}

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

// What the thread does between two looks at what is in flight.
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

bool ProgressThread::start(bool crowded) noexcept {
  const SignalsBlocked blocked;
  crowded_ = crowded;
  stopping_ = false;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {  // none can be had, or no memory
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
    in_flight_.fetch_add(1, std::memory_order_relaxed);
  }
  if (first) wake_.notify_one();
}

// Where the thread is just completing it, this waits until it has: the lock is held meanwhile.
bool ProgressThread::free_later(MPI_Request request) noexcept {
  if (in_flight_.load(std::memory_order_relaxed) == 0) return false;
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

// Drives each request once that no other thread is busy with. The lock is not held while one is driven; it stays in the
// list then.
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
      in_flight_.fetch_sub(1, std::memory_order_relaxed);
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
  if (in_flight_.load(std::memory_order_relaxed) == 0) return;
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
