// Where the calling rank is, as the ranks of a communicator can compare it.
#pragma once

#include <mpi.h>

#include "core/split/chain.h"
#include "mpi/attribute.h"
#include "mpi/handle.h"
#include "mpi/split/options.h"

namespace ranktree::mpi {

// Queries MPI which ranks of `comm` share a node, unless its annotation has them. Collective over `comm`: all ranks
// know, or none. Returns the communicator of this rank's node, ordered by `key`, null when MPI was not queried.
Communicator learn_node(MPI_Comm comm, int key, Annotation& annotation);

// What learn_node() has learnt.
const SharedNode& node_of(const Annotation& annotation);

// Switches, node, and the objects around the calling thread's binding. Local; remembers the switches in `annotation`,
// whose node must be known. Throws core::Error.
core::split::Chain chain_here(const SplitOptions& options, Annotation& annotation);

// The same without what is inside the node, which takes the hardware locality library some milliseconds to find.
core::split::Chain chain_to_node(const SplitOptions& options, Annotation& annotation);

}  // namespace ranktree::mpi
