// Whether the arguments of a collective call make sense, as far as one rank can tell.
#pragma once

#include <cstdint>

#include "mpi/collect/operation.h"

namespace ranktree::mpi::collect {

// False: the MPI's own call refuses them, with its own error class. Local.
bool arguments_are_right(const Operation& operation, int rank, int size);

}  // namespace ranktree::mpi::collect
