// Splits by the machine: where RANKTREE_SPLIT=1 asks for it, MPI_Comm_split_type with one of the hardware types of MPI
// 4, MPI_Get_hw_resource_info and the calls of hsplit-2018 are answered by libranktree_mpi_<mpi>, which lies beside
// this library and is opened by the first of them. Whoever only traces loads nothing more than before.
#pragma once

#include <mpi.h>

#include <optional>

#include "preload/call.h"

namespace ranktree::preload {

// A call of MPI_Comm_split_type. Returns what came of it, or nothing when it is the MPI's to answer.
#ifdef RANKTREE_PLAIN
inline std::optional<int> split_by_machine(const Call&, MPI_Comm, int, int, MPI_Info, MPI_Comm*) noexcept { return {}; }
#else
std::optional<int> split_by_machine(const Call& call, MPI_Comm comm, int split_type, int key, MPI_Info info,
                                    MPI_Comm* newcomm) noexcept;
#endif

}  // namespace ranktree::preload
