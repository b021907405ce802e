// What all reordering calls share: arguments agreed on, an order found for a graph, a communicator in that order.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string_view>

#include "mpi/attribute.h"
#include "mpi/handle.h"
#include "mpi/reorder.h"
#include "mpi/split_options.h"

namespace ranktree::mpi {

// One call as its ranks must agree on it.
struct ReorderCall {
  std::string_view name;
  const MPI_Info* info = nullptr;  // null: the call has none, and the rules are those of the last split
  bool wanted = true;              // its `reorder` is not zero
  std::uint64_t arguments = 0;     // a hash of what else must be equal on all ranks
  std::function<void()> check;     // throws core::Error where this rank's arguments are wrong
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

// Collective over `comm`. Throws AgreedError, MpiError.
Rearrangement begin(MPI_Comm comm, const ReorderCall& call);

// Collective: finds out where the ranks are, and an order by the mode wanted. What fails leaves the order as it is.
// Throws MpiError.
Order find_order(Rearrangement& begun, const VertexEdges& own);

// Collective, the same for chains that are known: the part that needs no communicator of the program's. `input.comm`
// must have no other messages.
Order find_order(const ReorderInput& input, const ReorderOptions& options);

// An order in which nothing changes.
Order unchanged(int rank, const std::string& reason);

// Collective: all processes in a new order, null where that is the old one.
Communicator arranged(const Rearrangement& begun, const Order& order);

// Collective: the processes that own the first vertices in a new order, null at the others. For topologies that leave
// processes out: in MPICH 5.0.2 the group of a grid or graph on some of a communicator's processes has all of them, so
// MPI never gets fewer vertices than processes.
Communicator arranged(const Rearrangement& begun, const Order& order, std::int64_t vertices);

// Tells a new communicator of the same processes what is known of them, and how it came to be.
void annotate(MPI_Comm made, const Rearrangement& begun, const ReorderRecord& record);

}  // namespace ranktree::mpi
