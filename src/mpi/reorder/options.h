// The info keys of the reordering calls, as include/ranktree/mpi.h documents them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/objective/graph_order.h"
#include "mpi/reorder/modes.h"

namespace ranktree::mpi {

// Throws core::Error(kInput), naming key, expected and found values; MpiError.
ReorderOptions read_reorder_options(MPI_Info info);

// "auto", "central", "node" or "distributed".
std::string_view mode_name(ReorderMode mode);

// A hash that differs, but for one chance in 2^64, where hash or number do; never 0.
std::uint64_t mix(std::uint64_t hash, std::uint64_t number);

// What the root searches by. Throws what io::parameters_named() throws.
core::objective::GraphOptions graph_options(const ReorderOptions& options, std::function<bool()> in_time);

// A hash of what must agree over the ranks, never 0.
std::uint64_t fingerprint(const ReorderOptions& options);

}  // namespace ranktree::mpi
