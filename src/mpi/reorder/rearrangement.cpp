#include "mpi/reorder/rearrangement.h"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "core/objective/graph_order.h"
#include "core/objective/model.h"
#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/options.h"
#include "mpi/reorder/root.h"
#include "mpi/split/location.h"
#include "mpi/split/options.h"
#include "mpi/text.h"

namespace ranktree::mpi {
namespace {

// Above so many ranks one alone would have too much to hold and to do.
constexpr int kMostCentral = 4096;

ReorderMode mode_for(const ReorderOptions& options, int size) {
  if (options.mode != ReorderMode::kAuto) return options.mode;
  if (counts_seconds(options.objective) || options.algorithm != core::objective::Algorithm::kEngine) {
    return ReorderMode::kCentral;
  }
  return size <= kMostCentral ? ReorderMode::kCentral : ReorderMode::kDistributed;
}

Reordering reorder_by(ReorderMode mode, const Search& search, const OwnPart& own, const ReorderOptions& options) {
  switch (mode) {
    case ReorderMode::kNode:
      return reorder_in_nodes(search, own, options);
    case ReorderMode::kDistributed:
      return reorder_distributed(search, own, options);
    case ReorderMode::kAuto:
    case ReorderMode::kCentral:
      break;
  }
  return reorder_central(search, own, options);
}

// The last error is over. What cannot be written stays.
void forget_message(MPI_Comm comm, Annotation& annotation) {
  if (annotation.message.empty()) return;
  annotation.message.clear();
  attempt([&] { set_annotation(comm, annotation); });
}

std::uint64_t fingerprint(const Rearrangement& begun, const ReorderCall& call) {
  const std::uint64_t hash = mix(fingerprint(begun.split, {call.name, call.wanted ? 1 : 0}), call.arguments);
  return mix(hash, fingerprint(begun.reorder));
}

void read_options(Rearrangement& begun, const MPI_Info* info) {
  if (info != nullptr) {
    begun.split = read_split_options(*info);
    begun.reorder = read_reorder_options(*info);
  } else if (begun.annotation.options) {
    begun.split = *begun.annotation.options;
  }
}

// What the ranks agree on when a call begins, merged by MPI_MAX.
struct Opening {
  std::uint64_t word = 0;
  std::uint64_t order_word = 0;
  std::uint64_t arguments = 0;
  std::uint64_t complement = 0;    // of `arguments`: the largest of both show whether all are equal
  std::uint64_t unknown_node = 0;  // 1 where the annotation does not have this rank's node
  std::uint64_t largest = 0;       // the bits of a double that is not negative have its order
  EdgeWeights weights;
};

Opening merged(MPI_Comm comm, const Opening& own) {
  constexpr int kCount = sizeof(Opening) / sizeof(std::uint64_t);
  Opening all;
  // NOLINTNEXTLINE(mpi-type-mismatch): the check does not know the types of fixed length
  check(PMPI_Allreduce(&own, &all, kCount, MPI_UINT64_T, MPI_MAX, comm), "MPI_Allreduce");
  return all;
}

// The ranks that are wrong get their own reason where the class is that of all.
void require_success(const LocalSteps& steps, int word) {
  if (word == 0) return;
  const Failure failure = steps.failure_of(word);
  throw AgreedError(steps.failure().error_class == failure.error_class ? steps.failure() : failure);
}

}  // namespace

Rearrangement::Rearrangement(MPI_Comm all) : comm(all), mailbox(all), steps(all), order(all) {
  check(PMPI_Comm_rank(all, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(all, &size), "MPI_Comm_size");
}

EdgeWeights edge_weights(bool weighted, bool any_edge) {
  return {.given = weighted && any_edge ? 1U : 0U,
          .not_given = !weighted && any_edge ? 1U : 0U,
          .given_for_none = weighted && !any_edge ? 1U : 0U};
}

// Ranks may disagree on whether the node is known, where one had no memory for a copy of an attribute; all of them
// query MPI, or none.
Rearrangement begin(MPI_Comm comm, const ReorderCall& call, LocalStep check_arguments) {
  Rearrangement begun(comm);
  begun.wanted = call.wanted;
  Opening own;
  begun.steps.run([&] {
    begun.annotation = get_annotation(comm);
    read_options(begun, call.info);
    check_arguments();
    begun.made = std::make_unique<Annotation>();
    begun.made->options = std::make_shared<const SplitOptions>(begun.split);
    begun.record = std::make_shared<ReorderRecord>();
    own.arguments = fingerprint(begun, call);
    own.largest = std::bit_cast<std::uint64_t>(call.largest);
    own.weights = call.weights;
  });
  begun.order.run([&] {
    begun.learnt = std::make_unique<Annotation>();
    const bool by_root = call.at_root || mode_for(begun.reorder, begun.size) != ReorderMode::kDistributed;
    if (begun.wanted && by_root && begun.rank == kRoot) begun.buffers = RootBuffers(begun.size);
  });
  own.complement = ~own.arguments;
  own.word = static_cast<std::uint64_t>(begun.steps.word());
  own.order_word = static_cast<std::uint64_t>(begun.order.word());
  own.unknown_node = begun.annotation.node ? 0 : 1;
  const Opening all = merged(comm, own);
  require_success(begun.steps, static_cast<int>(all.word));
  if (all.arguments != ~all.complement) throw AgreedError(MPI_ERR_ARG, "expected the same arguments on all ranks");
  if (all.weights.given != 0 && all.weights.not_given != 0) {
    throw AgreedError(MPI_ERR_ARG, "expected the same arguments on all ranks: weights for all edges, or for none");
  }
  begun.weighted =
      (all.weights.not_given != 0 ? all.weights.given : all.weights.given | all.weights.given_for_none) != 0;
  begun.order_word = static_cast<int>(all.order_word);
  begun.largest = std::bit_cast<double>(all.largest);
  if (all.unknown_node != 0) begun.annotation.node.reset();
  forget_message(comm, begun.annotation);
  if (begun.reorder.time_limit > 0) begun.deadline = PMPI_Wtime() + static_cast<double>(begun.reorder.time_limit) / 1e3;
  return begun;
}

Order unchanged(int rank, const Text& reason) { return {rank, false, {"identity", reason, {}, {}}}; }
Order unchanged(int rank, std::string_view reason) { return unchanged(rank, Text(reason)); }

void prepare_order(Rearrangement& begun) {
  begun.order.require(begun.order_word);
  begun.order.fail(begun.steps.failure());
}

void locate(Rearrangement& begun, core::split::Chain& chain) {
  const Communicator node = learn_node(begun.comm, 0, begun.annotation);
  begun.order.run([&] { chain = chain_here(begun.split, begun.annotation); });
}

// By all ranks or by none, for the splits rely on that. Nothing is allocated: the message is empty.
void keep_learnt(Rearrangement& begun) {
  if (!begun.annotation.changed) return;
  *begun.learnt = begun.annotation;
  set_annotation(begun.comm, std::move(begun.learnt));
  begun.annotation.changed = false;
}

Order order_of_graph(Rearrangement& begun, OwnPart& own) {
  if (begun.reorder.objective == core::objective::Objective::kMessages) {
    std::fill(own.edges.weights.begin(), own.edges.weights.end(), 1.0);
  }
  locate(begun, own.chain);
  const Search search{begun.comm, begun.mailbox, begun.order, begun.buffers, begun.deadline};
  const ReorderMode mode = mode_for(begun.reorder, begun.size);
  const Reordering found = reorder_by(mode, search, own, begun.reorder);
  Order order = unchanged(begun.rank, found.reason);
  order.record.before = found.before;
  order.record.after = found.after;
  order.changed = found.reason.empty();
  if (!order.changed) return order;
  order.vertex = found.vertex;
  order.record.mode = mode_name(mode);
  return order;
}

Communicator arranged(const Rearrangement& begun, const Order& order) {
  Communicator made;
  if (order.changed) check(PMPI_Comm_split(begun.comm, 0, order.vertex, made.receive()), "MPI_Comm_split");
  return made;
}

Communicator arranged(const Rearrangement& begun, const Order& order, std::int64_t vertices) {
  Communicator made;
  const int color = order.vertex < vertices ? 0 : MPI_UNDEFINED;
  check(PMPI_Comm_split(begun.comm, color, order.vertex, made.receive()), "MPI_Comm_split");
  return made;
}

std::unique_ptr<Annotation> description(Rearrangement& begun, const ReorderRecord& record) {
  *begun.record = record;
  begun.made->node = begun.annotation.node;
  begun.made->network = begun.annotation.network;
  begun.made->traffic = begun.annotation.traffic;
  begun.made->reordering = begun.record;
  return std::move(begun.made);
}

void annotate(MPI_Comm made, Rearrangement& begun, const ReorderRecord& record) {
  if (made != MPI_COMM_NULL) set_annotation(made, description(begun, record));
}

}  // namespace ranktree::mpi
