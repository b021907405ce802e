// Whether the arguments of a collective call make sense, as far as one rank can tell.
#pragma once

#include <cstdint>

#include "mpi/collect/operation.h"

namespace ranktree::mpi::collect {

// Whether the calling rank has to say what it gives, or gets: else MPI ignores that side. Reductions and broadcasts say
// both on the receiving side.
bool sends(const Operation& operation, int rank);
bool receives(const Operation& operation, int rank);

// False: the MPI's own call refuses them, with its own error class. Local.
bool arguments_are_right(const Operation& operation, int rank, int size);

}  // namespace ranktree::mpi::collect
