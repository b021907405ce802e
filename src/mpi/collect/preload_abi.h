// What libranktree_mpi_<mpi> has for the preload library that serves collectives; not part of its interface.
#pragma once

#include <mpi.h>

#include "mpi/collect/call_kind.h"
#include "mpi/collect/operation.h"
#include "ranktree/base.h"

extern "C" {
// call() of call.h, for a communicator whose shortcuts are known.
RANKTREE_API int ranktree_collect_call(const ranktree::mpi::collect::Operation* operation) noexcept;
// Collective over an intracommunicator, the first time: null on all ranks where it cannot have what is needed. Lives as
// long as the communicator.
RANKTREE_API ranktree::mpi::collect::Shortcuts* ranktree_collect_shortcuts(MPI_Comm comm) noexcept;

// Nonblocking operations, which a thread of ours completes (own_request.h). The thread, between MPI_Init and
// MPI_Finalize; false where it cannot be had.
RANKTREE_API bool ranktree_collect_start_thread(bool crowded) noexcept;
RANKTREE_API void ranktree_collect_stop_thread() noexcept;
// Collective over an intracommunicator that has shortcuts: what nonblocking calls, which are local, cannot make.
RANKTREE_API void ranktree_collect_prepare(MPI_Comm comm) noexcept;
// False where the call is the MPI's own.
RANKTREE_API bool ranktree_collect_begin(const ranktree::mpi::collect::Operation* operation, MPI_Request* request,
                                         int* code) noexcept;
// MPI_Request_free, where it is one of ours and in flight. Else false.
RANKTREE_API bool ranktree_collect_free(MPI_Request* request) noexcept;
// Before a wait of the MPI's for all of these: drives those that are ours until they are complete.
RANKTREE_API void ranktree_collect_finish(int count, const MPI_Request* requests) noexcept;
// A line in RANKTREE_COLL_LOG.
RANKTREE_API void ranktree_collect_log(const char* text) noexcept;
}
