// What all reordering calls share: arguments agreed on, an order found for a graph, a communicator in that order.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/handle.h"
#include "mpi/local_step.h"
#include "mpi/reorder/modes.h"
#include "mpi/split/options.h"
#include "mpi/text.h"

namespace ranktree::mpi {

// One call as its ranks must agree on it.
struct ReorderCall {
  std::string_view name;
  const MPI_Info* info = nullptr;  // null: the call has none, and the rules are those of the last split
  bool wanted = true;              // its `reorder` is not zero
  std::uint64_t arguments = 0;     // a hash of what else must be equal on all ranks
};

// A call that all ranks have begun.
struct Rearrangement {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  bool wanted = true;
  double deadline = 0;
  SplitOptions split;
  ReorderOptions reorder;
  Annotation annotation;  // of comm
  Communicator alone;     // the ranks of comm, with no messages but ours
};

// The rank this process shall have, and what is to be told of it.
struct Order {
  int vertex = 0;
  bool changed = false;  // for any rank
  ReorderRecord record;
};

// Collective over `comm`. `check` throws core::Error where this rank's arguments are wrong, and may set call.arguments.
// Throws AgreedError, MpiError.
Rearrangement begin(MPI_Comm comm, const ReorderCall& call, LocalStep check);

// Collective: where the calling process is; what is learnt stays with begun.comm. Returns what has failed on some rank,
// the same on all. Throws MpiError.
Failure locate(Rearrangement& begun, core::split::Chain& chain);

// Collective: finds out where the ranks are, and an order by the mode wanted. What fails leaves the order as it is.
// Throws MpiError.
Order find_order(Rearrangement& begun, const VertexEdges& own);

// Collective, the same for chains that are known: the part that needs no communicator of the program's. `input.comm`
// must have no other messages.
Order find_order(const ReorderInput& input, const ReorderOptions& options);

// An order in which nothing changes.
Order unchanged(int rank, const Text& reason);
Order unchanged(int rank, std::string_view reason);

// Collective: all processes in a new order, null where that is the old one.
Communicator arranged(const Rearrangement& begun, const Order& order);

// Collective: the processes that own the first vertices in a new order, null at the others. For topologies that leave
// processes out: in MPICH 5.0.2 the group of a grid or graph on some of a communicator's processes has all of them, so
// MPI never gets fewer vertices than processes.
Communicator arranged(const Rearrangement& begun, const Order& order, std::int64_t vertices);

// What a new communicator of the same processes is to know of them, and of how it came to be. It is made before the
// communicator: then nothing can fail on one rank alone any more.
std::unique_ptr<Annotation> description(const Rearrangement& begun, const ReorderRecord& record);

// Collective: the same on all ranks, or AgreedError on all.
std::unique_ptr<Annotation> describe_together(const Rearrangement& begun, const ReorderRecord& record);

// Hands it to the communicator, if this process is in it.
void annotate(MPI_Comm made, std::unique_ptr<Annotation> description);

}  // namespace ranktree::mpi
