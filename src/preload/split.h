// Splits by the machine: where RANKTREE_SPLIT=1 is set, libranktree_mpi_<mpi> carries out MPI_Comm_split_type with one
// of the hardware types of MPI 4, MPI_Get_hw_resource_info and the calls of hsplit-2018. That library is beside this
// one, and the first of these calls opens it; tracing alone does not load it.
#pragma once

#include <mpi.h>

#include <optional>

#include "preload/call.h"

namespace ranktree::preload {

// A call of MPI_Comm_split_type. Returns its code, or nothing when the call is native.
#ifdef RANKTREE_PLAIN
inline std::optional<int> split_by_machine(const Call&, MPI_Comm, int, int, MPI_Info, MPI_Comm*) noexcept { return {}; }
#elif defined(RANKTREE_SIMULATED)
// A simulated trace has one node. SMPI takes each of its hosts for a node, and a host is a core.
inline std::optional<int> split_by_machine(const Call&, MPI_Comm comm, int split_type, int key, MPI_Info,
                                           MPI_Comm* newcomm) noexcept {
  if (split_type != MPI_COMM_TYPE_SHARED && split_type != MPI_UNDEFINED) return {};
  return PMPI_Comm_split(comm, split_type == MPI_UNDEFINED ? MPI_UNDEFINED : 0, key, newcomm);
}
#else
std::optional<int> split_by_machine(const Call& call, MPI_Comm comm, int split_type, int key, MPI_Info info,
                                    MPI_Comm* newcomm) noexcept;
#endif

}  // namespace ranktree::preload
