// Times of messages between two ranks, and of a rank's own work. Always the least of many, since disturbances only add
// time.
#pragma once

#include <mpi.h>

#include "core/predict/parameters.h"
#include "programs/calibrate/levels.h"

namespace ranktree::mpi::calibrate {

// Called by the two ranks of the pair; the first has the result. `seconds`: approximate limit of the time.
// Throws MpiError.
core::predict::LevelParameters measure_pair(MPI_Comm comm, const Pair& pair, double seconds);

struct Rates {
  double reduce_per_byte = 0;
  double copy_per_byte = 0;
};
// MPI_Reduce_local of sums of doubles, and a copy, 1 MiB each. Local.
Rates measure_rates(double seconds);

struct SharedRates {
  double latency = 0;  // a rank
  double per_byte = 0;
};
// Collective over ranks of one node: broadcasts through shared memory. Zeros where there is none, or one rank.
SharedRates measure_shared(MPI_Comm node, double seconds);

}  // namespace ranktree::mpi::calibrate
