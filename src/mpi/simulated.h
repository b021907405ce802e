// SimGrid's SMPI, an MPI whose ranks share a process: its mpi.h defines SMPI_H.
#pragma once

#include <mpi.h>

namespace ranktree::mpi {

// Ranks of SMPI take turns on one thread: a rank that waits in a loop, or holds a lock in a call of MPI, stops them
// all.
#ifdef SMPI_H
inline constexpr bool kRanksShareProcess = true;
#else
inline constexpr bool kRanksShareProcess = false;
#endif

}  // namespace ranktree::mpi
