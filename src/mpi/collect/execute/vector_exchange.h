// Alltoallv in lanes, between nodes of several ranks: one message to each node's rank in place of one from each of its
// ranks.
//
// On each node one rank forwards the blocks for a rank elsewhere: the one whose number on the node is that rank's,
// modulo the number of ranks here. So every block of at most kMostTogether bytes travels with the others of its node,
// first to the rank that forwards it, then to its destination; longer ones go directly. What is sent on begins with the
// sizes, since no rank knows those of others: counts may differ from call to call and from rank to rank.
#pragma once

#include <memory>

#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/requests/in_flight.h"

namespace ranktree::mpi::collect {

// Several nodes, of which one has several ranks: else there is nothing to send together. Equal on all ranks. Local.
bool has_lanes(const Context& context);

// Where has_lanes(), not in place. Begins it, for a blocking call: types stay until it is done. Throws AgreedError of
// messages, MpiError, std::bad_alloc.
std::unique_ptr<Running> start_vector_exchange(const std::shared_ptr<Context>& context, const Operation& operation);

}  // namespace ranktree::mpi::collect
