// What a ranktree_Request is.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpi/collect/operation.h"
#include "ranktree/mpi_collect.h"

namespace ranktree::capi {

// Begins a nonblocking operation. Returns MPI's code; the error handler has been called then. `kept`: what the
// operation refers to that is not the program's, to live as long.
int begin(const mpi::collect::Operation& operation, ranktree_Request* request,
          std::shared_ptr<const void> kept = nullptr) noexcept;

// Makes a persistent one. Collective.
int prepare(const mpi::collect::Operation& operation, ranktree_Request* request,
            std::shared_ptr<const void> kept = nullptr) noexcept;

}  // namespace ranktree::capi
