// Measures links in a few messages: without them the model uses an ordinary cluster's links.
#pragma once

#include "core/predict/parameters.h"
#include "mpi/collect/context.h"
#include "mpi/collect/settings.h"

namespace ranktree::mpi::collect {

// Sets latencies and times per byte of links between nodes and inside them as one pair of ranks of each finds them: 7
// messages of 8 bytes and 3 of 16 KiB there and back. Collective over a context of several nodes, whose ranks have
// synchronised; the same on all ranks. Throws MpiError, std::bad_alloc.
void measure_links(core::predict::Parameters& parameters, Context& context);

// Those of the settings, or an ordinary cluster's. Local.
core::predict::Parameters parameters_for(const Context& context, const Settings& settings);

}  // namespace ranktree::mpi::collect
