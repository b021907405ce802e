#include "mpi/collect/select/reproducible.h"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/thread_state.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Choice;
using core::schedule::Algorithm;
using core::schedule::Collective;

constexpr std::int64_t kShort = 4096;  // bytes: below, whole vectors in half as many messages

}  // namespace

void set_reproducible(MPI_Comm comm, bool flag) {
  const Entered entered;
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  agree_driving(comm, LocalSteps(comm));
  const int own = flag ? 1 : 0;
  std::array<int, 2> most = {own, 1 - own};
  check(PMPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  if (most[0] + most[1] != 1) throw AgreedError(MPI_ERR_ARG, "flag: expected the same on all ranks");
  if (size == 1) return;
  Context& context = *Context::of(comm);
  context.set_reproducible(flag);
  if (flag && context.has_chooser()) look_at_reductions(context.table());
}

const Choice* reproducible_choice(Context& context, const Operation& operation) {
  static const Choice doubling = by_messages(Algorithm::kRecursiveDoubling);
  static const Choice halving = by_messages(Algorithm::kRabenseifner);
  const bool few = operation.collective == Collective::kAllreduce &&
                   bytes_of(operation.receive.count, operation.receive.type, thread_state().types) <= kShort;
  const Choice& choice = few ? doubling : halving;
  return can_run(context, operation, choice) ? &choice : &native_choice();
}

void look_at_reductions(CallTable& table) {
  for (const Collective collective : {Collective::kReduce, Collective::kAllreduce, Collective::kReduceScatter}) {
    for (std::size_t kind = 0; kind < kKinds.at(static_cast<std::size_t>(collective)); ++kind) {
      for (std::size_t size = 1; size < kSizes; ++size) {
        const std::size_t index = kind_index(collective, kind, size);
        table.native.at(index) = 0;
        if (const std::size_t at = table.tuned.at(index)) table.repeats[at - 1].left = 0;
      }
    }
  }
}

Operation in_rank_order(const Operation& operation) {
  Operation ordered = operation;
  ordered.in_rank_order = true;
  return ordered;
}

}  // namespace ranktree::mpi::collect
