// The type behind ranktree_Request.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/collect/operation.h"
#include "ranktree/mpi_collect.h"

namespace ranktree::capi {

// Starts a nonblocking operation. Returns MPI's code after calling the error handler. `kept` lives as long as the
// request: data the operation refers to that the program does not own.
int begin(const mpi::collect::Operation& operation, ranktree_Request* request,
          std::shared_ptr<const void> kept = nullptr) noexcept;

// Makes a persistent request. Collective.
int prepare(const mpi::collect::Operation& operation, ranktree_Request* request,
            std::shared_ptr<const void> kept = nullptr) noexcept;

}  // namespace ranktree::capi
