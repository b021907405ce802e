// The calls that return where ranks are; include/ranktree/mpi.h documents each. They throw as those of mpi/split.h do.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <string>

#include "core/split/chain.h"

namespace ranktree::mpi {

// Collective over `comm`; each rank queries any ranks, or none. `check_arguments` throws core::Error when
// this rank's arguments are wrong.
std::string min_hlevel(MPI_Comm comm, std::span<const int> ranks, const std::function<void()>& check_arguments);

// Collective over `comm`; likewise.
core::split::Chain location(MPI_Comm comm, int rank, const std::function<void()>& check_arguments);

// Local. The caller frees the info object.
MPI_Info hw_resource_info();

}  // namespace ranktree::mpi
