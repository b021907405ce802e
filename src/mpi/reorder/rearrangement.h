// What all reordering calls share: arguments agreed on, an order found, a communicator in that order.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/exchange.h"
#include "mpi/handle.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/root.h"
#include "mpi/split/options.h"
#include "mpi/text.h"

namespace ranktree::mpi {

// A step of a call, run there and then. Refers to a function object that outlives it. Unlike std::function it allocates
// nothing: an allocation that fails on one rank, before the ranks synchronise, would leave the others waiting.
class LocalStep {
 public:
  template <typename Function>
  LocalStep(const Function& function) noexcept  // NOLINT(google-explicit-constructor): a lambda is passed as it is
      : function_(&function), call_([](const void* object) { (*static_cast<const Function*>(object))(); }) {}
  void operator()() const { call_(function_); }

 private:
  const void* function_;
  void (*call_)(const void*);
};

// Of the edges that one rank declares, or that all do. A rank without edges may pass either.
struct EdgeWeights {
  std::uint64_t given = 0;           // 1: edges have weights
  std::uint64_t not_given = 0;       // 1: MPI_UNWEIGHTED for edges
  std::uint64_t given_for_none = 0;  // 1: anything but MPI_UNWEIGHTED, and no edges
};

EdgeWeights edge_weights(bool weighted, bool any_edge);

// One call as its ranks must agree on it.
struct ReorderCall {
  std::string_view name;
  const MPI_Info* info = nullptr;  // null: the call has none, and the rules are those of the last split
  bool wanted = true;              // its `reorder` is not zero
  std::uint64_t arguments = 0;     // a hash of what else must be equal on all ranks
  double largest = 0;              // of this rank's weights
  EdgeWeights weights;
  bool at_root = false;  // one rank computes the order, whatever the mode
};

// A call that all ranks have begun. What can fail on one rank alone and is needed in any case has been done.
struct Rearrangement {
  explicit Rearrangement(MPI_Comm all);

  MPI_Comm comm;
  int rank = 0;
  int size = 1;
  bool wanted = true;
  double deadline = 0;    // 0: none
  double largest = 0;     // weight of all ranks
  bool weighted = false;  // the edges of all ranks
  SplitOptions split;
  ReorderOptions reorder;
  Annotation annotation;  // of comm
  Mailbox mailbox;        // of comm
  LocalSteps steps;       // what fails in them fails the call
  LocalSteps order;       // what fails in them leaves the order as it is
  int order_word = 0;     // merged, of what `order` had done when the call began
  RootBuffers buffers;
  std::unique_ptr<Annotation> learnt;     // memory for what comm is to know
  std::unique_ptr<Annotation> made;       // and the new communicator
  std::shared_ptr<ReorderRecord> record;  // of it
};

// The rank this process shall have, and how it was found.
struct Order {
  int vertex = 0;
  bool changed = false;  // for any rank
  ReorderRecord record;
};

// Collective over `comm`, one allreduce. `check` throws core::Error where this rank's arguments are wrong, and may set
// the fields of `call` about them. Throws AgreedError, MpiError.
Rearrangement begin(MPI_Comm comm, const ReorderCall& call, LocalStep check);

// An order in which nothing changes.
Order unchanged(int rank, const Text& reason);
Order unchanged(int rank, std::string_view reason);

// Collective: what must be known before an order is looked for. Throws AgreedError.
void prepare_order(Rearrangement& begun);

// Collective: where the calling process is; a step of begun.order. Throws MpiError.
void locate(Rearrangement& begun, core::split::Chain& chain);

// What has been learnt on all ranks stays with begun.comm. Throws MpiError.
void keep_learnt(Rearrangement& begun);

// Collective: an order as `find`, collective too, returns it: what fails leaves the order as it is. `find` throws
// AgreedError when a step of begun.order has failed on some rank. Throws MpiError.
template <typename Find>
Order find_order(Rearrangement& begun, const Find& find) {
  if (!begun.wanted) return unchanged(begun.rank, "the call's argument reorder is 0");
  try {
    prepare_order(begun);
    Order order = find();
    keep_learnt(begun);
    return order;
  } catch (const AgreedError& error) {
    return unchanged(begun.rank, error.what());
  }
}

// Collective, for `find`: locates, and finds an order of the graph by the mode wanted.
Order order_of_graph(Rearrangement& begun, OwnPart& own);

// Collective: all processes in a new order, null where that is the old one.
Communicator arranged(const Rearrangement& begun, const Order& order);

// Collective: the processes that own the first vertices in a new order, null at the others. For topologies that leave
// processes out: in MPICH 5.0.2 the group of a grid or graph on some of a communicator's processes has all of them, so
// MPI never gets fewer vertices than processes.
Communicator arranged(const Rearrangement& begun, const Order& order, std::int64_t vertices);

// What a new communicator of the same processes is to know of them, and of how it came to be. Allocates nothing.
std::unique_ptr<Annotation> description(Rearrangement& begun, const ReorderRecord& record);

// Passes it to the communicator, if this process is in it. Throws MpiError.
void annotate(MPI_Comm made, Rearrangement& begun, const ReorderRecord& record);

}  // namespace ranktree::mpi
