// From MPI_Init to MPI_Finalize, and the end of requests. That all waits and tests know our requests is the MPI's
// doing; the two waits here only help.
#include <mpi.h>

#include <atomic>

#include "preload/collect/nonblocking.h"
#include "preload/collect/serve.h"
#include "preload/next.h"

namespace ranktree::preload {
namespace {

void set_up(int provided) {
  decide(provided);
  if (progress_thread.load(std::memory_order_relaxed) != nullptr) prepare(MPI_COMM_WORLD);
}

// MPI_Init, or MPI_Init_thread where MPI_THREAD_MULTIPLE is needed.
template <typename Init, typename InitThread>
int init(Init next, InitThread next_thread, int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  const int code = requests_threads() ? next_thread()(argc, argv, MPI_THREAD_MULTIPLE, &provided) : next()(argc, argv);
  if (code == MPI_SUCCESS) set_up(provided);
  return code;
}

template <typename InitThread>
int init_thread(InitThread next, int* argc, char*** argv, int required, int* provided) {
  const int code = next()(argc, argv, requests_threads() ? MPI_THREAD_MULTIPLE : required, provided);
  if (code == MPI_SUCCESS) set_up(*provided);
  return code;
}

template <typename Next>
int finalize(Next next) {
  end_nonblocking();
  return next();
}

// Null where no request can be ours: there is no thread, or the call is not the program's.
ProgressThread* thread_of_program() noexcept {
  ProgressThread* const thread = progress_thread.load(std::memory_order_relaxed);
  return thread == nullptr || state_of_thread(*functions()).depth > 0 ? nullptr : thread;
}

template <typename Next>
int request_free(Next next, MPI_Request* request) {
  ProgressThread* const thread = thread_of_program();
  if (thread != nullptr && request != nullptr && functions()->free(thread, request)) return MPI_SUCCESS;
  return next(request);
}

// What the MPI waits for is complete then, or not ours.
template <typename Next, typename... Arguments>
int wait(Next next, int count, const MPI_Request* requests, Arguments... arguments) {
  if (ProgressThread* const thread = thread_of_program()) functions()->finish(thread, count, requests);
  return next(arguments...);
}

}  // namespace
}  // namespace ranktree::preload

RANKTREE_ENTRY int MPI_Init(int* argc, char*** argv) {
  return ranktree::preload::init(RANKTREE_NEXT(MPI_Init), RANKTREE_NEXT(MPI_Init_thread), argc, argv);
}
RANKTREE_ENTRY int PMPI_Init(int* argc, char*** argv) {
  return ranktree::preload::init(RANKTREE_NEXT(PMPI_Init), RANKTREE_NEXT(PMPI_Init_thread), argc, argv);
}
RANKTREE_ENTRY int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return ranktree::preload::init_thread(RANKTREE_NEXT(MPI_Init_thread), argc, argv, required, provided);
}
RANKTREE_ENTRY int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return ranktree::preload::init_thread(RANKTREE_NEXT(PMPI_Init_thread), argc, argv, required, provided);
}
RANKTREE_ENTRY int MPI_Finalize() { return ranktree::preload::finalize(RANKTREE_NEXT(MPI_Finalize)()); }
RANKTREE_ENTRY int PMPI_Finalize() { return ranktree::preload::finalize(RANKTREE_NEXT(PMPI_Finalize)()); }
RANKTREE_ENTRY int MPI_Request_free(MPI_Request* request) {
  return ranktree::preload::request_free(RANKTREE_NEXT(MPI_Request_free)(), request);
}
RANKTREE_ENTRY int PMPI_Request_free(MPI_Request* request) {
  return ranktree::preload::request_free(RANKTREE_NEXT(PMPI_Request_free)(), request);
}
RANKTREE_ENTRY int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return ranktree::preload::wait(RANKTREE_NEXT(MPI_Wait)(), 1, request, request, status);
}
RANKTREE_ENTRY int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  return ranktree::preload::wait(RANKTREE_NEXT(PMPI_Wait)(), 1, request, request, status);
}
RANKTREE_ENTRY int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return ranktree::preload::wait(RANKTREE_NEXT(MPI_Waitall)(), count, requests, count, requests, statuses);
}
RANKTREE_ENTRY int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return ranktree::preload::wait(RANKTREE_NEXT(PMPI_Waitall)(), count, requests, count, requests, statuses);
}
