#include "mpi/rearrange.h"

#include <mpi.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/split/chain.h"
#include "core/split/summary.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/location.h"
#include "mpi/reorder.h"
#include "mpi/reorder_options.h"
#include "mpi/split_options.h"

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

void keep(MPI_Comm comm, Annotation& annotation) {
  if (!annotation.changed) return;
  set_annotation(comm, annotation);
  annotation.changed = false;
}

std::uint64_t fingerprint(const Rearrangement& begun, const ReorderCall& call) {
  const std::uint64_t hash = mix(fingerprint(begun.split, {call.name, call.wanted ? 1 : 0}), call.arguments);
  return mix(hash, fingerprint(begun.reorder));
}

}  // namespace

Rearrangement begin(MPI_Comm comm, const ReorderCall& call) {
  Rearrangement begun;
  begun.comm = comm;
  begun.wanted = call.wanted;
  check(MPI_Comm_rank(comm, &begun.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &begun.size), "MPI_Comm_size");
  begun.annotation = get_annotation(comm);
  const Failure failure = attempt([&] {
    if (call.info != nullptr) {
      begun.split = read_split_options(*call.info);
      begun.reorder = read_reorder_options(*call.info);
    } else if (begun.annotation.options) {
      begun.split = *begun.annotation.options;
    }
    call.check();
  });
  say(begun.annotation, failure.text);
  keep(comm, begun.annotation);
  core::split::Summary own = core::split::summarize_absent();
  if (failure.error_class == MPI_SUCCESS) own.arguments = fingerprint(begun, call);
  agree_or_throw(comm, own, failure);
  if (begun.reorder.time_limit > 0) begun.deadline = MPI_Wtime() + static_cast<double>(begun.reorder.time_limit) / 1e3;
  check(MPI_Comm_split(comm, 0, 0, begun.alone.receive()), "MPI_Comm_split");
  return begun;
}

Order unchanged(int rank, const std::string& reason) { return {rank, false, {"identity", reason, {}, {}}}; }

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
  const Communicator node = learn_node(begun.comm, 0, begun.annotation);
  core::split::Chain chain;
  const Failure lost = share(begun.alone.get(), attempt([&] { chain = chain_here(begun.split, begun.annotation); }));
  keep(begun.comm, begun.annotation);
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

void annotate(MPI_Comm made, const Rearrangement& begun, const ReorderRecord& record) {
  if (made == MPI_COMM_NULL) return;
  Annotation annotation = begun.annotation;
  annotation.level.reset();
  annotation.message.clear();
  annotation.options = std::make_shared<const SplitOptions>(begun.split);
  annotation.reordering = std::make_shared<const ReorderRecord>(record);
  set_annotation(made, std::move(annotation));
}

}  // namespace ranktree::mpi
