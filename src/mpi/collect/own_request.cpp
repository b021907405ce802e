#include "mpi/collect/own_request.h"

#include <mpi.h>

#include <atomic>
#include <memory>
#include <optional>

#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call.h"
#include "mpi/collect/context.h"
#include "mpi/collect/entered.h"
#include "mpi/collect/log.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/owned_types.h"
#include "mpi/collect/progress_thread.h"
#include "mpi/collect/size_class.h"
#include "mpi/collect/types.h"
#include "mpi/guard.h"

namespace ranktree::mpi::collect {

OwnRequest::OwnRequest(const Nonblocking& call) : call_(call), types_(call_.operation) {
  check(PMPI_Grequest_start(query, release, cancel, this, &request_), "MPI_Grequest_start");
}

void OwnRequest::begin() {
  running_ = begin_nonblocking(call_);
  call_.context.reset();  // the operation has its own
}

// The communicator, which may be freed, is left before the program hears that it is complete: nothing of ours may be
// under way in MPI_Finalize.
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
bool is_for_the_thread(const Operation& operation) {
  if (!reduces(operation) || is_predefined(operation.op)) return true;
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Log(rank).line("nonblocking reductions with operations of the program's own are left to the MPI");
  }
  return false;
}

// What could not begin is complete at once, for nobody.
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
    ProgressThread::instance().take(*own);
  }
  return MPI_SUCCESS;
}

}  // namespace

bool begin_as_request(const Operation& operation, MPI_Request* request, int& code) noexcept {
  if (within_call() || !ProgressThread::instance().runs() || !is_for_the_thread(operation)) return false;
  const Entered entered;
  std::optional<Nonblocking> ours;
  try {
    ours = decide_nonblocking(operation);
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

}  // namespace ranktree::mpi::collect
