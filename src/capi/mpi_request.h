// What a ranktree_Request is.
#pragma once

#include <mpi.h>

#include "mpi/collect/operation.h"
#include "ranktree/mpi_collect.h"

namespace ranktree::capi {

// Begins a nonblocking operation. Returns MPI's code; the error handler has been called then.
int begin(const mpi::collect::Operation& operation, ranktree_Request* request) noexcept;

// Makes a persistent one. Collective.
int prepare(const mpi::collect::Operation& operation, ranktree_Request* request) noexcept;

}  // namespace ranktree::capi
