// What links cost here, in a few messages: without them the model orders ways by an ordinary cluster's.
#pragma once

#include "core/predict/parameters.h"
#include "mpi/collect/context.h"

namespace ranktree::mpi::collect {

// The same parameters with latencies and times per byte of links between nodes and inside them as one pair of ranks of
// each finds them: 7 messages of 8 bytes and 3 of 16 KiB there and back. Collective over a context of several nodes;
// the same on all ranks. Throws MpiError, std::bad_alloc.
core::predict::Parameters with_measured_links(const core::predict::Parameters& parameters, Context& context);

}  // namespace ranktree::mpi::collect
