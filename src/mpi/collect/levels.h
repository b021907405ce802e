// Way::kLevels, the papers' literal form: the MPI's own collective on the communicator of each level (hier-bcast-2014
// §3, hier-reduce-2016 §3), so that any algorithm of the MPI is transformed.
#pragma once

#include <memory>

#include "core/predict/choice.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/running.h"

namespace ranktree::mpi::collect {

// Broadcast, reduce, allreduce and barrier; on every level the first ranks of its groups. Depends only on what is equal
// on all ranks. Local.
bool can_level(Context& context, const Operation& operation, const core::predict::Choice& choice);

// Where can_level(). Blocks until communicators of the levels are made, the first time, and in every call of
// progress(): for blocking calls only. Where communicators are not to be had, the MPI's own call on the whole.
std::unique_ptr<Running> start_levels(const std::shared_ptr<Context>& context, const Operation& operation,
                                      const core::predict::Choice& choice);

}  // namespace ranktree::mpi::collect
