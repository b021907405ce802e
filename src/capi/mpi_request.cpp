#include "capi/mpi_request.h"

#include <mpi.h>
#include <sched.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/requests/own_request.h"
#include "mpi/collect/variant.h"
#include "mpi/guard.h"
#include "mpi/text.h"
#include "ranktree/mpi_collect.h"

namespace collect = ranktree::mpi::collect;
namespace mpi = ranktree::mpi;

struct ranktree_request {
  ranktree_request(const collect::Operation& given, bool lasting, std::shared_ptr<const void> referred)
      : operation(given), persistent(lasting), kept(std::move(referred)), types(operation) {}

  void start() {
    running = collect::call_nonblocking(operation);
    context = collect::Context::find(operation.comm);
  }

  void prepare() {
    collect::prepare(operation.comm);
    const std::shared_ptr<collect::Context> known = collect::Context::find(operation.comm);
    home = known;
    has_home = known != nullptr;
  }

  // The communicator whose error handler is called, null once it is freed.
  [[nodiscard]] MPI_Comm comm() const {
    const std::shared_ptr<collect::Context> known = context ? context : home.lock();
    return (known ? known->attached() : !has_home) ? operation.comm : MPI_COMM_NULL;
  }

  collect::Operation operation;
  bool persistent;
  std::shared_ptr<const void> kept;
  collect::OwnedTypes types;
  std::unique_ptr<collect::Running> running;  // while active
  std::shared_ptr<collect::Context> context;  // while active
  std::weak_ptr<collect::Context> home;       // of a persistent one, which does not keep what its communicator has
  bool has_home = false;
  const std::shared_ptr<collect::Process> process = collect::Process::here();
};

namespace {

// An error of a communicator that may be gone; MPI's calls have called its handler themselves.
int fail(MPI_Comm comm) noexcept {
  try {
    throw;
  } catch (const mpi::MpiError& error) {
    if (comm != MPI_COMM_NULL) mpi::keep_message(comm, error.what());
    return error.code();
  } catch (...) {
    return mpi::raise(comm, mpi::current_failure());
  }
}

int refuse() noexcept { return mpi::raise(MPI_COMM_NULL, {MPI_ERR_REQUEST, {}}); }

bool active(const ranktree_Request* request) {
  return request != nullptr && *request != nullptr && (*request)->running;
}

// What completion leaves.
void end(ranktree_Request* request) noexcept {
  (*request)->running.reset();
  (*request)->context.reset();
  if ((*request)->persistent) return;
  delete *request;
  *request = RANKTREE_REQUEST_NULL;
}

// True once complete, or failed with `code`.
bool progress(ranktree_Request* request, int* code) noexcept {
  try {
    if (!(*request)->running->progress()) return false;
  } catch (...) {
    *code = fail((*request)->comm());
  }
  end(request);
  return true;
}

}  // namespace

namespace ranktree::capi {

int begin(const collect::Operation& operation, ranktree_Request* request, std::shared_ptr<const void> kept) noexcept {
  if (request == nullptr) return mpi::raise(operation.comm, {MPI_ERR_ARG, {}});
  try {
    auto made = std::make_unique<ranktree_request>(operation, false, std::move(kept));
    made->start();
    *request = made.release();
    return MPI_SUCCESS;
  } catch (...) {
    return fail(operation.comm);
  }
}

int prepare(const collect::Operation& operation, ranktree_Request* request, std::shared_ptr<const void> kept) noexcept {
  if (request == nullptr) return mpi::raise(operation.comm, {MPI_ERR_ARG, {}});
  try {
    auto made = std::make_unique<ranktree_request>(operation, true, std::move(kept));
    made->prepare();
    *request = made.release();
    return MPI_SUCCESS;
  } catch (...) {
    return fail(operation.comm);
  }
}

}  // namespace ranktree::capi

int ranktree_Start(ranktree_Request* request) {
  if (request == nullptr || *request == nullptr || !(*request)->persistent || active(request)) return refuse();
  const MPI_Comm comm = (*request)->comm();
  if (comm == MPI_COMM_NULL) {
    return mpi::raise(comm, {MPI_ERR_COMM, mpi::Text("ranktree_Start: the request's communicator has been freed")});
  }
  try {
    (*request)->start();
    return MPI_SUCCESS;
  } catch (...) {
    return fail(comm);
  }
}

int ranktree_Wait(ranktree_Request* request) {
  int code = MPI_SUCCESS;
  if (request == nullptr) return refuse();
  return active(request) ? ranktree_Waitall(1, request) : code;
}

int ranktree_Test(ranktree_Request* request, int* flag) {
  if (request == nullptr || flag == nullptr) return refuse();
  int code = MPI_SUCCESS;
  *flag = !active(request) || progress(request, &code) ? 1 : 0;
  if (*flag == 0) (*request)->process->in_flight.drive_all();
  return code;
}

int ranktree_Waitall(int count, ranktree_Request requests[]) {
  if (count < 0 || (count > 0 && requests == nullptr)) return refuse();
  constexpr int kSpins = 64;
  int first = MPI_SUCCESS;
  bool waits = true;
  for (int tries = 0; waits; ++tries) {
    collect::Process* process = nullptr;  // of what is not complete
    for (ranktree_Request& request : std::span(requests, static_cast<std::size_t>(count))) {
      if (!active(&request)) continue;
      int code = MPI_SUCCESS;
      if (!progress(&request, &code)) process = request->process.get();
      if (first == MPI_SUCCESS) first = code;
    }
    waits = process != nullptr;
    if (waits) process->in_flight.drive_all();
    if (waits && tries >= kSpins) sched_yield();
  }
  return first;
}

int ranktree_Request_free(ranktree_Request* request) {
  if (request == nullptr || active(request)) return refuse();
  delete *request;
  *request = RANKTREE_REQUEST_NULL;
  return MPI_SUCCESS;
}
