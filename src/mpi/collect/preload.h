// What libranktree_mpi_<mpi> has for the preload library that serves collectives; not part of its interface.
#pragma once

#include <mpi.h>

#include "mpi/collect/operation.h"
#include "mpi/collect/size_class.h"
#include "ranktree/base.h"

extern "C" {
// call() of call.h, for a communicator whose shortcuts are known.
RANKTREE_API int ranktree_collect_call(const ranktree::mpi::collect::Operation* operation) noexcept;
// Collective over an intracommunicator, the first time: null on all ranks where it cannot have what is needed. Lives as
// long as the communicator.
RANKTREE_API ranktree::mpi::collect::Shortcuts* ranktree_collect_shortcuts(MPI_Comm comm) noexcept;
}
