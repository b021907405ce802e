#include "mpi/collect/variant.h"

#include <mpi.h>

#include <climits>
#include <memory>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/execute/levels.h"
#include "mpi/collect/execute/messages.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/shared/shared_variant.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Choice;
using core::predict::Variant;
using core::schedule::Collective;
using Side = Operation::Side;

// A negative count stays one, for the MPI to refuse. One that does not fit is ignored by the MPI (fits()).
int number(const Side& side) {
  if (side.count < 0) return -1;
  return side.count > INT_MAX ? 0 : static_cast<int>(side.count);
}

// MPICH 4.0 does not look at the counts of reductions.
bool is_negative_reduction(const Operation& operation) {
  return operation.receive.count < 0 && reduces(operation.collective) && operation.root != MPI_PROC_NULL;
}

// A count that MPI ignores on this rank may be anything.
bool fits(const Operation& operation) {
  if (is_negative_reduction(operation)) return false;
  const bool sent = operation.send.count <= INT_MAX;
  const bool received = operation.receive.count <= INT_MAX;
  if (sent && received) return true;
  int inter = 1;
  int rank = 0;
  if (operation.comm == MPI_COMM_NULL || PMPI_Comm_test_inter(operation.comm, &inter) != MPI_SUCCESS || inter != 0 ||
      PMPI_Comm_rank(operation.comm, &rank) != MPI_SUCCESS) {
    return false;
  }
  return (sent || !sends(operation, rank)) && (received || !receives(operation, rank));
}

int refuse(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) PMPI_Comm_call_errhandler(comm, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

// The MPI's call, or its nonblocking one where there is a place for a request.
template <typename Blocking, typename Nonblocking, typename... Arguments>
int either(MPI_Request* request, Blocking blocking, Nonblocking nonblocking, Arguments... arguments) {
  return request == nullptr ? blocking(arguments...) : nonblocking(arguments..., request);
}

int call_with_lists(const Operation& o, MPI_Request* request) {
  const Side& s = o.send;
  const Side& r = o.receive;
  switch (o.collective) {
    case Collective::kGather:
      return either(request, PMPI_Gatherv, PMPI_Igatherv, s.buffer, number(s), s.type, r.buffer, r.counts.data(),
                    r.displacements.data(), r.type, o.root, o.comm);
    case Collective::kScatter:
      return either(request, PMPI_Scatterv, PMPI_Iscatterv, s.buffer, s.counts.data(), s.displacements.data(), s.type,
                    r.buffer, number(r), r.type, o.root, o.comm);
    case Collective::kAllgather:
      return either(request, PMPI_Allgatherv, PMPI_Iallgatherv, s.buffer, number(s), s.type, r.buffer, r.counts.data(),
                    r.displacements.data(), r.type, o.comm);
    case Collective::kReduceScatter:
      return either(request, PMPI_Reduce_scatter, PMPI_Ireduce_scatter, s.buffer, r.buffer, r.counts.data(), r.type,
                    o.op, o.comm);
    case Collective::kAlltoall:
      return either(request, PMPI_Alltoallv, PMPI_Ialltoallv, s.buffer, s.counts.data(), s.displacements.data(), s.type,
                    r.buffer, r.counts.data(), r.displacements.data(), r.type, o.comm);
    default:
      return MPI_ERR_INTERN;
  }
}

int call_plain(const Operation& o, MPI_Request* request) {
  const Side& s = o.send;
  const Side& r = o.receive;
  switch (o.collective) {
    case Collective::kBroadcast:
      return either(request, PMPI_Bcast, PMPI_Ibcast, r.buffer, number(r), r.type, o.root, o.comm);
    case Collective::kReduce:
      return either(request, PMPI_Reduce, PMPI_Ireduce, s.buffer, r.buffer, number(r), r.type, o.op, o.root, o.comm);
    case Collective::kAllreduce:
      return either(request, PMPI_Allreduce, PMPI_Iallreduce, s.buffer, r.buffer, number(r), r.type, o.op, o.comm);
    case Collective::kBarrier:
      return either(request, PMPI_Barrier, PMPI_Ibarrier, o.comm);
    case Collective::kGather:
      return either(request, PMPI_Gather, PMPI_Igather, s.buffer, number(s), s.type, r.buffer, number(r), r.type,
                    o.root, o.comm);
    case Collective::kScatter:
      return either(request, PMPI_Scatter, PMPI_Iscatter, s.buffer, number(s), s.type, r.buffer, number(r), r.type,
                    o.root, o.comm);
    case Collective::kAllgather:
      return either(request, PMPI_Allgather, PMPI_Iallgather, s.buffer, number(s), s.type, r.buffer, number(r), r.type,
                    o.comm);
    case Collective::kReduceScatter:
      return either(request, PMPI_Reduce_scatter_block, PMPI_Ireduce_scatter_block, s.buffer, r.buffer, number(r),
                    r.type, o.op, o.comm);
    case Collective::kAlltoall:
      return either(request, PMPI_Alltoall, PMPI_Ialltoall, s.buffer, number(s), s.type, r.buffer, number(r), r.type,
                    o.comm);
  }
  return MPI_ERR_INTERN;
}

int call_mpi(const Operation& operation, MPI_Request* request) {
  return operation.vector ? call_with_lists(operation, request) : call_plain(operation, request);
}

// The MPI's request. If this is destroyed unfinished, the request stays with the MPI.
class NativeRunning : public Running {
 public:
  explicit NativeRunning(const Operation& operation) {
    if (!fits(operation)) throw MpiError(refuse(operation.comm), "count: expected 0 to 2147483647");
    check(call_mpi(operation, &request_), "a nonblocking collective");
  }
  bool progress() override {
    int done = 0;
    check(PMPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

const Choice& native_choice() {
  static const Choice only;
  return only;
}

int native(const Operation& operation) noexcept {
  return fits(operation) ? call_mpi(operation, nullptr) : refuse(operation.comm);
}

std::unique_ptr<Running> start_native(const Operation& operation) { return std::make_unique<NativeRunning>(operation); }

bool can_run(Context& context, const Operation& operation, const Choice& choice) {
  switch (choice.variant) {
    case Variant::kNative:
      return true;
    case Variant::kShared:
      return can_share(context, operation, choice);
    case Variant::kMessages:
      return can_message(context, operation, choice);
    case Variant::kLevels:
      return can_level(context, operation, choice);
  }
  return false;
}

std::unique_ptr<Running> start(const std::shared_ptr<Context>& context, const Operation& operation,
                               const Choice& choice) {
  switch (choice.variant) {
    case Variant::kNative:
      return start_native(operation);
    case Variant::kShared:
      return start_shared(context, operation, choice);
    case Variant::kMessages:
      return start_messages(context, operation, choice);
    case Variant::kLevels:
      return start_levels(context, operation, choice);
  }
  throw core::Error(core::Fault::kUnsupported, "a collective operation was begun in a way it does not have");
}

void finish(Context& context, const Operation& operation, const Choice& choice) {
  const Blocking blocking(context.process().in_flight);
  finish(*start(context.shared_from_this(), operation, choice), context.process().in_flight);
}

Choice by_messages(core::schedule::Algorithm algorithm) {
  return {.variant = Variant::kMessages, .composition = {.algorithms = {algorithm}}, .groups = 1};
}

}  // namespace ranktree::mpi::collect
