// The end of a run: all ranks' records come together at rank 0.
#pragma once

#include <functional>

#include "io/trace_records.h"

namespace ranktree::preload {

// Collective over MPI_COMM_WORLD. Records travel up a binomial tree, merged at every inner rank, over a communicator of
// our own: no message of the program is met. Rank 0 hands the sum to `write`. True on every rank when that went well.
bool gather_records(const std::function<io::TraceRecords()>& own, const std::function<void(io::TraceRecords&&)>& write);

}  // namespace ranktree::preload
