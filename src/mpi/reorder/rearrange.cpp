#include "mpi/reorder/rearrange.h"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "core/split/chain.h"
#include "core/split/summary.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/local_step.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/options.h"
#include "mpi/split/location.h"
#include "mpi/split/options.h"
#include "mpi/text.h"

namespace ranktree::mpi {
namespace {

// Above so many ranks one alone would have too much to hold and to do.
constexpr int kMostCentral = 4096;

ReorderMode mode_for(ReorderMode wanted, int size) {
  if (wanted != ReorderMode::kAuto) return wanted;
  return size <= kMostCentral ? ReorderMode::kCentral : ReorderMode::kDistributed;
}

Reordering reorder_by(ReorderMode mode, const ReorderInput& input, const ReorderOptions& options) {
  switch (mode) {
    case ReorderMode::kNode:
      return reorder_in_nodes(input, options);
    case ReorderMode::kDistributed:
      return reorder_distributed(input, options);
    case ReorderMode::kAuto:
    case ReorderMode::kCentral:
      break;
  }
  return reorder_central(input, options);
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

}  // namespace

Rearrangement begin(MPI_Comm comm, const ReorderCall& call, LocalStep check_arguments) {
  Rearrangement begun;
  begun.comm = comm;
  begun.wanted = call.wanted;
  check(MPI_Comm_rank(comm, &begun.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &begun.size), "MPI_Comm_size");
  core::split::Summary own = core::split::summarize_absent();
  const Failure failure = attempt([&] {
    begun.annotation = get_annotation(comm);
    if (call.info != nullptr) {
      begun.split = read_split_options(*call.info);
      begun.reorder = read_reorder_options(*call.info);
    } else if (begun.annotation.options) {
      begun.split = *begun.annotation.options;
    }
    check_arguments();
    own.arguments = fingerprint(begun, call);
  });
  agree_or_throw(comm, own, failure);
  forget_message(comm, begun.annotation);
  if (begun.reorder.time_limit > 0) begun.deadline = MPI_Wtime() + static_cast<double>(begun.reorder.time_limit) / 1e3;
  check(MPI_Comm_split(comm, 0, 0, begun.alone.receive()), "MPI_Comm_split");
  return begun;
}

// Ranks may disagree on whether the node is known, where one had no memory for a copy of an attribute; MPI is asked by
// all or by none. What is learnt is kept by all or by none as well, for the splits rely on that.
Failure locate(Rearrangement& begun, core::split::Chain& chain) {
  const int knows = begun.annotation.node ? 1 : 0;
  int all_know = 0;
  check(MPI_Allreduce(&knows, &all_know, 1, MPI_INT, MPI_MIN, begun.alone.get()), "MPI_Allreduce");
  if (all_know == 0) begun.annotation.node.reset();
  const Communicator node = learn_node(begun.comm, 0, begun.annotation);
  std::unique_ptr<Annotation> learnt;
  const Failure failure = share(begun.alone.get(), attempt([&] {
                                  chain = chain_here(begun.split, begun.annotation);
                                  if (begun.annotation.changed) learnt = std::make_unique<Annotation>(begun.annotation);
                                }));
  if (failure.error_class != MPI_SUCCESS) return failure;
  if (learnt) set_annotation(begun.comm, std::move(learnt));
  begun.annotation.changed = false;
  return failure;
}

Order unchanged(int rank, const Text& reason) { return {rank, false, {"identity", reason, {}, {}}}; }
Order unchanged(int rank, std::string_view reason) { return unchanged(rank, Text(reason)); }

// The reasons of errors may differ over the ranks; what is told may not.
Order find_order(const ReorderInput& input, const ReorderOptions& options) {
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(input.comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(input.comm, &size), "MPI_Comm_size");
  const ReorderMode mode = mode_for(options.mode, size);
  Reordering found;
  const auto failed = [&](const Failure& own) { return unchanged(rank, share(input.comm, own).text); };
  try {
    found = reorder_by(mode, input, options);
  } catch (const MpiError&) {
    throw;
  } catch (...) {
    return failed(current_failure());
  }
  Order order = unchanged(rank, found.reason);
  order.record.before = found.before;
  order.record.after = found.after;
  order.changed = found.reason.empty();
  if (!order.changed) return order;
  order.vertex = found.vertex;
  order.record.mode = mode_name(mode);
  return order;
}

Order find_order(Rearrangement& begun, const VertexEdges& own) {
  if (!begun.wanted) return unchanged(begun.rank, "the call's argument reorder is 0");
  core::split::Chain chain;
  const Failure lost = locate(begun, chain);
  if (lost.error_class != MPI_SUCCESS) return unchanged(begun.rank, lost.text);
  return find_order(ReorderInput{begun.alone.get(), &own, &chain, begun.deadline}, begun.reorder);
}

Communicator arranged(const Rearrangement& begun, const Order& order) {
  Communicator made;
  if (order.changed) check(MPI_Comm_split(begun.comm, 0, order.vertex, made.receive()), "MPI_Comm_split");
  return made;
}

Communicator arranged(const Rearrangement& begun, const Order& order, std::int64_t vertices) {
  Communicator made;
  const int color = order.vertex < vertices ? 0 : MPI_UNDEFINED;
  check(MPI_Comm_split(begun.comm, color, order.vertex, made.receive()), "MPI_Comm_split");
  return made;
}

std::unique_ptr<Annotation> description(const Rearrangement& begun, const ReorderRecord& record) {
  auto annotation = std::make_unique<Annotation>(begun.annotation);
  annotation->level.reset();
  annotation->message.clear();
  annotation->options = std::make_shared<const SplitOptions>(begun.split);
  annotation->reordering = std::make_shared<const ReorderRecord>(record);
  return annotation;
}

std::unique_ptr<Annotation> describe_together(const Rearrangement& begun, const ReorderRecord& record) {
  std::unique_ptr<Annotation> made;
  attempt_together(begun.alone.get(), [&] { made = description(begun, record); });
  return made;
}

void annotate(MPI_Comm made, std::unique_ptr<Annotation> description) {
  if (made != MPI_COMM_NULL) set_annotation(made, std::move(description));
}

}  // namespace ranktree::mpi
