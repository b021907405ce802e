#include "mpi/collect/variant.h"

#include <mpi.h>
#include <sched.h>

#include <climits>
#include <memory>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/execute/levels.h"
#include "mpi/collect/execute/messages.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/shared/shared_variant.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Collective;
using Side = Operation::Side;

// A negative count stays one, for the MPI to refuse.
int number(const Side& side) { return side.count < 0 ? -1 : static_cast<int>(side.count); }

// MPICH 4.0 does not look at the counts of reductions.
bool is_negative_reduction(const Operation& operation) {
  return operation.receive.count < 0 && reduces(operation) && operation.root != MPI_PROC_NULL;
}

bool fits(const Operation& operation) {
  return operation.send.count <= INT_MAX && operation.receive.count <= INT_MAX && !is_negative_reduction(operation);
}

int refuse(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) PMPI_Comm_call_errhandler(comm, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

int vector_call(const Operation& o) {
  const Side& s = o.send;
  const Side& r = o.receive;
  switch (o.collective) {
    case Collective::kGather:
      return PMPI_Gatherv(s.buffer, number(s), s.type, r.buffer, r.counts.data(), r.displacements.data(), r.type,
                          o.root, o.comm);
    case Collective::kScatter:
      return PMPI_Scatterv(s.buffer, s.counts.data(), s.displacements.data(), s.type, r.buffer, number(r), r.type,
                           o.root, o.comm);
    case Collective::kAllgather:
      return PMPI_Allgatherv(s.buffer, number(s), s.type, r.buffer, r.counts.data(), r.displacements.data(), r.type,
                             o.comm);
    case Collective::kReduceScatter:
      return PMPI_Reduce_scatter(s.buffer, r.buffer, r.counts.data(), r.type, o.op, o.comm);
    default:
      return MPI_ERR_INTERN;
  }
}

int plain_call(const Operation& o) {
  const Side& s = o.send;
  const Side& r = o.receive;
  switch (o.collective) {
    case Collective::kBroadcast:
      return PMPI_Bcast(r.buffer, number(r), r.type, o.root, o.comm);
    case Collective::kReduce:
      return PMPI_Reduce(s.buffer, r.buffer, number(r), r.type, o.op, o.root, o.comm);
    case Collective::kAllreduce:
      return PMPI_Allreduce(s.buffer, r.buffer, number(r), r.type, o.op, o.comm);
    case Collective::kBarrier:
      return PMPI_Barrier(o.comm);
    case Collective::kGather:
      return PMPI_Gather(s.buffer, number(s), s.type, r.buffer, number(r), r.type, o.root, o.comm);
    case Collective::kScatter:
      return PMPI_Scatter(s.buffer, number(s), s.type, r.buffer, number(r), r.type, o.root, o.comm);
    case Collective::kAllgather:
      return PMPI_Allgather(s.buffer, number(s), s.type, r.buffer, number(r), r.type, o.comm);
    case Collective::kReduceScatter:
      return PMPI_Reduce_scatter_block(s.buffer, r.buffer, number(r), r.type, o.op, o.comm);
    case Collective::kAlltoall:
      return PMPI_Alltoall(s.buffer, number(s), s.type, r.buffer, number(r), r.type, o.comm);
  }
  return MPI_ERR_INTERN;
}

int begin_vector(const Operation& o, MPI_Request* request) {
  const Side& s = o.send;
  const Side& r = o.receive;
  switch (o.collective) {
    case Collective::kGather:
      return PMPI_Igatherv(s.buffer, number(s), s.type, r.buffer, r.counts.data(), r.displacements.data(), r.type,
                           o.root, o.comm, request);
    case Collective::kScatter:
      return PMPI_Iscatterv(s.buffer, s.counts.data(), s.displacements.data(), s.type, r.buffer, number(r), r.type,
                            o.root, o.comm, request);
    case Collective::kAllgather:
      return PMPI_Iallgatherv(s.buffer, number(s), s.type, r.buffer, r.counts.data(), r.displacements.data(), r.type,
                              o.comm, request);
    case Collective::kReduceScatter:
      return PMPI_Ireduce_scatter(s.buffer, r.buffer, r.counts.data(), r.type, o.op, o.comm, request);
    default:
      return MPI_ERR_INTERN;
  }
}

int begin_plain(const Operation& o, MPI_Request* request) {
  const Side& s = o.send;
  const Side& r = o.receive;
  switch (o.collective) {
    case Collective::kBroadcast:
      return PMPI_Ibcast(r.buffer, number(r), r.type, o.root, o.comm, request);
    case Collective::kReduce:
      return PMPI_Ireduce(s.buffer, r.buffer, number(r), r.type, o.op, o.root, o.comm, request);
    case Collective::kAllreduce:
      return PMPI_Iallreduce(s.buffer, r.buffer, number(r), r.type, o.op, o.comm, request);
    case Collective::kBarrier:
      return PMPI_Ibarrier(o.comm, request);
    case Collective::kGather:
      return PMPI_Igather(s.buffer, number(s), s.type, r.buffer, number(r), r.type, o.root, o.comm, request);
    case Collective::kScatter:
      return PMPI_Iscatter(s.buffer, number(s), s.type, r.buffer, number(r), r.type, o.root, o.comm, request);
    case Collective::kAllgather:
      return PMPI_Iallgather(s.buffer, number(s), s.type, r.buffer, number(r), r.type, o.comm, request);
    case Collective::kReduceScatter:
      return PMPI_Ireduce_scatter_block(s.buffer, r.buffer, number(r), r.type, o.op, o.comm, request);
    case Collective::kAlltoall:
      return PMPI_Ialltoall(s.buffer, number(s), s.type, r.buffer, number(r), r.type, o.comm, request);
  }
  return MPI_ERR_INTERN;
}

// The MPI's request. Given up unfinished, it is left to the MPI.
class NativeRunning : public Running {
 public:
  explicit NativeRunning(const Operation& operation) {
    if (!fits(operation)) throw MpiError(refuse(operation.comm), "count: expected 0 to 2147483647");
    check(operation.vector ? begin_vector(operation, &request_) : begin_plain(operation, &request_),
          "a nonblocking collective");
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

const core::predict::Choice& native_choice() {
  static const core::predict::Choice only;
  return only;
}

int native(const Operation& operation) noexcept {
  if (!fits(operation)) return refuse(operation.comm);
  return operation.vector ? vector_call(operation) : plain_call(operation);
}

std::unique_ptr<Running> start_native(const Operation& operation) { return std::make_unique<NativeRunning>(operation); }

void finish(Running& running) {
  constexpr int kSpins = 64;
  for (int tries = 0; !running.progress(); ++tries) {
    drive_all();
    if (tries >= kSpins) sched_yield();
  }
}

using core::predict::Choice;
using core::predict::Way;

bool can_run(Context& context, const Operation& operation, const Choice& choice) {
  switch (choice.way) {
    case Way::kNative:
      return true;
    case Way::kShared:
      return can_share(context, operation, choice);
    case Way::kMessages:
      return can_message(context, operation, choice);
    case Way::kLevels:
      return can_level(context, operation, choice);
  }
  return false;
}

std::unique_ptr<Running> start(const std::shared_ptr<Context>& context, const Operation& operation,
                               const Choice& choice) {
  switch (choice.way) {
    case Way::kNative:
      return start_native(operation);
    case Way::kShared:
      return start_shared(context, operation, choice);
    case Way::kMessages:
      return start_messages(context, operation, choice);
    case Way::kLevels:
      return start_levels(context, operation, choice);
  }
  throw core::Error(core::Fault::kUnsupported, "a collective operation was begun in a way it does not have");
}

}  // namespace ranktree::mpi::collect
