// Reductions whose bits depend on neither the places of ranks nor the algorithm: all are combined by the tree of
// core/schedule/tree_order.h, which the number of ranks alone decides.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/predict/choice.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {

// Collective over `comm`: from now on its reductions are reproducible, or no longer. Throws MpiError, AgreedError (the
// flag differs between ranks; the communicator cannot have a context).
void set_reproducible(MPI_Comm comm, bool flag);

// What was set, or else what RANKTREE_REPRODUCIBLE says at rank 0. Collective the first time. Throws MpiError.
bool is_reproducible(Context& context);

// Local: nothing is said before is_reproducible() or set_reproducible() were called.
bool is_known_reproducible(const Context& context);

// The way for a reduction, for ever; the MPI's own where the messages of a schedule cannot carry it out (a type whose
// elements overlap). The same on all ranks.
const core::predict::Choice* reproducible_choice(Context& context, const Operation& operation);

// No reduction is the MPI's without being looked at.
void look_at_reductions(Shortcuts& shortcuts);

// The same operation, its operands combined in rank order even where the operation commutes.
Operation in_rank_order(const Operation& operation);

}  // namespace ranktree::mpi::collect
