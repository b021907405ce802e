// Reductions whose bits depend on neither the places of ranks nor the algorithm: all are combined by the tree of
// core/schedule/tree_order.h, which the number of ranks alone decides.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {

// Collective over `comm`: from now on its reductions are reproducible, or no longer. Throws MpiError, AgreedError (the
// flag differs between ranks; the communicator cannot have a context).
void set_reproducible(MPI_Comm comm, bool flag);

// Whether an operation is a reduction to be combined so: what was set, or else RANKTREE_REPRODUCIBLE of rank 0, which
// is known once there is a chooser.
inline bool is_reproducible(const Context& context, const Operation& operation) {
  return core::schedule::reduces(operation.collective) && context.reproducible().value_or(false);
}

// The variant for a reduction, for ever; native where the messages of a schedule cannot carry it out (a type whose
// elements overlap). The same on all ranks.
const core::predict::Choice* reproducible_choice(Context& context, const Operation& operation);

// Resets the table so that no reduction is native without a decision.
void look_at_reductions(CallTable& table);

// The same operation, its operands combined in rank order even where the operation commutes.
Operation in_rank_order(const Operation& operation);

}  // namespace ranktree::mpi::collect
